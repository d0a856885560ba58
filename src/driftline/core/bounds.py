"""The bound on accumulated mistakes.

With probability at least 1 - δ the mistakes of the randomised rule in T steps are at most the sum of the bounds on its
error plus √(2T log(1/δ)), if those bounds hold on average (Theorem 1 of the paper). The labels show whether they did.
Whatever the bounds, the rule errs at step t with the probability ℓ_t = 1 - h_t(y_t|x_t), because its label is drawn
from h_t independently of y_t. By the inequality of Azuma and Hoeffding, its mistakes exceed Σ ℓ_t by more than
√(T log(1/δ)/2) with probability at most δ, on any stream. So the larger of the two sums, plus √(2T log(1/δ)), bounds
the mistakes without any condition.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema
from driftline.kernels.mistake_sums import N_STEPS, N_VOID, TOTAL_BOUND, TOTAL_EXCESS, TOTAL_LOSS, add_steps
from driftline.types import Predictions, State, Vector
from driftline.utils.validation import real_number

ROUNDING = 1e-9
"""Relative difference of two sums that is ignored as rounding."""
INFORMATIVE_SHARE = 0.9
"""A bound within a tenth of the error of guessing, or above it, says nothing that people could act on."""


def is_informative(bound: float, n_classes: int) -> bool:
    """Return whether a bound on the error is clearly better than the error 1 - 1/c of guessing among c classes.

    Parameters
    ----------
    bound : float
        The bound.
    n_classes : int
        Number of classes.

    Returns
    -------
    bool
        Whether the bound is below nine tenths of that error.

    Examples
    --------
    >>> is_informative(0.44, n_classes=2), is_informative(0.45, n_classes=2), is_informative(0.45, n_classes=3)
    (True, False, True)
    """
    return bound < INFORMATIVE_SHARE * (1.0 - 1.0 / max(n_classes, 1))


class MistakeBound:
    """The bound on accumulated mistakes, from sums over the steps so far.

    A step whose bound R(U_t) is void counts as a certain mistake: the uncertainty set was empty on the stored
    instances, or the label was of a class not known before. The excess e_t of its instance is added to each R(U_t),
    because E[1{mistake} - e_t] ≤ R(U_t) also for instances that φ does not cover. The excess is not cut off, because
    instances with a large excess compensate for others. The term √(2T log(1/δ)) of Theorem 1 is valid for
    differences in [-1, 1], so it assumes e_t ≤ 1.

    Parameters
    ----------
    n_steps : int, default=0
        Number of steps.
    total_bound, total_excess : float, default=0.0
        Sums of their bounds and of their excesses.
    n_void : int, default=0
        Number of steps whose bound was void.
    total_loss : float, default=0.0
        Sum of the expected mistakes ℓ_t. A label of a class not known before is certainly a mistake: ℓ_t = 1.

    Examples
    --------
    >>> bound = MistakeBound(n_steps=100, total_bound=30.0, total_loss=25.0)
    >>> bound.holds, round(bound.mistakes(delta=0.05), 2), round(bound.rate(delta=0.05), 4)
    (True, 54.48, 0.5448)
    >>> bound = MistakeBound(n_steps=100, total_bound=30.0, total_loss=40.0)
    >>> bound.holds, round(bound.mistakes(delta=0.05), 2)
    (False, 64.48)
    """

    def __init__(
        self,
        n_steps: int = 0,
        total_bound: float = 0.0,
        total_excess: float = 0.0,
        n_void: int = 0,
        total_loss: float = 0.0,
    ) -> None:
        self._sums = np.array([n_steps, total_bound, total_excess, n_void, total_loss], np.float64)

    @property
    def n_steps(self) -> int:
        """Number of steps."""
        return int(self._sums[N_STEPS])

    @property
    def total_bound(self) -> float:
        """Sum of their bounds."""
        return float(self._sums[TOTAL_BOUND])

    @property
    def total_excess(self) -> float:
        """Sum of their excesses."""
        return float(self._sums[TOTAL_EXCESS])

    @property
    def n_void(self) -> int:
        """Number of steps whose bound was void."""
        return int(self._sums[N_VOID])

    @property
    def total_loss(self) -> float:
        """Sum of their expected mistakes."""
        return float(self._sums[TOTAL_LOSS])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The sums, which may be replaced by an array with the same values."""
        return (self._sums,)

    @arrays.setter
    def arrays(self, arrays: Sequence[Any]) -> None:  # numpydoc ignore=GL08
        (self._sums,) = arrays

    def add(self, predictions: Predictions) -> None:
        """Add the bounds of rows that were predicted.

        Parameters
        ----------
        predictions : Predictions
            Predictions of a learner that bounds its error.
        """
        self.add_steps(predictions.charges, 1.0 - predictions.label_probabilities, int(predictions.is_void.sum()))
        for excess in predictions.excesses.tolist():
            self._sums[TOTAL_EXCESS] += excess

    def add_steps(self, charges: Vector, losses: Vector, n_void: int = 0) -> None:
        """Add steps without excess.

        Parameters
        ----------
        charges : ndarray of float
            The bound of each step; 1 if it was void.
        losses : ndarray of float
            The expected mistake of each step; 1 if the class of its label was not known.
        n_void : int, default=0
            Number of steps whose bound was void.
        """
        add_steps(self._sums, charges, losses)
        self._sums[N_VOID] += n_void

    @property
    def mean_excess(self) -> float:
        """Running mean of (φ_x - φ)_+: the correction to R(U_t) for instances that φ did not cover."""
        return self.total_excess / max(self.n_steps, 1)

    @property
    def holds(self) -> bool:
        """Whether the bounds held on average: the expected mistakes do not exceed their sum by more than rounding."""
        total = self.total_bound + self.total_excess
        return self.total_loss <= total + ROUNDING * (1.0 + total)

    def mistakes(self, delta: float) -> float:
        """Return the number of mistakes not exceeded with probability 1 - delta, on any stream.

        Parameters
        ----------
        delta : float
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            The number of mistakes.
        """
        real_number("delta", delta, above=0.0, below=1.0)
        deviation = math.sqrt(2.0 * self.n_steps * math.log(1.0 / delta))
        return min(max(self.total_bound + self.total_excess, self.total_loss) + deviation, float(self.n_steps))

    def rate(self, delta: float) -> float:
        """Return the bound on mistakes divided by the number of steps.

        Parameters
        ----------
        delta : float
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            Mistakes per step.
        """
        return self.mistakes(delta) / max(self.n_steps, 1)

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"sums": self._sums.copy()}

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        low = np.array([0.0, -MOST_COUNTED, 0.0, 0.0, 0.0])
        high = np.array([MOST_COUNTED, MOST_COUNTED, np.finfo(float).max, MOST_COUNTED, MOST_COUNTED])
        return {
            "sums": ArraySpec((5,), low=low, high=high, since=3, before=ArraySpec((4,), low=low[:4], high=high[:4]))
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned, or from a file of version 1 or 2, which has no sum of expected mistakes.

        That sum is then unknown and taken to be the sum of the bounds: for the steps before, the bound on mistakes
        is true if the bounds held on average.

        Parameters
        ----------
        state : dict of ndarray
            What `state` returned.
        """
        sums = state["sums"].astype(np.float64)
        unknown_loss = sums[TOTAL_BOUND] + sums[TOTAL_EXCESS]
        self._sums = sums if sums.size > TOTAL_LOSS else np.append(sums, unknown_loss)
