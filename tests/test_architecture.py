"""What a user of the package pays for importing it, and what it does without being asked."""

import json
import subprocess
import sys

import pytest

import driftline


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_every_public_name_is_there():
    assert all(getattr(driftline, name).__module__.startswith("driftline.") for name in driftline.__all__)
    assert set(driftline.__all__) <= set(dir(driftline))


def test_a_name_that_is_not_there_is_an_attribute_error():
    assert not hasattr(driftline, "AMRX")


def test_importing_the_package_imports_nothing_heavy():
    loaded = run("import sys, driftline; print(*sys.modules)")
    assert not {"sklearn", "scipy", "numba", "numpy"} & set(loaded)


IMPORTS = """
import json, sys
from numba.core.dispatcher import Dispatcher

def loaded():
    return sorted({name.partition(".")[0] for name in sys.modules})

import driftline.streams
seen = {"streams": loaded()}
from driftline import AMRC
import driftline.ensemble
seen["estimator"] = loaded()
kernels = {f for m in list(sys.modules.values()) if m.__name__.startswith("driftline")
           for f in vars(m).values() if isinstance(f, Dispatcher)}
seen["kernels"] = len(kernels), sum(len(kernel.signatures) for kernel in kernels)
from driftline.fleet import AMRCFleet
AMRCFleet(2, ["a", "b"])
import driftline.report
import driftline.adapters, driftline.registry as registry
[registry.describe(name).missing for name in registry.names()]
seen["all"] = loaded()
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def seen():
    """Return what a process has imported after each of some imports, and how many kernels it has, compiled or not."""
    return json.loads(" ".join(run(IMPORTS)))


def test_importing_streams_imports_nothing_that_downloads(seen):
    assert not {"pooch", "requests"} & set(seen["streams"])


def test_importing_the_estimator_imports_no_optional_dependency(seen):
    assert not {"typer", "rich", "polars", "hypothesis", "pytest"} & set(seen["estimator"])


def test_nothing_is_compiled_at_import(seen):
    n_kernels, n_compiled = seen["kernels"]
    assert n_kernels > 5
    assert n_compiled == 0


def test_other_libraries_are_imported_only_where_they_are_used(seen):
    """CuPy by fleets on a GPU, Jinja2 by reports that are made, and River and CapyMOA by their classifiers."""
    assert not {"cupy", "jinja2", "river", "capymoa", "jpype"} & set(seen["all"])
