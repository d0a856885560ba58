"""What an ensemble is made of: feature spaces, and in each of them members with different memories."""

from dataclasses import dataclass

COARSE_SCALE, FINE_SCALE = 1.0, 3.0
"""Scales of the two sets of Fourier features: of wide and of narrow kernels."""
MAX_MEMORY_ROWS, MAX_SLOW_MEMORY_ROWS, MAX_GROWING_MEMORY_ROWS = 600, 10_000, 3000
"""Rows that a member remembers at most: most members, those that forget slowly, those whose memory is cut."""
SLOW_GAIN = 0.002
"""Members with a smaller gain than this forget slowly."""


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """One member.

    Attributes
    ----------
    gain : float
        How fast it forgets: the weight of a row is (1 - gain)^age. 0 for one that forgets nothing until its memory
        is cut.
    width : float
        λ that it learns with, in standard errors.
    partner : int, default=-1
        For a member whose memory is cut: the place, in its space, of the member of short memory that decides when.
    """

    gain: float
    width: float
    partner: int = -1

    @property
    def reach(self) -> int:
        """Number of rows that it remembers at most."""
        if self.gain == 0.0:
            return MAX_GROWING_MEMORY_ROWS
        return min(int(3.0 / self.gain), MAX_SLOW_MEMORY_ROWS if self.gain < SLOW_GAIN else MAX_MEMORY_ROWS)


@dataclass(frozen=True, slots=True)
class SpacePlan:
    """Features, a store of instances in them, and the members that learn from it.

    Attributes
    ----------
    name : str
        What to call it.
    members : tuple of MemberPlan
        The members.
    scale : float, default=0.0
        Scale of the Fourier features; 0 for linear features alone.
    orders : tuple of int, default=()
        Orders of the filters that follow the class means, for a drift-compensated store; none for a plain one.
    """

    name: str
    members: tuple[MemberPlan, ...]
    scale: float = 0.0
    orders: tuple[int, ...] = ()


def default_plan(*, uses_fourier: bool, order: int) -> tuple[SpacePlan, ...]:
    """Return the plan of `AMRC()`.

    Parameters
    ----------
    uses_fourier : bool
        Whether there are Fourier features beside the linear ones; else there are more members with linear ones.
    order : int
        Highest order of the filters that follow the class means.

    Returns
    -------
    tuple of SpacePlan
        The spaces.
    """
    short = MemberPlan(0.2, 0.3)
    growing = MemberPlan(0.0, 0.3, partner=0)
    compensated = SpacePlan(
        "compensated", (MemberPlan(0.1, 0.3), MemberPlan(0.01, 0.3)), orders=tuple(range(order + 1))
    )
    if not uses_fourier:
        longer = tuple(MemberPlan(gain, 0.3) for gain in (0.05, 0.01, 0.001, 0.0003))
        return SpacePlan("linear", (short, *longer, growing)), compensated
    coarse = tuple(MemberPlan(gain, 0.3) for gain in (0.05, 0.01, 0.0003))
    fine = tuple(MemberPlan(gain, 0.1) for gain in (0.2, 0.05, 0.01, 0.0003))
    return (
        SpacePlan("coarse", coarse, scale=COARSE_SCALE),
        SpacePlan("fine", fine, scale=FINE_SCALE),
        SpacePlan("linear", (short, growing)),
        compensated,
    )
