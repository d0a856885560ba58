"""The one place that imports numba.

Kernels are compiled at their first call, never at import, and cached on disk beside their source.
`NUMBA_DISABLE_JIT=1` runs them as plain Python for debugging.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F, **options: Any) -> F:
    return cast(F, numba.njit(cache=True, error_model="numpy", **options)(function))


def kernel(function: F) -> F:
    """Compile a function on plain arrays, with IEEE arithmetic in the order written."""
    return _compiled(function)


def inner_kernel(function: F) -> F:
    """Compile a function that allocates nothing and returns no array, without counting references.

    numba counts references whenever an array is sliced or taken from a tuple; in the inner loops of a solver that
    costs more than the arithmetic.
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: F) -> F:
    """Compile an inner kernel into its callers: a call hands over seven words for every array."""
    return _compiled(function, _nrt=False, forceinline=True)


def summing_kernel(function: F) -> F:
    """Compile an inlined kernel whose sums may be taken in any order, so that they use vector instructions.

    Nothing else is relaxed: infinities, NaN and the rounding of each operation stay those of IEEE arithmetic.
    """
    return _compiled(function, _nrt=False, forceinline=True, fastmath={"reassoc", "nsz"})


def comparing_kernel(function: F) -> F:
    """Compile an inlined kernel that compares numbers, none of which is NaN."""
    return _compiled(function, _nrt=False, forceinline=True, fastmath={"reassoc", "nsz", "nnan"})
