"""Synthetic distributions of every class, for tests that apply to all of them."""

import numpy as np

from driftline.streams import (
    AbruptDrift,
    DriftingFeatures,
    GaussianClasses,
    GradualDrift,
    MovingClass,
    RecurringDrift,
    ReoccurringClasses,
    RotatingGaussians,
)


def on_circle(n_classes, n_concepts):
    """Return concepts; from one to the next, each class takes the place of the next class."""
    return [GaussianClasses.on_circle(n_classes, turn=k / n_classes) for k in range(n_concepts)]


EVERY_KIND = {
    "rotating": RotatingGaussians(),
    "rotating, 5 classes": RotatingGaussians(n_classes=5),
    "moving": MovingClass(),
    "moving, 4 classes": MovingClass(n_classes=4),
    "features": DriftingFeatures(),
    "features, 3 classes": DriftingFeatures(rates=(0.02, 0.0, 0.3), n_classes=3),
    "standing": GaussianClasses([[0, 1, 2], [3, -1, 0]], deviations=[1, 2, 0.5], probabilities=[0.8, 0.2]),
    "abrupt": AbruptDrift(at=[700]),
    "abrupt, 4 classes": AbruptDrift(on_circle(4, 3), at=[500, 3000]),
    "gradual": GradualDrift(at=[1000], width=2000),
    "gradual, 3 classes": GradualDrift([MovingClass(n_classes=3), *on_circle(3, 2)], at=[300, 2500], width=1500),
    "recurring": RecurringDrift(period=600),
    "recurring, 3 classes": RecurringDrift(on_circle(3, 3), period=450),
    "reoccurring": ReoccurringClasses(),
    "reoccurring, drifting": ReoccurringClasses(RotatingGaussians(n_classes=4), [(0, 1), (2, 3), (0, 1, 2, 3)], 333),
}
"""One or two distributions of each class, which change within some thousand steps."""


def rows_at(distribution, t, n, seed=0):
    """Draw n instances and labels, all at time t."""
    return distribution.components(np.full(n, float(t))).draw(n, np.random.default_rng(seed))
