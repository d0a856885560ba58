"""Building the learner of `AMRC` from its parameters."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline.core.columns import RunningColumns
from driftline.core.costs import Costs
from driftline.core.features import LinearFourierMap, count_features, is_feature_map
from driftline.ensemble.filters import ColumnFilters
from driftline.ensemble.forest import Forest, n_bytes_of_forest
from driftline.ensemble.label_members import N_PENDING, LabelMembers, n_bytes_of_labels
from driftline.ensemble.learner import EnsembleLearner
from driftline.ensemble.pending_rows import PendingRows
from driftline.ensemble.plan import EnsemblePlan, SpacePlan
from driftline.ensemble.row_weights import RowWeights
from driftline.ensemble.space import Space
from driftline.ensemble.tree_space import TreeSpace
from driftline.guarantees.cost_rule import CostRule
from driftline.guarantees.settings import checked_guarantees
from driftline.guarantees.tracker import GuaranteeTracker


def assemble_ensemble(parameters: Mapping[str, Any], plan: EnsemblePlan, n_columns: int, seed: int) -> EnsembleLearner:
    """Return a new learner, without classes, for instances with `n_columns` columns."""
    columns = RunningColumns(n_columns, standardises=parameters["scaling"] == "running")
    spaces: list[Space] = []
    linear = LinearFourierMap(scale=0.0, n_components=0, seed=[seed])  # for all spaces with linear features
    for i, space_plan in enumerate(plan.spaces):
        if space_plan.forest is not None:
            forest = Forest(space_plan.forest, n_columns, [seed, i])
            spaces.append(TreeSpace(space_plan, forest, [seed, i]))
            continue
        is_linear = space_plan.scale == 0.0 and not is_feature_map(parameters["features"])
        features: Any = linear if is_linear else _features(parameters, space_plan, [seed, i])
        features.start(n_columns)
        n_features = count_features(features, columns.prepare(np.zeros((1, n_columns))))
        spaces.append(Space(space_plan, features, n_features, [seed, i]))
    column_filters = ColumnFilters(n_columns, tuple(range(parameters["order"] + 1)))
    n_members = sum(space.n_members for space in spaces)
    guarantees = checked_guarantees(parameters["guarantees"])
    expiry = parameters["expire_after_labels"], parameters["expire_after_time"]
    labels = LabelMembers() if parameters["label_memory"] else None
    pending = PendingRows(n_columns, n_members, guarantees, *expiry, N_PENDING if labels else 0)
    tracker = GuaranteeTracker(guarantees)
    costs = parameters["costs"]
    cost_rule = None if costs is None else CostRule(Costs(costs))
    return EnsembleLearner(
        columns,
        spaces,
        column_filters,
        pending,
        tracker,
        parameters["coverage"],
        plan,
        labels,
        cost_rule,
        None if parameters["class_weight"] is None else RowWeights(parameters["class_weight"]),
    )


def n_bytes_of_ensemble(
    plan: EnsemblePlan, n_columns: int, n_components: int, n_classes: int, *, label_memory: bool
) -> int:
    """Return about how much memory a learner takes: its stores, the weights of its members, filters and directions."""
    total = n_bytes_of_labels(n_classes) if label_memory else 0
    for space in plan.spaces:
        n_directions = space.n_directions(n_components)
        n_features = 1 + (2 * n_classes if space.forest is not None else n_columns + 2 * n_directions)
        n_rows = max(member.reach for member in space.members)
        per_class = 16 * len(space.members) + (250 if space.orders else 0)
        total += 0 if space.forest is None else n_bytes_of_forest(space.forest, n_columns, n_classes)
        total += n_features * (4 * n_rows + per_class * n_classes) + 8 * n_directions * n_columns + 8 * n_classes**2
    return total


def _features(parameters: Mapping[str, Any], plan: SpacePlan, seed: list[int]) -> Any:
    if is_feature_map(parameters["features"]):
        return copy.deepcopy(parameters["features"])
    return LinearFourierMap(scale=plan.scale, n_components=plan.n_directions(parameters["n_components"]), seed=seed)
