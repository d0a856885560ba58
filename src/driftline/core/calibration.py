"""The calibrated bound on the error of the next step, estimated from the labels of earlier steps."""

import math
from statistics import NormalDist

import numpy as np

from driftline.core.schema import ArraySpec, Schema
from driftline.kernels.calibration import STATE_RANGES, STATE_SIZE, CalibrationTarget, calibrate, next_bounds
from driftline.types import State, Vector


class CalibratedBound:
    """Bounds on the error probability of the next step, from the expected mistakes of earlier steps.

    At each step the expected mistake 1 - h_t(y_t|x_t) is the error probability plus noise that is independent from
    step to step. The mean of recent expected mistakes therefore estimates the error probability, and the covariance of
    neighbouring ones estimates how much the error probability varies around this mean.

    There are two bounds. The first should hold at the share `coverage` of all *single steps*: it is the mean plus a
    multiple of the standard deviation of the error probability. The multiple is the quantile for that coverage, of the
    normal or the exponential distribution, whichever is larger. The second should hold *on average* over many steps:
    it is the mean plus its own standard error. The margin of a bound is widened whenever the mistakes in a window of
    100 steps exceed the sum of that bound.

    Parameters
    ----------
    coverage : float
        The share of steps at which the first bound should hold.

    Notes
    -----
    This is proved for both bounds and any stream: among K windows of 100 steps in which the rule is better than
    guessing, the mistakes exceed the sum of the bounds in at most ``(1 - coverage) K`` windows plus a constant (23 for
    the first bound and 26 for the second, with two classes and coverage 0.95). The reason is that each such window
    widens the margin, and with the widest margin no such window can exceed it. It is not proved that a bound holds at
    a given step: if the error jumps from step to step and neighbouring steps do not show it, the bounds can fail.

    Examples
    --------
    >>> import numpy as np
    >>> calibrated = CalibratedBound(0.95)
    >>> calibrated.bound(2)
    0.5
    >>> losses = np.random.default_rng(0).beta(1, 9, 2000)
    >>> bounds, rates = calibrated.update(losses, 2)
    >>> bool(bounds[200:].min() > losses.mean()), bool(bounds[200:].mean() < losses.mean() + 0.08)
    (True, True)
    >>> bool(losses.mean() < rates.mean() < losses.mean() + 0.02)
    True
    """

    def __init__(self, coverage: float) -> None:
        normal, exponential = NormalDist().inv_cdf(coverage), math.log(1.0 / (1.0 - coverage)) - 1.0
        self._target = CalibrationTarget(coverage, max(normal, exponential, 0.01))
        self._state = np.zeros(STATE_SIZE)

    def bound(self, n_classes: int) -> float:
        """Return the bound that should hold at the next step; 1 - 1/c before the first step."""
        return next_bounds(self._state, self._target, _guessing(n_classes))[0]

    def rate(self, n_classes: int) -> float:
        """Return the bound for the next step that should hold on average."""
        return next_bounds(self._state, self._target, _guessing(n_classes))[1]

    def update(self, losses: Vector, n_classes: int) -> tuple[Vector, Vector]:
        """Add the expected mistakes of some steps; return both bounds as they were before each step."""
        bounds, rates = np.empty(len(losses)), np.empty(len(losses))
        calibrate(losses, bounds, rates, self._state, self._target, _guessing(n_classes))
        return bounds, rates

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"sums": self._state}

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        low, high = np.array(STATE_RANGES).T
        return {"sums": ArraySpec((STATE_SIZE,), low=low, high=high)}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._state = state["sums"].astype(np.float64)


def _guessing(n_classes: int) -> float:
    """Return the error probability of guessing."""
    return 1.0 - 1.0 / max(n_classes, 1)
