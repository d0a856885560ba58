"""Parts of an ensemble that learn alone, each with a kernel of its own."""

import numpy as np

from driftline.kernels.filter_bank import track_columns
from driftline.kernels.forest import forest_features_then_learn, n_tried_columns, set_origin, set_values
from driftline.kernels.members import predict_and_learn


def learn_in_space(space, Psi, labels, elapsed):
    """Let a space learn rows with the features ψ; return its members' probabilities for each row before that."""
    said = np.empty((len(Psi), space.n_members, space._members.mu.shape[1]))
    predict_and_learn(Psi, labels, elapsed, said, space._store, space._members, space._filters, space._workspace)
    return said


def learn_in_filters(filters, X, labels, elapsed):
    """Update the filters of raw columns by labelled rows."""
    centres = np.empty(filters.filters.variance.shape)
    track_columns(X, labels, elapsed, filters.origin, filters.filters, np.empty(X.shape), centres)


def learn_in_forest(forest, X, labels, pace=1.0):
    """Let a forest learn raw rows; return its features of each row before that."""
    values, Psi = np.empty(X.shape, np.float32), np.empty((len(X), forest.n_features), np.float32)
    set_origin(X, forest._origin)
    set_values(X, forest._origin, values)
    n_tried, shares = n_tried_columns(X.shape[1]), np.empty((2, forest.n_classes))
    trees = forest._recent, forest._long
    forest_features_then_learn(values, labels, forest._store, *trees, n_tried, pace, forest._workspace, Psi, shares)
    return Psi


def learn_in_tree_space(space, X, labels):
    """Let the forests of a space learn raw rows at the pace of its members; return the features before that."""
    return learn_in_forest(space.forest, X, labels, 1.0 / float(space._members.interval.min()))
