"""A feature space with its store of instances and its members."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from driftline.core.features import LinearFourierMap, checked_features
from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema, nested_schema, whole_numbers
from driftline.core.state import copy_with, state_of
from driftline.ensemble.filters import filter_schema, new_filter_bank, with_classes, with_components, with_zeros
from driftline.ensemble.plan import SpacePlan
from driftline.errors import ConfigError
from driftline.kernels.descent import ROWS_PER_STEP
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.member_state import N_RULES, Members, MemberWorkspace, RowStore, member_bound
from driftline.kernels.members import CUT_LEAD_MISTAKES, predict_rows
from driftline.kernels.representation import MAX_MAGNITUDE
from driftline.types import Flags, Labels, Matrix, Singles, State, Vector

LARGEST_SINGLE = float(np.finfo(np.float32).max)
BOUND_WIDTH = 0.3
"""Width λ, in standard errors, of the uncertainty sets for the bounds of members that learn without λ."""
NEGLIGIBLE_WEIGHT = 0.01
"""Members of smaller weight rest."""
RESTING_INTERVAL = 2
"""A member of negligible weight learns at one of so many labels."""
N_QUANTILES = 16 * ROWS_PER_STEP
"""Number of quantiles that represent the distribution of ages."""


class Space:
    """One feature space of an ensemble.

    Parameters
    ----------
    plan : SpacePlan
        Its plan.
    features : FeatureMap or LinearFourierMap
        The features, after `start`.
    n_features : int
        Number of features.
    seed : list of int
        Seed of the draws of rows from the store.
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
            average_gain=np.array([member.average_gain for member in plan.members]),
            width=np.array([member.width for member in plan.members]),
            reach=np.array([member.reach for member in plan.members]),
            age_quantiles=np.array([ages_of(member.gain) for member in plan.members]),
            partner=np.array([member.partner for member in plan.members]),
            interval=np.ones(n_members, np.int64),
            **dict.fromkeys(("mu", "average", "sums", "squares"), stack),
            mass=np.zeros((n_members, 2)),
            n_since_cut=np.zeros(n_members, np.int64),
            partner_lead=np.zeros(n_members),
            loss=np.zeros((n_members, N_RULES)),
            margin=np.zeros((n_members, 2)),
            n_halvings=np.zeros(n_members, np.int64),
            n_cuts=np.zeros(n_members, np.int64),
        )
        self._filters = new_filter_bank(plan.orders, d)
        self._workspace = _new_workspace(0, d)

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.plan.members)

    @property
    def bounds(self) -> Vector:
        """The bound of each member on its own error, at most the error of guessing."""
        c = self._members.mu.shape[1]
        chosen = enumerate(self._members.n_halvings.tolist())
        bounds: Vector = np.array([member_bound(self._members, m, k, c) for m, k in chosen])
        bounds[self._members.width == 0.0] += self._margins(self._members.width == 0.0)
        return np.clip(bounds, 0.0, 1.0 - 1.0 / max(c, 1))  # more only in an altered model file

    def _margins(self, chosen: Flags) -> Vector:
        """Return λᵀ|μ| of some members for λ of `BOUND_WIDTH` standard errors, for the rules that they use."""
        members = self._members
        mass = np.maximum(members.mass[chosen], 1.0)[:, :, None, None]
        mean = members.sums[chosen] / mass[:, 0]
        variances = np.maximum(members.squares[chosen] / mass[:, 0] - mean**2, 0.0)
        lam = BOUND_WIDTH * np.sqrt(variances * mass[:, 1]) / mass[:, 0]
        factors = np.append(0.5 ** np.arange(N_RULES), 0.0)[members.n_halvings[chosen]]
        margins: Vector = factors * np.sum(lam * np.abs(members.average[chosen]), axis=(1, 2))
        return margins

    @property
    def n_cuts(self) -> Labels:
        """Number of times that the memory of each member was cut."""
        return self._members.n_cuts

    def snapshot(self) -> "Space":
        """Return a copy for predictions and bounds, which learning does not change; it cannot learn."""
        names = ("average", "n_halvings", "loss", "margin", "n_cuts", "sums", "squares", "mass")
        copies = {name: getattr(self._members, name).copy() for name in names}
        return copy_with(self, _members=self._members._replace(**copies))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, which may be replaced by others with the same values."""
        return *self._store, *self._members, *self._filters, *self._workspace

    @arrays.setter
    def arrays(self, arrays: Sequence[Any]) -> None:
        unread = iter(arrays)
        self._store = RowStore(*islice(unread, len(self._store)))
        self._members = Members(*islice(unread, len(self._members)))
        self._filters = FilterBank(*islice(unread, len(self._filters)))
        self._workspace = MemberWorkspace(*unread)

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        grown = ((0, 0), (0, n), (0, 0))
        c, d = self._members.mu.shape[1] + n, self._members.mu.shape[2]
        stacks = {name: np.pad(getattr(self._members, name), grown) for name in ("mu", "average", "sums", "squares")}
        self._members = self._members._replace(**stacks)
        if not self._store.n_seen[0]:  # nothing learned: the rule guesses
            self._members.loss[:] = 1.0 - 1.0 / c
        self._filters = with_classes(self._filters, n)
        centres = self._workspace.centres
        self._workspace = _new_workspace(c, d)
        self._workspace.centres[:-n] = centres

    @property
    def directions(self) -> Matrix:
        """The random directions of the built-in features."""
        directions: Matrix = self._features.directions
        return directions

    @property
    def has_custom_features(self) -> bool:
        """Whether the feature map is a custom one, which may reject rows."""
        return not isinstance(self._features, LinearFourierMap)

    def review(self, weights: Vector) -> None:
        """Let members of negligible weight learn at every second label from now on, and the others at every label.

        A member that decides when the memory of another is cut learns as often as that one.
        """
        members = self._members
        is_needed = weights > NEGLIGIBLE_WEIGHT
        is_needed[members.partner[is_needed & (members.partner >= 0)]] = True
        members.interval[:] = np.where(is_needed, 1, RESTING_INTERVAL)

    def has_features_of(self, other: "Space") -> bool:
        """Return whether another space has the same feature map, so that features need not be computed twice."""
        return self._features is other._features

    def check_can_grow(self) -> None:
        """Raise ConfigError if columns cannot be added because the feature map is a custom one."""
        if self.has_custom_features:
            raise ConfigError(
                "columns cannot be added with a custom feature map, which was started with the columns of the first "
                'row; pass all columns from the first row on, or choose features="auto"'
            )

    def add_columns(self, n: int) -> None:
        """Add n columns; the model is the same as if their values had been 0 in all rows so far."""
        at = 1 + self._features.n_columns
        self._features = self._features.with_columns(n)
        self._add_features(at, n)

    def _add_features(self, at: int, n: int) -> None:
        """Add n features before position `at`, which are 0 in all rows so far."""
        self._store = self._store._replace(rows=with_zeros(self._store.rows, at, n))
        names = ("mu", "average", "sums", "squares")
        stacks = {name: with_zeros(getattr(self._members, name), at, n) for name in names}
        self._members = self._members._replace(**stacks)
        self._filters = with_components(self._filters, at, n)
        self._workspace = self._blank_workspace(with_zeros(self._workspace.centres, at, n))

    def member_probabilities(self, Psi: Singles) -> Vector:
        """Return the members' probabilities for the rows ψ, as (rows, members, classes); changes nothing."""
        return predict_rows(Psi, self._members.average, self._members.n_halvings)

    def represent(self, X: Matrix, Z: Matrix) -> Singles:
        """Return the features ψ of raw rows X, which are Z after their preparation; changes nothing."""
        if not self.has_custom_features:
            features: Singles = self._features.transform(Z)
            return features
        # A custom map gets one row at a time, so that the grouping of rows does not change its results.
        d = self._store.rows.shape[1]
        Psi = np.concatenate([checked_features(self._features.transform(z[None]), 1, d) for z in Z])
        singles: Singles = np.clip(Psi, -MAX_MAGNITUDE, MAX_MAGNITUDE).astype(np.float32)
        return singles

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        parts: dict[str, NamedTuple] = {"store": self._store, "members": self._members, "filter_bank": self._filters}
        arrays = {f"{part}/{name}": array for part, record in parts.items() for name, array in record._asdict().items()}
        arrays["centres"] = self._workspace.centres
        arrays["store/rows"] = self._store.rows[:, : self._n_saved_features]
        if self.has_custom_features:
            arrays |= {f"features/{name}": array for name, array in self._features.state().items()}
        return arrays

    def schema(self) -> Schema:
        """Return what each array must be in a file; those of a custom feature map are not described."""
        n_rows, d = self._store.rows.shape
        c = self._members.mu.shape[1]
        largest = 4.0 * MAX_MAGNITUDE  # of a row minus the forecast of its class mean
        rows = ArraySpec((n_rows, d), np.float32, -largest, largest)
        store: Schema = {
            "rows": replace(rows, shape=(n_rows, self._n_saved_features), since=3, before=rows),
            "labels": whole_numbers((n_rows,), max(c - 1, 0)),
            "n_seen": whole_numbers((1,)),
            "mean_squared_norm": ArraySpec((1,), low=0.0),
            "random_state": ArraySpec((1,), np.uint64, 1, 2**64 - 1),
        }
        return {
            **nested_schema(
                {"store": store, "members": _member_schema(self._members), "filter_bank": filter_schema(self._filters)}
            ),
            "centres": ArraySpec((c, d), np.float32, -10.0 * largest, 10.0 * largest),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

        def part(name: str) -> dict[str, Any]:
            return {key: np.array(value) for key, value in state_of(name, state).items()}

        store, self._filters = part("store"), FilterBank(**part("filter_bank"))
        self._store = RowStore(**store | {"rows": self._completed(store["rows"], int(store["n_seen"][0]))})
        self._members = self._members._replace(**part("members"))  # older model files do not have all arrays
        self._workspace = self._blank_workspace(state["centres"])
        if self.has_custom_features:
            self._features.restore(part("features"))

    @property
    def _n_saved_features(self) -> int:
        """Number of the first features of stored rows that are saved: without those that follow from others."""
        is_built_in = isinstance(self._features, LinearFourierMap)
        return self._features.n_linear if is_built_in else int(self._store.rows.shape[1])

    def _completed(self, saved: Singles, n_seen: int) -> Singles:
        """Return rows with all features; files of versions 1 and 2 have all of them."""
        if saved.shape[1] == self._store.rows.shape[1]:
            return saved
        rows, n = np.zeros_like(self._store.rows), min(n_seen, len(saved))
        rows[:, : saved.shape[1]] = saved
        self._features.complete(rows[:n])
        return rows

    def _blank_workspace(self, centres: Any) -> MemberWorkspace:
        workspace = _new_workspace(*self._members.mu.shape[1:])
        workspace.centres[:] = centres
        return workspace


def _member_schema(members: Members) -> Schema:
    """Return what each array of members must be in a file; their plan determines the first six."""
    m, c, d = members.mu.shape
    stack = ArraySpec((m, c, d), np.float32, -LARGEST_SINGLE, LARGEST_SINGLE)
    return {
        **{
            name: ArraySpec(array.shape, array.dtype.type, equals=array, since=3 if name == "average_gain" else 1)
            for name, array in members._asdict().items()
            if name in ("gain", "average_gain", "width", "reach", "age_quantiles", "partner")
        },
        **dict.fromkeys(("mu", "average", "sums", "squares"), stack),
        "interval": replace(whole_numbers((m,), RESTING_INTERVAL), low=1, since=3),
        "mass": ArraySpec((m, 2), low=0.0, high=MOST_COUNTED),
        "n_since_cut": whole_numbers((m,)),
        "partner_lead": ArraySpec((m,), low=0.0, high=CUT_LEAD_MISTAKES),
        "loss": ArraySpec((m, N_RULES), low=0.0),
        "margin": ArraySpec((m, 2), low=0.0),
        "n_halvings": whole_numbers((m,), N_RULES),
        "n_cuts": whole_numbers((m,)),
    }


def ages_of(gain: float) -> Vector:
    """Return quantiles of the distribution of ages with weights (1 - gain)^age; -1 for a gain of 0."""
    if gain == 0.0:
        return np.full(N_QUANTILES, -1.0)
    u = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    ages: Vector = np.floor(np.log1p(-u) / math.log1p(-gain))
    return ages


def _new_workspace(c: int, d: int) -> MemberWorkspace:
    return MemberWorkspace(
        gradient=np.zeros((c, d), np.float32),
        lam=np.zeros((c, d), np.float32),
        scores=np.zeros(c, np.float32),
        order=np.zeros(c, np.int64),
        losses=np.zeros(N_RULES),
        supports=np.zeros(2),
        drawn=np.zeros(ROWS_PER_STEP, np.int64),
        leads=np.zeros(ROWS_PER_STEP, np.float32),
        difference=np.zeros((1, d), np.float32),
        centre_factors=np.zeros((c, c), np.float32),
        centre_scores=np.zeros((c, c), np.float32),
        centres=np.zeros((c, d), np.float32),
    )
