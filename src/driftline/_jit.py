"""The one place that imports numba.

Kernels are compiled at their first call, never at import, and cached on disk: in the folder that `NUMBA_CACHE_DIR`
names; if it is not set, in `__pycache__` beside their source or, if that cannot be written, in the user's cache folder.
Where nothing can be written they are compiled in memory, with one warning. `NUMBA_DISABLE_JIT=1` runs them as plain
Python for debugging.
"""

import hashlib
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
NUMBA: Any = numba.core
"""The internals of numba, which have no types."""

unsaved: list[str] = []
"""Why compiled kernels could not be saved, in this process."""
folders_in_use: set[Path] = set()
"""Folders from which kernels were loaded, or in which they were saved, in this process."""


@cache
def source_digest(folder: Path) -> str:
    """Return a digest of all sources that the machine code of a kernel in `folder` can depend on.

    Kernels use constants and kernels of their own folder and of `driftline.kernels`, and the options of this module.
    If they are in a zip archive or a frozen program, the digest is that of the archive or the program.
    """
    digest = hashlib.sha256()
    for path in _sources(folder):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(folder: Path) -> list[Path]:
    if getattr(sys, "frozen", False):
        return [Path(sys.executable)]
    archives = [path for path in (folder, *folder.parents) if path.is_file()]
    return archives or sorted({Path(__file__), *folder.glob("*.py"), *(PACKAGE / "kernels").glob("*.py")})


def _cache_folders(folder: Path) -> list[Path]:
    """Return the folders in which compiled kernels of `folder` may be, the preferred one first."""
    of_folder = f"{folder.name}_{hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:32]}"
    if NUMBA.config.CACHE_DIR:  # the environment variable NUMBA_CACHE_DIR
        return [Path(NUMBA.config.CACHE_DIR).absolute() / of_folder]
    of_user = NUMBA.caching.AppDirs("numba", appauthor=False).user_cache_dir
    return [folder / "__pycache__", Path(of_user) / of_folder]


class KernelCache:
    """The compiled code of one kernel on disk; numba's dispatcher calls the methods.

    Unlike numba's own cache, this one raises nothing: a file that cannot be read is replaced, and code that cannot be
    saved is used from memory. It also reads folders that cannot be written, such as those of a container image, and
    notices if a kernel that this one calls was changed. Files have a checksum: damaged machine code could crash.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        path = Path(code.co_filename)
        name = re.sub("[<>]", "", f"{path.stem}.{function.__qualname__}-{code.co_firstlineno}")
        stem = f"{name}.py{sys.version_info.major}{sys.version_info.minor}"
        digest, new_file = source_digest(path.parent), NUMBA.caching.IndexDataCacheFile
        self._files = {folder: new_file(str(folder), stem, digest) for folder in _cache_folders(path.parent)}

    @property
    def cache_path(self) -> str:
        """The preferred folder."""
        return str(next(iter(self._files)))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code for some types of arguments; None if it must be compiled."""
        context.refresh()
        for folder, file in self._files.items():
            try:
                checksum, content = file.load((signature, context.codegen().magic_tuple())) or ("", b"")
                if content and hashlib.sha256(content).hexdigest() == checksum:
                    code = NUMBA.compiler.CompileResult._rebuild(context, *pickle.loads(content))
                    folders_in_use.add(folder)
                    return code
            except Exception:  # unpickling a damaged file can raise anything
                continue
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Save the code in the first folder that can be written; otherwise warn, once per process."""
        content = NUMBA.caching.dumps(code._reduce())
        entry = (signature, code.codegen.magic_tuple()), (hashlib.sha256(content).hexdigest(), content)
        errors = []
        for folder, file in self._files.items():
            try:
                _save(folder, file, *entry)
            except OSError as error:
                errors.append(f"{folder}: {error.strerror or error}")
            else:
                folders_in_use.add(folder)
                return
        if not unsaved:
            warnings.warn(
                f"compiled kernels cannot be saved ({'; '.join(errors)}), so each process compiles them again; set the "
                "environment variable NUMBA_CACHE_DIR to a folder that can be written",
                stacklevel=2,
            )
        unsaved.extend(errors)


def _save(folder: Path, file: Any, key: Any, data: Any) -> None:
    os.makedirs(folder, exist_ok=True)
    try:
        file.save(key, data)
    except Exception:  # the index is damaged
        file.flush()
        file.save(key, data)


def _compiled(function: F, **options: Any) -> F:
    """Return the compiled function, cached on disk until a source changes that its machine code depends on.

    numba has no interface for a cache of one's own, so a private attribute is replaced. In a numba that lacks what
    `KernelCache` needs nothing is cached: that is slow at each start, but no old code is ever run.
    """
    compiled = numba.njit(error_model="numpy", **WITHOUT_C_ENTRY, **options)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    try:
        compiled._cache  # noqa: B018  # raises AttributeError if numba has no such attribute
        compiled._cache = KernelCache(function)
    except AttributeError:
        warnings.warn(
            f"driftline does not know how numba {numba.__version__} caches compiled code, so its kernels are compiled "
            "anew in every process; install a numba that driftline's requirements allow",
            RuntimeWarning,
            stacklevel=2,
        )
    return cast(F, compiled)


def kernel(function: F) -> F:
    """Compile a function on plain arrays, with IEEE arithmetic in the order written."""
    return _compiled(function)


def unlocked_kernel(function: F) -> F:
    """Compile a kernel that does not hold Python's global lock, so that several threads can run it at the same time."""
    return _compiled(function, nogil=True)


def _accepts(option: str) -> bool:
    """Return whether numba knows a compiler option; numba itself refuses an unknown one only at the first call."""
    target = getattr(numba.njit(lambda: None), "targetdescr", None)
    return hasattr(getattr(target, "options", None), option)


WITHOUT_C_ENTRY: dict[str, Any] = {"no_cfunc_wrapper": True} if _accepts("no_cfunc_wrapper") else {}
"""Options that leave out the function that C code could call, which takes time to compile; none if numba lacks them."""
UNCOUNTED = {"_nrt": False} if _accepts("_nrt") else {}
"""Options that turn off the counting of references to arrays; none if numba has dropped this private flag.

Without it kernels are slower, and their results are the same.
"""


def inner_kernel(function: F) -> F:
    """Compile a function that allocates nothing and returns no array, without counting references.

    numba counts references whenever an array is sliced or taken from a tuple, which in the inner loops of a solver
    costs more than the arithmetic.
    """
    return _compiled(function, **UNCOUNTED)


def inlined_kernel(function: F) -> F:
    """Compile an inner kernel and inline it into its callers: a call would pass seven words for each array."""
    return _compiled(function, **UNCOUNTED, forceinline=True)


def pasted_kernel(function: F) -> F:
    """Paste a function into its callers before they are compiled, which lets inner kernels get arrays from it."""
    return _compiled(function, inline="always")


def summing_kernel(function: F) -> F:
    """Compile an inlined kernel whose sums may be taken in any order, so that they use vector instructions.

    Nothing else is relaxed: infinities, NaN and the rounding of each operation stay those of IEEE arithmetic. The order
    differs between processors; where results must not, use `sum_of_products`.
    """
    return _compiled(function, **UNCOUNTED, forceinline=True, fastmath={"reassoc", "nsz"})


def comparing_kernel(function: F) -> F:
    """Compile an inlined kernel that compares numbers, none of which is NaN."""
    return _compiled(function, **UNCOUNTED, forceinline=True, fastmath={"reassoc", "nsz", "nnan"})
