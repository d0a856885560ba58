"""A feature space with its store of instances and its members."""

import math
from typing import Any, NamedTuple

import numpy as np

from driftline.ensemble.filters import new_ladder, with_class, with_components, with_zeros
from driftline.ensemble.plan import SpacePlan
from driftline.errors import ConfigError
from driftline.features import check_same_width, checked_features
from driftline.kernels.descent import ROWS_PER_STEP
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.member_state import N_RULES, Members, MemberWorkspace, RowStore, member_bound
from driftline.kernels.members import predict_and_learn, predict_rows
from driftline.kernels.representation import MAX_MAGNITUDE, represent
from driftline.types import Labels, Matrix, Singles, State, Vector

N_QUANTILES = 16 * ROWS_PER_STEP
"""How finely the distribution of ages is cut."""


class FourierFeatures:
    """Linear features and, beside them, Fourier features of random directions; of none if the scale is 0.

    Parameters
    ----------
    scale : float
        Directions are scale · N(0, I/(2p)) for p columns.
    n_components : int
        Number of directions.
    seed : list of int
        Seed of the directions.
    """

    def __init__(self, *, scale: float, n_components: int, seed: list[int]) -> None:
        self._scale = scale
        self._n_components = n_components if scale > 0.0 else 0
        self._seed = seed
        self._directions = np.empty((0, 0))
        self._n_begun = 0

    def start(self, n_columns: int) -> None:
        """Draw the directions for instances of `n_columns` columns."""
        rng = np.random.default_rng(self._seed)
        normals = rng.standard_normal((self._n_components, n_columns))
        self._directions = self._scale * normals / math.sqrt(2.0 * n_columns)
        self._n_begun = n_columns

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._directions.shape[1]

    def add_columns(self, n: int) -> None:
        """Extend the directions to n more columns; those where these are 0 are represented as before."""
        places = range(self.n_columns, self.n_columns + n)
        rngs = (np.random.default_rng([*self._seed, 2, place]) for place in places)
        normals = np.array([rng.standard_normal(self._n_components) for rng in rngs])
        added = self._scale * normals.T / math.sqrt(2.0 * self._n_begun)
        self._directions = np.concatenate([self._directions, added], axis=1)

    def transform(self, Z: Matrix) -> Singles:
        """Return ψ for each row of Z."""
        return represent(Z, self._directions, self._n_begun)


class Space:
    """One feature space of an ensemble.

    Parameters
    ----------
    plan : SpacePlan
        What it is made of.
    features : FeatureMap or FourierFeatures
        The features, started.
    n_features : int
        Number of features.
    seed : list of int
        Seed of the rows that are drawn from the store.
    """

    def __init__(self, plan: SpacePlan, features: Any, n_features: int, seed: list[int]) -> None:
        self.plan = plan
        self._features = features
        n_members, d = len(plan.members), n_features
        n_rows = max(member.reach for member in plan.members)
        self._store = RowStore(
            rows=np.zeros((n_rows, d), np.float32),
            labels=np.zeros(n_rows, np.int64),
            n_seen=np.zeros(1, np.int64),
            mean_squared_norm=np.zeros(1),
            random_state=np.random.default_rng([*seed, 1]).integers(1, 2**63, 1, dtype=np.uint64),
        )
        stack = np.zeros((n_members, 0, d), np.float32)
        self._members = Members(
            gain=np.array([member.gain for member in plan.members]),
            width=np.array([member.width for member in plan.members]),
            reach=np.array([member.reach for member in plan.members]),
            age_quantiles=np.array([ages_of(member.gain) for member in plan.members]),
            partner=np.array([member.partner for member in plan.members]),
            **dict.fromkeys(("mu", "average", "sums", "squares"), stack),
            mass=np.zeros((n_members, 2)),
            n_since_cut=np.zeros(n_members, np.int64),
            partner_lead=np.zeros(n_members),
            loss=np.zeros((n_members, N_RULES)),
            margin=np.zeros((n_members, 2)),
            n_halvings=np.zeros(n_members, np.int64),
            n_cuts=np.zeros(n_members, np.int64),
        )
        self._ladder = new_ladder(plan.orders, d)
        self._room = _new_room(0, d)

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.plan.members)

    @property
    def bounds(self) -> Vector:
        """The bound of each member on its own error, given its λ; at most that of guessing."""
        c = self._members.mu.shape[1]
        chosen = enumerate(self._members.n_halvings.tolist())
        return np.array([member_bound(self._members, m, k, c) for m, k in chosen])

    @property
    def cuts(self) -> Labels:
        """How often the memory of each member was cut."""
        return self._members.n_cuts

    def add_class(self) -> None:
        """Make room for one more class."""
        grown = ((0, 0), (0, 1), (0, 0))
        c, d = self._members.mu.shape[1] + 1, self._members.mu.shape[2]
        stacks = {name: np.pad(getattr(self._members, name), grown) for name in ("mu", "average", "sums", "squares")}
        self._members = self._members._replace(**stacks)
        if not self._store.n_seen[0]:  # nothing learned: the rule is that of guessing
            self._members.loss[:] = 1.0 - 1.0 / c
        self._ladder = with_class(self._ladder)
        centres = self._room.centres
        self._room = _new_room(c, d)
        self._room.centres[:-1] = centres

    def check_can_grow(self) -> None:
        """Refuse more columns, if the features are a map of the user's."""
        if not isinstance(self._features, FourierFeatures):
            raise ConfigError(
                "columns cannot be added with a feature map of your own, which was started with those of the first "
                'row; hand in all columns from then on, or choose features="auto"'
            )

    def add_columns(self, n: int) -> None:
        """Make room for n more columns: the model is as if they had been 0 so far."""
        at = 1 + self._features.n_columns
        self._features.add_columns(n)
        self._store = self._store._replace(rows=with_zeros(self._store.rows, at, n))
        names = ("mu", "average", "sums", "squares")
        stacks = {name: with_zeros(getattr(self._members, name), at, n) for name in names}
        self._members = self._members._replace(**stacks)
        self._ladder = with_components(self._ladder, at, n)
        self._room = self._blank_room(with_zeros(self._room.centres, at, n))

    def say(self, Z: Matrix) -> Vector:
        """Return what each member says of each row, as (rows, members, classes); changes nothing."""
        said = np.empty((len(Z), self.n_members, self._members.mu.shape[1]))
        predict_rows(self.represent(Z), said, self._members, self._room)
        return said

    def follow(self, Psi: Singles, labels: Labels, elapsed: Vector) -> Vector:
        """Learn the rows ψ in order; return what each member said of each before."""
        said = np.empty((len(Psi), self.n_members, self._members.mu.shape[1]))
        predict_and_learn(Psi, labels, elapsed, said, self._store, self._members, self._ladder, self._room)
        return said

    def represent(self, Z: Matrix) -> Singles:
        """Return ψ for each row of Z; changes nothing."""
        if isinstance(self._features, FourierFeatures):
            return self._features.transform(Z)
        # The user's map: a row at a time, so that it does not matter how rows are grouped.
        d = self._store.rows.shape[1]
        Psi = np.concatenate([checked_features(self._features.transform(z[None]), 1, d) for z in Z])
        singles: Singles = np.clip(Psi, -MAX_MAGNITUDE, MAX_MAGNITUDE).astype(np.float32)
        return singles

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        parts: dict[str, NamedTuple] = {"store": self._store, "members": self._members, "filter_bank": self._ladder}
        arrays = {f"{part}/{name}": array for part, record in parts.items() for name, array in record._asdict().items()}
        arrays["centres"] = self._room.centres
        if not isinstance(self._features, FourierFeatures):
            arrays |= {f"features/{name}": array for name, array in self._features.state().items()}
        return arrays

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

        def part(name: str) -> dict[str, Any]:
            prefix = f"{name}/"
            return {key.removeprefix(prefix): np.array(value) for key, value in state.items() if key.startswith(prefix)}

        if not isinstance(self._features, FourierFeatures):
            check_same_width(self._store.rows.shape[1], state["store/rows"].shape[1])
        self._store, self._members, self._ladder = (
            RowStore(**part("store")),
            Members(**part("members")),
            FilterBank(**part("filter_bank")),
        )
        self._room = self._blank_room(state["centres"])
        if not isinstance(self._features, FourierFeatures):
            self._features.restore(part("features"))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle no working memory, which predictions overwrite: a model that was asked is pickled as before."""
        return self.__dict__ | {"_room": self._blank_room(self._room.centres)}

    def _blank_room(self, centres: Any) -> MemberWorkspace:
        room = _new_room(*self._members.mu.shape[1:])
        room.centres[:] = centres
        return room


def ages_of(gain: float) -> Vector:
    """Return quantiles of the distribution with weights (1 - gain)^age; -1 for that of a memory that does not fade."""
    if gain == 0.0:
        return np.full(N_QUANTILES, -1.0)
    u = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    ages: Vector = np.floor(np.log1p(-u) / math.log1p(-gain))
    return ages


def _new_room(c: int, d: int) -> MemberWorkspace:
    return MemberWorkspace(
        gradient=np.zeros((c, d), np.float32),
        lam=np.zeros((c, d), np.float32),
        scores=np.zeros(c, np.float32),
        order=np.zeros(c, np.int64),
        losses=np.zeros(N_RULES),
        centre_factors=np.zeros((c, c), np.float32),
        centre_scores=np.zeros((c, c), np.float32),
        centres=np.zeros((c, d), np.float32),
    )
