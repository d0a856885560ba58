"""Synthetic distributions of every kind, for tests of what they have in common."""

import numpy as np

from driftline.streams import DriftingFeatures, GaussianClasses, MovingClass, RotatingGaussians

EVERY_KIND = {
    "rotating": RotatingGaussians(),
    "rotating, 5 classes": RotatingGaussians(n_classes=5),
    "moving": MovingClass(),
    "moving, 4 classes": MovingClass(n_classes=4),
    "features": DriftingFeatures(),
    "features, 3 classes": DriftingFeatures(rates=(0.02, 0.0, 0.3), n_classes=3),
    "standing": GaussianClasses([[0, 1, 2], [3, -1, 0]], deviations=[1, 2, 0.5], probabilities=[0.8, 0.2]),
}
"""One or two of each, that change within some thousand steps."""


def rows_at(distribution, t, n, seed=0):
    """Draw n instances and labels, all at time t."""
    return distribution.components(np.full(n, float(t))).draw(n, np.random.default_rng(seed))
