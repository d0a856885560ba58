"""Parts of an ensemble that learn alone, each with a kernel of its own."""

import numpy as np

from driftline.kernels.filter_bank import track_columns
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
