"""Compiled kernels: when they are compiled anew, and with which numba."""

import ast
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import driftline
from driftline._jit import kernel

SOURCES = Path(driftline.__file__).parent
OUTER = """
import numpy as np
from driftline._jit import kernel
from driftline.kernels.rows import row_value
from driftline.kernels.vectors import norm

@kernel
def twice_the_norm(A):
    return 2.0 * norm(A, 0)

if __name__ == "__main__":
    import outer
    row = np.ones((1, 4))
    value = row_value(row, np.ones((1, 1), np.bool_), np.ones(1, np.int64), 0, row)
    twice = outer.twice_the_norm(row)
    hits = [sum(each.stats.cache_hits.values()) for each in (row_value, outer.twice_the_norm)]
    print(value, twice, *hits)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, to be edited, and beside it a module with a kernel that calls those of the package."""
    shutil.copytree(SOURCES, tmp_path / "driftline", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "outer.py").write_text(OUTER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path / "driftline"


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("cache", ["beside the sources", pytest.param("NUMBA_CACHE_DIR", marks=pytest.mark.slow)])
def test_kernels_are_compiled_anew_if_a_kernel_that_they_call_was_edited(package, cache, monkeypatch):
    if cache == "NUMBA_CACHE_DIR":
        monkeypatch.setenv(cache, str(package.parent / "cache"))
    call, vectors = package.parent / "outer.py", package / "kernels" / "vectors.py"
    assert run(call) == ["3.0", "4.0", "0", "0"]
    text = vectors.read_text()
    vectors.write_text(text.replace("return sum_of_products(A, i, B, k)", "return 4.0 * sum_of_products(A, i, B, k)"))
    assert run(call) == ["15.0", "8.0", "0", "0"]
    assert run(call) == ["15.0", "8.0", "1", "1"], "what was not edited is not compiled"
    assert (package.parent / "cache").exists() == (cache == "NUMBA_CACHE_DIR")


def imported_names(tree, module):
    """Return the names that a module imports from parts of the package that the digest of its folder leaves out."""
    covered = ("driftline._jit", "driftline.kernels", module.rpartition(".")[0])
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module is not None]
    outside = [node for node in imports if node.module.startswith("driftline") and not node.module.startswith(covered)]
    return {alias.asname or alias.name for node in outside for alias in node.names}


def names_used(kernel):
    """Return the names in the body of a function, without its annotations."""
    annotations = {
        id(part) for node in ast.walk(kernel) if isinstance(node, ast.AnnAssign) for part in ast.walk(node.annotation)
    }
    parts = [part for statement in kernel.body for part in ast.walk(statement) if id(part) not in annotations]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def test_kernels_use_only_sources_that_the_digest_of_their_folder_covers():
    n_kernels = 0
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text())
        module = ".".join(("driftline", *path.relative_to(SOURCES).with_suffix("").parts))
        outside = imported_names(tree, module)
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            if any(
                isinstance(decorator, ast.Name) and decorator.id.endswith("kernel")
                for decorator in function.decorator_list
            ):
                n_kernels += 1
                assert not names_used(function) & outside, f"{function.name} in {module}"
    assert n_kernels > 50


def test_with_a_numba_that_caches_in_another_way_nothing_is_cached(monkeypatch):
    monkeypatch.delattr("numba.core.caching.IndexDataCacheFile")
    with pytest.warns(RuntimeWarning, match=r"compiled anew in every process; install a numba that"):
        increment = kernel(lambda x: x + 1)
    assert increment(2) == 3


def cubed(x):
    return x**3


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    """The folder of the cache, as NUMBA_CACHE_DIR would set it, and a process that has not warned yet."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("driftline._jit.unsaved", [])
    return tmp_path / "cache"


def cached_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def was_cached():
    """Call the kernel as a new process would; return whether its code was found on disk."""
    compiled = kernel(cubed)
    assert compiled(3) == 27
    return sum(compiled.stats.cache_hits.values()) == 1


def test_code_is_saved_where_numba_is_told_to(cache_folder):
    assert not was_cached()
    assert {path.suffix for path in cached_files(cache_folder)} == {".nbi", ".nbc"}
    assert was_cached()


@given(
    suffix=st.sampled_from([".nbi", ".nbc"]),
    share=st.floats(0.0, 1.0, exclude_max=True),
    change=st.integers(0, 255),
)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_are_replaced(cache_folder, suffix, share, change):
    """A change of 0 cuts the file off there."""
    shutil.rmtree(cache_folder, ignore_errors=True)
    assert not was_cached()
    (path,) = (path for path in cached_files(cache_folder) if path.suffix == suffix)
    content = bytearray(path.read_bytes())
    place = int(share * len(content))
    content[place] ^= change
    path.write_bytes(content if change else content[:place])
    was_cached()  # whether or not that byte matters, the result is right
    assert was_cached()


def test_a_full_disk_costs_one_warning(cache_folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.replace", full)
    with pytest.warns(UserWarning, match=r"No space left on device.*NUMBA_CACHE_DIR") as warned:
        assert [was_cached(), was_cached()] == [False, False]
    assert len(warned) == 1
    assert cached_files(cache_folder) == []


def test_a_cache_that_cannot_be_written_is_still_read(cache_folder, monkeypatch):
    assert not was_cached()

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.TemporaryFile", forbidden)  # by which numba finds out where it may write
    monkeypatch.setattr("os.replace", forbidden)
    assert was_cached()


NOWHERE = """
import warnings
warnings.simplefilter("always")
import numpy as np
from driftline.kernels.rows import row_value
from driftline.kernels.vectors import norm
import driftline.ensemble, driftline.paper, driftline.baselines
row = np.ones((1, 4))
print(norm(row, 0), row_value(row, np.ones((1, 1), np.bool_), np.ones(1, np.int64), 0, row))
"""


def test_where_no_folder_can_be_written_kernels_are_compiled_in_memory_with_one_warning(package, monkeypatch):
    for folder in (folder for folder in package.rglob("*") if folder.is_dir()):
        (folder / "__pycache__").touch()  # a file in place of the folder stops even a superuser
    for variable in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, os.devnull)
    left = subprocess.run([sys.executable, "-c", NOWHERE], check=True, capture_output=True, text=True)
    assert left.stdout.split() == ["2.0", "3.0"]
    assert left.stderr.count("Warning") == 1
    assert "NUMBA_CACHE_DIR" in left.stderr


WITHOUT_THE_FLAGS = """
import numpy as np
from numba.core.cpu import CPUTargetOptions

for each in CPUTargetOptions.__mro__:
    for flag in {"_nrt", "no_cfunc_wrapper"} & set(vars(each)):
        delattr(each, flag)
from driftline.kernels.vectors import dot, norm

row = np.ones((1, 4))
print(dot(row, 0, row, 0), norm(row, 0))
"""


def test_kernels_compile_with_a_numba_that_lacks_the_private_flags(package):
    assert run("-c", WITHOUT_THE_FLAGS) == ["4.0", "2.0"]
