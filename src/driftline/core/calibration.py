"""The calibrated bound: the error of the next step, bounded by the labels of the steps before."""

import math
from statistics import NormalDist

import numpy as np

from driftline.kernels.calibration import STATE_SIZE, CalibrationTarget, calibrate, next_bounds
from driftline.types import State, Vector


class CalibratedBound:
    """Bounds on the error probability of the next step, from the expected mistakes of the steps before.

    At each step the expected mistake 1 - h_t(y_t|x_t) is the error probability plus noise that is independent from
    step to step. So the mean of the recent ones estimates the error, and what neighbouring ones have in common shows
    how much it strays from that mean.

    There are two bounds. One is to hold *at a step*, at a stated share of all steps: the mean plus a multiple of how
    far the error strays from it, which is a quantile for the coverage asked for (the larger of those of the normal and
    the exponential distribution). The other is to hold *on average*, for sums over many steps: the mean plus its
    own standard error. Each margin is stretched whenever the mistakes of a window of 100 steps exceed its bounds.

    Parameters
    ----------
    coverage : float
        The share of steps at which the first bound is to hold.

    Notes
    -----
    What is proved of both, for any stream: of K windows of 100 steps in which the rule is better than guessing, those
    with more mistakes than bounds are at most ``(1 - coverage) K`` and a constant (23 and 26 for two classes at 0.95),
    because each of them stretches the margin and at the widest no such window can fail. What is not: that the
    bound holds at a given step. A stream whose error jumps from step to step without any trace in its neighbours can
    escape it.

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
        """Return the bound that is to hold at the next step; 1 - 1/c before the first."""
        return next_bounds(self._state, self._target, _guessing(n_classes))[0]

    def rate(self, n_classes: int) -> float:
        """Return the bound on the next step that is to hold on average."""
        return next_bounds(self._state, self._target, _guessing(n_classes))[1]

    def update(self, losses: Vector, n_classes: int) -> tuple[Vector, Vector]:
        """Add the expected mistakes of some steps; return both bounds as they were before each."""
        bounds, rates = np.empty(len(losses)), np.empty(len(losses))
        calibrate(losses, bounds, rates, self._state, self._target, _guessing(n_classes))
        return bounds, rates

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"sums": self._state}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._state = state["sums"].astype(np.float64)


def _guessing(n_classes: int) -> float:
    """Return the error probability of guessing."""
    return 1.0 - 1.0 / max(n_classes, 1)
