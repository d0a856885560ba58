"""Plans of ensembles: the feature spaces, and the members of each space."""

from dataclasses import dataclass

COARSE_SCALE, FINE_SCALE = 1.0, 3.0
"""Scales of the two sets of Fourier features: of a wide and of a narrow kernel."""
MAX_MEMORY_ROWS, MAX_SLOW_MEMORY_ROWS, MAX_GROWING_MEMORY_ROWS = 600, 10_000, 3000
"""Largest number of rows in a member's memory: in general, if it forgets slowly, and if its memory is cut."""
SLOW_GAIN = 0.002
"""Members with a smaller gain than this forget slowly."""


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """The plan of one member.

    Attributes
    ----------
    gain : float
        How fast it forgets: the weight of a row is (1 - gain)^age. A member with gain 0 forgets nothing until its
        memory is cut.
    width : float
        Width λ of its uncertainty sets, in standard errors.
    partner : int, default=-1
        For a member whose memory is cut: position, in its space, of the member with short memory that decides when it
        is cut; otherwise -1.
    """

    gain: float
    width: float
    partner: int = -1

    @property
    def reach(self) -> int:
        """Largest number of rows in its memory."""
        if self.gain == 0.0:
            return MAX_GROWING_MEMORY_ROWS
        return min(int(3.0 / self.gain), MAX_SLOW_MEMORY_ROWS if self.gain < SLOW_GAIN else MAX_MEMORY_ROWS)


@dataclass(frozen=True, slots=True)
class SpacePlan:
    """The plan of a feature space: its features, and the members that learn from its store of instances.

    Attributes
    ----------
    name : str
        Name of the space.
    members : tuple of MemberPlan
        The members.
    scale : float, default=0.0
        Scale of the Fourier features; 0 for linear features only.
    orders : tuple of int, default=()
        Orders of the filters that track the class means, for a drift-compensated store; empty for a plain store.
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
        Whether there are spaces with Fourier features; if not, there are more members with linear features.
    order : int
        Highest order of the filters that track the class means.

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
