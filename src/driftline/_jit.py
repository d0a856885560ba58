"""The one place that imports numba.

Kernels are compiled at their first call, never at import, and cached on disk: in the folder that `NUMBA_CACHE_DIR`
names, else in `__pycache__` beside their source, else in the user's cache folder.
`NUMBA_DISABLE_JIT=1` runs them as plain Python for debugging.
"""

import hashlib
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent


@cache
def source_digest(folder: Path) -> str:
    """Return a digest of all sources that the machine code of a kernel in `folder` can depend on.

    Kernels use constants and kernels of their own folder and of `driftline.kernels`, and the options of this module.
    In a zip archive there are no files to read, and the digest is that of nothing.
    """
    paths = {Path(__file__), *folder.glob("*.py"), *(PACKAGE / "kernels").glob("*.py")}
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _compiled(function: F, **options: Any) -> F:
    """Return the compiled function, cached on disk until a source changes that its machine code depends on.

    numba stamps cached code with the source file of the function alone, and knows nothing of the kernels that it
    calls. Neither has it an interface for more, so the digest is added to the stamp in a private attribute. In a numba
    that has no such attribute nothing is cached: that is slow at each start, but no old code is ever run.
    """
    compiled = numba.njit(cache=True, error_model="numpy", **options)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    try:
        index = compiled._cache._cache_file
        index._source_stamp = index._source_stamp, source_digest(Path(function.__code__.co_filename).parent)
    except AttributeError:
        warnings.warn(
            f"driftline does not know how numba {numba.__version__} caches compiled code, so its kernels are compiled "
            "anew in every process; install a numba that driftline's requirements allow",
            RuntimeWarning,
            stacklevel=2,
        )
        compiled = numba.njit(error_model="numpy", **options)(function)
    return cast(F, compiled)


def kernel(function: F) -> F:
    """Compile a function on plain arrays, with IEEE arithmetic in the order written."""
    return _compiled(function)


def _accepts(option: str) -> bool:
    """Return whether numba knows a compiler option; numba itself refuses an unknown one only at the first call."""
    target = getattr(numba.njit(lambda: None), "targetdescr", None)
    return hasattr(getattr(target, "options", None), option)


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


def summing_kernel(function: F) -> F:
    """Compile an inlined kernel whose sums may be taken in any order, so that they use vector instructions.

    Nothing else is relaxed: infinities, NaN and the rounding of each operation stay those of IEEE arithmetic.
    """
    return _compiled(function, **UNCOUNTED, forceinline=True, fastmath={"reassoc", "nsz"})


def comparing_kernel(function: F) -> F:
    """Compile an inlined kernel that compares numbers, none of which is NaN."""
    return _compiled(function, **UNCOUNTED, forceinline=True, fastmath={"reassoc", "nsz", "nnan"})
