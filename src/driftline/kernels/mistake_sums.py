"""Sums over steps from which the bound on accumulated mistakes is computed."""

from driftline._jit import kernel
from driftline.types import Vector

N_STEPS, TOTAL_BOUND, TOTAL_EXCESS, N_VOID, TOTAL_LOSS = range(5)
"""Positions in an array of sums."""


@kernel
def add_steps(sums: Vector, charges: Vector, losses: Vector) -> None:
    """Add steps without excess: their bounds and their expected mistakes.

    They are added one by one, so that the rounding of the sums does not depend on how rows are grouped.
    """
    for t in range(charges.size):
        sums[N_STEPS] += 1.0
        sums[TOTAL_BOUND] += charges[t]
        sums[TOTAL_LOSS] += losses[t]
