# Every target sets up what it needs: a virtual environment in .venv, packages as pinned in constraints.txt.
# On Windows, run make from a shell that has the POSIX tools (sh, touch, rm), such as Git Bash.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
CONSTRAINTS ?= constraints.txt
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS)
PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

.PHONY: help demo test test-all test-spark fuzz check bench docs linkcheck dist clean

help: ## Show what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/created:
	$(PYTHON) -c 'import sys; sys.exit("driftline needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; run make PYTHON=/path/to/python3" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/demo .venv/test .venv/spark .venv/check .venv/bench .venv/docs: .venv/%: .venv/created pyproject.toml $(CONSTRAINTS)
	@echo "Installing what 'make $*' needs into .venv (once, about a minute)"
	$(INSTALL) --editable '.[$*]'
	@touch $@

demo: .venv/demo ## Follow a drifting stream and compare errors with bounds.
	$(BIN)/driftline demo

test: .venv/test ## Run the tests that are not marked slow, in up to four processes.
	$(PYTEST) -m "not slow and not spark"

test-all: .venv/test ## Run all tests but those of Spark.
	$(PYTEST) --hypothesis-profile thorough -m "not spark"

# On their own and in one process: Spark is 450 MB to install, takes half a minute to start, and 2 GB of memory.
test-spark: .venv/test .venv/spark ## Run the tests on Spark, which needs Java 17 or newer (about 5 minutes).
	$(BIN)/python -m pytest tests/adapters/test_spark.py -m spark

fuzz: .venv/test ## Load 100,000 altered model files in a child process that is watched (about 25 minutes).
	cd tests && ../$(BIN)/python -m helpers.fuzz_models --files 100000

check: .venv/check ## Lint, types, docstrings and import contract.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/numpydoc lint $(addprefix src/driftline/,ensemble/estimator.py paper/estimator.py core/*_classifier.py core/bounds.py guarantees/alarm.py guarantees/error_interval.py guarantees/error_intervals.py guarantees/guarded.py guarantees/figures.py guarantees/guaranteed_classifier.py fleet/fleet.py fleet/predictions.py adapters/river/guarded.py streams/*.py streams/*/__init__.py streams/files/stream.py streams/files/npz.py streams/catalogue/datasets.py streams/catalogue/loading.py streams/synthetic/*.py evaluation/prequential.py evaluation/result.py evaluation/tuning.py registry.py adapters/river/amrc.py adapters/spark/query.py report/analysis.py report/error_figure.py report/page.py report/summary_text.py checks/suite.py)

bench: .venv/bench ## Measure speed and memory, as ratios against references in the same run.
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_default.py
	$(BIN)/python benchmarks/bench_evaluation.py
	$(BIN)/python benchmarks/bench_baselines.py
	$(BIN)/python benchmarks/bench_river.py
	$(BIN)/python benchmarks/bench_fleet.py

docs: .venv/docs ## Build the documentation; a warning or a broken link within it is an error.
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q docs docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html"

linkcheck: .venv/docs ## Try the links from the documentation to other sites, which needs the network.
	$(BIN)/python -m sphinx -b linkcheck -q docs docs/_build/linkcheck

dist: .venv/test ## Test the packages, then build them into dist: the source archive and the wheel.
	$(BIN)/python -m pytest tests/test_wheel.py
	rm -rf dist
	$(BIN)/python -m build --no-isolation

clean: ## Remove what was made.
	rm -rf .venv dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
