"""Plans of ensembles: the feature spaces, and the members of each space."""

from dataclasses import dataclass, replace

COARSE_SCALE, FINE_SCALE = 1.0, 3.0
"""Scales of the two sets of Fourier features: of a wide and of a narrow kernel."""
MAX_MEMORY_ROWS, MAX_SLOW_MEMORY_ROWS, MAX_GROWING_MEMORY_ROWS = 600, 10_000, 3000
"""Largest number of rows in a member's memory: in general, if it forgets slowly, and if its memory is cut."""
LIGHT_MEMBER_ROWS, LIGHT_COMPENSATED_ROWS, LIGHT_COMPONENTS = 128, 64, 24
"""In light models: largest number of rows in a member's memory, in general and if it is drift-compensated; and largest
number of directions of Fourier features."""
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
    average_gain : float, default=0.5
        Gain of the running average of its iterates, from which its scores come. Iterates move about as far as the rows
        drawn for a step differ, so a member with a long memory needs a small gain to use all of it.
    partner : int, default=-1
        For a member whose memory is cut: position, in its space, of the member with short memory that decides when it
        is cut; otherwise -1.
    max_rows : int, default=10000
        Largest number of rows in its memory, whatever its gain.
    """

    gain: float
    width: float
    average_gain: float = 0.5
    partner: int = -1
    max_rows: int = MAX_SLOW_MEMORY_ROWS

    @property
    def reach(self) -> int:
        """Largest number of rows in its memory."""
        if self.gain == 0.0:
            return min(MAX_GROWING_MEMORY_ROWS, self.max_rows)
        most = MAX_SLOW_MEMORY_ROWS if self.gain < SLOW_GAIN else MAX_MEMORY_ROWS
        return min(int(3.0 / self.gain), most, self.max_rows)


@dataclass(frozen=True, slots=True)
class ForestPlan:
    """The plan of the two forests of a space: one of recent rows, and one of all rows since its memory was cut.

    Attributes
    ----------
    n_recent_trees, n_long_trees : int
        Number of trees of each forest.
    max_rows : int
        Largest number of stored rows, from which trees are grown.
    max_leaves : int
        Largest number of leaves of a tree.
    pace : float, default=1.0
        How much faster than in the default plan trees are grown.
    """

    n_recent_trees: int = 16
    n_long_trees: int = 30
    max_rows: int = 50_000
    max_leaves: int = 4096
    pace: float = 1.0


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
    forest : ForestPlan or None, default=None
        The two forests whose features the space has, which are grown from the raw rows; None if it has others.
    max_components : int or None, default=None
        Largest number of directions of the Fourier features; None for no limit.
    """

    name: str
    members: tuple[MemberPlan, ...]
    scale: float = 0.0
    orders: tuple[int, ...] = ()
    forest: ForestPlan | None = None
    max_components: int | None = None

    def n_directions(self, n_components: int) -> int:
        """Return the number of directions of the Fourier features, if so many are wanted."""
        if self.scale == 0.0:
            return 0
        return n_components if self.max_components is None else min(n_components, self.max_components)


@dataclass(frozen=True, slots=True)
class EnsemblePlan:
    """The plan of an ensemble.

    Attributes
    ----------
    spaces : tuple of SpacePlan
        The feature spaces.
    counted_share : float
        Share of the mistakes of the deterministic rule in the losses by which members are weighted; the rest are the
        expected mistakes of the randomised rule.
    rests_members : bool
        Whether members of negligible weight learn at some labels only.
    """

    spaces: tuple[SpacePlan, ...]
    counted_share: float
    rests_members: bool

    @property
    def pace(self) -> float:
        """How much faster than in the default plan trees are grown."""
        return next((space.forest.pace for space in self.spaces if space.forest is not None), 1.0)


def default_plan(*, uses_fourier: bool, has_trees: bool, order: int) -> EnsemblePlan:
    """Return the plan of `AMRC()`.

    Parameters
    ----------
    uses_fourier : bool
        Whether there are spaces with Fourier features; if not, there are more members with linear features.
    has_trees : bool
        Whether there is a space of trees.
    order : int
        Highest order of the filters that track the class means.

    Returns
    -------
    EnsemblePlan
        The plan.
    """
    fine = tuple(MemberPlan(gain, 0.1) for gain in (0.2, 0.05, 0.01, 0.0003))
    fourier = (
        SpacePlan("coarse", (MemberPlan(0.2, 0.0), MemberPlan(0.001, 0.0)), scale=COARSE_SCALE),
        SpacePlan("fine", (*fine, MemberPlan(0.02, 0.0)), scale=FINE_SCALE),
    )
    without_widths = MemberPlan(0.01, 0.0), MemberPlan(0.001, 0.0, average_gain=0.05)
    longer = () if uses_fourier else (MemberPlan(0.05, 0.3), MemberPlan(0.01, 0.3))
    linear = SpacePlan("linear", (SHORT, GROWING, *without_widths, *longer))
    trees = SpacePlan("trees", (MemberPlan(0.01, 0.1), MemberPlan(0.001, 0.1, average_gain=0.05)), forest=ForestPlan())
    spaces = (*(fourier if uses_fourier else ()), linear, _compensated(order), *((trees,) if has_trees else ()))
    return EnsemblePlan(spaces, counted_share=0.5, rests_members=True)


def light_plan(*, uses_fourier: bool, has_trees: bool, order: int) -> EnsemblePlan:
    """Return the plan of `AMRC(memory="light")`, with few stored rows and small trees; parameters as in `default_plan`.

    A model for 8 columns and two classes has less than 64 KiB of state, or 200 KiB with Fourier features.
    """
    rows = LIGHT_MEMBER_ROWS
    linear = SpacePlan(
        "linear",
        (
            SHORT,
            replace(GROWING, max_rows=rows),
            MemberPlan(0.05, 0.0, max_rows=rows),
            MemberPlan(0.001, 0.0, average_gain=0.05, max_rows=rows),
        ),
    )
    compensated = tuple(MemberPlan(gain, 0.3, max_rows=LIGHT_COMPENSATED_ROWS) for gain in (0.1, 0.01))
    spaces = [linear, SpacePlan("compensated", compensated, orders=tuple(range(order + 1)))]
    if uses_fourier:
        fine = tuple(MemberPlan(gain, width, max_rows=rows) for gain, width in ((0.05, 0.1), (0.02, 0.0)))
        spaces.insert(0, SpacePlan("fine", fine, scale=FINE_SCALE, max_components=LIGHT_COMPONENTS))
    if has_trees:
        forest = ForestPlan(n_recent_trees=2, n_long_trees=7, max_rows=256, max_leaves=64, pace=0.1)
        spaces.append(SpacePlan("trees", (MemberPlan(0.01, 0.1, max_rows=rows),), forest=forest))
    return EnsemblePlan(tuple(spaces), counted_share=0.5, rests_members=False)


def first_plan(*, uses_fourier: bool, order: int) -> EnsemblePlan:
    """Return the plan of version 0.1, with which its model files continue; parameters as in `default_plan`."""
    coarse = tuple(MemberPlan(gain, 0.3) for gain in (0.05, 0.01, 0.0003))
    fine = tuple(MemberPlan(gain, 0.1) for gain in (0.2, 0.05, 0.01, 0.0003))
    longer = tuple(MemberPlan(gain, 0.3) for gain in (0.05, 0.01, 0.001, 0.0003))
    fourier = SpacePlan("coarse", coarse, scale=COARSE_SCALE), SpacePlan("fine", fine, scale=FINE_SCALE)
    with_fourier = *fourier, SpacePlan("linear", (SHORT, GROWING)), _compensated(order)
    without = SpacePlan("linear", (SHORT, *longer, GROWING)), _compensated(order)
    return EnsemblePlan(with_fourier if uses_fourier else without, counted_share=0.0, rests_members=False)


SHORT, GROWING = MemberPlan(0.2, 0.3), MemberPlan(0.0, 0.3, partner=0)
"""Members with linear features: one with a short memory, and one whose memory it cuts."""


def _compensated(order: int) -> SpacePlan:
    members = MemberPlan(0.1, 0.3), MemberPlan(0.01, 0.3)
    return SpacePlan("compensated", members, orders=tuple(range(order + 1)))
