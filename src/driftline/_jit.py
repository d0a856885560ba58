"""The one place that imports numba.

Kernels are compiled at their first call, never at import, and cached on disk beside their source.
`NUMBA_DISABLE_JIT=1` runs them as plain Python for debugging.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function on plain arrays, with IEEE arithmetic in the order written."""
    return cast(F, numba.njit(cache=True)(function))


def summing_kernel(function: F) -> F:
    """Compile a function whose sums may be taken in any order, so that they use vector instructions.

    Nothing else is relaxed: infinities, NaN and rounding of each operation stay those of IEEE arithmetic.
    """
    return cast(F, numba.njit(cache=True, fastmath={"reassoc", "nsz"})(function))
