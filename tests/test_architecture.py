"""What a user of the package pays for importing it, and what it does without being asked."""

import subprocess
import sys

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


def test_importing_the_estimator_imports_no_optional_dependency():
    loaded = run("import sys; from driftline import AMRC; import driftline.streams; print(*sys.modules)")
    assert not {"typer", "rich", "polars", "hypothesis", "pytest"} & set(loaded)


def test_nothing_is_compiled_at_import():
    code = """
import driftline.ensemble, driftline.streams, sys
from numba.core.dispatcher import Dispatcher
kernels = {f for m in list(sys.modules.values()) if m.__name__.startswith("driftline")
           for f in vars(m).values() if isinstance(f, Dispatcher)}
print(len(kernels), sum(len(kernel.signatures) for kernel in kernels))
"""
    n_kernels, n_compiled = map(int, run(code))
    assert n_kernels > 5
    assert n_compiled == 0


def test_other_libraries_are_imported_only_where_their_classifiers_are_made():
    code = """
import sys, driftline.adapters, driftline.registry as registry
[registry.describe(name).missing for name in registry.names()]
print(*sys.modules)
"""
    assert not {"river", "capymoa", "jpype"} & set(run(code))
