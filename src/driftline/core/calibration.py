"""The calibrated bound on the error of the next step, estimated from the labels of earlier steps."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema
from driftline.kernels.calibration import (
    N_FIGURES,
    WINDOW_STEPS,
    CalibrationState,
    CalibrationTarget,
    calibrate,
    next_bounds,
)
from driftline.types import Matrix, State, Vector

STRETCHES_IN_VERSION_2 = [8, 10]
"""Positions of the two stretches in the array of model files of versions 1 and 2, which begins with the figures."""
MAX_STRETCH = 100.0
"""No stretch becomes so large."""
FIGURE_RANGES = ((0.0, MOST_COUNTED), (0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (0.0, 1.0), (-1.0, 1.0))
"""Range of each figure: number of steps, two means, covariance, variance, last deviation."""
SUMS_IN_VERSION_2 = (
    *FIGURE_RANGES,
    *[(0.0, WINDOW_STEPS)] * 2,
    (0.0, MAX_STRETCH),
    (0.0, WINDOW_STEPS),
    (0.0, MAX_STRETCH),
)
"""The same in model files of versions 1 and 2: figures, sums over a window, and stretches."""


class CalibratedBound:
    """Bounds on the error probability of the next step, from the expected mistakes of earlier steps.

    At each step the expected mistake 1 - h_t(y_t|x_t) is the error probability plus noise that is independent from
    step to step. The mean of recent expected mistakes therefore estimates the error probability, and the covariance of
    neighbouring ones estimates how much the error probability varies around this mean.

    There are two bounds. The first should hold at the share `coverage` of all *single steps*: it is the mean plus a
    multiple of the standard deviation of the error probability. The multiple is the quantile for that coverage, of the
    normal or the exponential distribution, whichever is larger. The second should hold *on average* over many steps:
    it is the mean plus its own standard error. After each step, the expected mistakes of the last 100 steps are
    compared with the sum of the bounds given for these steps: if they exceed it, the margin of the bound is widened,
    else it is narrowed a little.

    A bound is usually at most 1 - 1/c, the error of guessing. It is larger only if the rule was worse than guessing:
    then the limit is the mean of the last 100 expected mistakes, or more if even that did not suffice.

    Parameters
    ----------
    coverage : float
        The share of steps at which the first bound should hold.

    Notes
    -----
    This is proved for both bounds and any stream, also for one that reacts to the bounds. Among K windows of 100 steps,
    each of which begins where the one before ends, the expected mistakes exceed the sum of the bounds in at most
    ``(1 - coverage) K + C`` windows, whichever step the first window begins at. With coverage 0.95, C is 29.8 for the
    first bound and 32.6 for the second. So of all windows that end at T consecutive steps, at most
    ``(1 - coverage) T + 100 C`` fail. The proof:

    1. There is a number s for each of the 100 places at which windows can begin, and the margin is multiplied by
       exp(s) for the largest of them. When a window ends, its own s is raised by 0.25 ``coverage`` if the window
       failed, and else lowered by 0.25 ``(1 - coverage)``, but not below 0. So if F of K windows fail, s rises by at
       least ``0.25 (F - (1 - coverage) K)``; hence ``F ≤ (1 - coverage) K + 4 s`` with the last s.
    2. Let m be the multiple of the standard deviation (1 for the second bound), and ``w = log(1 / (0.001 m))``. No
       standard deviation is taken to be below 0.001, so with s ≥ w the margin is at least 1. With s ≥ w + 1 the limit
       of the bound is 1, too. Then the bound is 1, which no expected mistake exceeds.
    3. The s of a window does not change during the window. So a window can fail only if its s is below w + 1. Hence s
       never exceeds ``w + 1 + 0.25 coverage``, and ``C = 4 (w + 1) + coverage``.

    A step is a label that is learned, with the bound just before it; the expected mistake is that of the prediction
    made for its row. It is not proved that the first bound holds at the share `coverage` of single steps: if the error
    jumps from step to step and neighbouring steps do not show it, the bound can fail at more of them.

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
        self._state = CalibrationState(np.zeros(N_FIGURES), _empty_window(), np.zeros((2, WINDOW_STEPS)))

    def bound(self, n_classes: int) -> float:
        """Return the bound that should hold at the next step; 1 - 1/c before the first step."""
        return next_bounds(*self._state, self._target, _guessing(n_classes))[0]

    def rate(self, n_classes: int) -> float:
        """Return the bound for the next step that should hold on average."""
        return next_bounds(*self._state, self._target, _guessing(n_classes))[1]

    def update(self, losses: Vector, n_classes: int) -> tuple[Vector, Vector]:
        """Add the expected mistakes of some steps; return both bounds as they were before each step."""
        bounds, rates = np.empty(len(losses)), np.empty(len(losses))
        calibrate(losses, bounds, rates, *self._state, self._target, _guessing(n_classes))
        return bounds, rates

    @property
    def target(self) -> CalibrationTarget:
        """What the bounds aim at."""
        return self._target

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, which may be replaced by others with the same values."""
        return self._state

    @arrays.setter
    def arrays(self, arrays: Sequence[Any]) -> None:
        self._state = CalibrationState(*arrays)

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        figures, window, stretches = self._state
        return {"sums": figures, "window": window, "stretches": stretches}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return {
            "sums": replace(_figures(FIGURE_RANGES), since=3, before=_figures(SUMS_IN_VERSION_2)),
            "window": ArraySpec((3, WINDOW_STEPS), low=0.0, high=1.0, since=3),
            "stretches": ArraySpec((2, WINDOW_STEPS), low=0.0, high=MAX_STRETCH, since=3),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned, or from a file of version 1 or 2, which has no window.

        Without it, what is proved applies to windows that begin after the restoring.
        """
        sums = state["sums"].astype(np.float64)
        if "window" in state:
            window, stretches = state["window"].astype(np.float64), state["stretches"].astype(np.float64)
        else:
            window, stretches = _empty_window(), np.tile(sums[STRETCHES_IN_VERSION_2, None], WINDOW_STEPS)
        self._state = CalibrationState(sums[:N_FIGURES], window, stretches)


def _figures(ranges: tuple[tuple[float, float], ...]) -> ArraySpec:
    """Return the description of figures with these ranges."""
    low, high = np.array(ranges).T
    return ArraySpec((len(ranges),), low=low, high=high)


def _empty_window() -> Matrix:
    """Return a window of steps that have not happened: no mistakes, and bounds of 1, so that it does not fail."""
    return np.repeat([[0.0], [1.0], [1.0]], WINDOW_STEPS, axis=1)


def _guessing(n_classes: int) -> float:
    """Return the error probability of guessing."""
    return 1.0 - 1.0 / max(n_classes, 1)
