"""The bound on accumulated mistakes.

With probability at least 1 - δ the mistakes of the randomised rule in T steps are at most the sum of the bounds on its
error plus √(2T log(1/δ)), if those bounds hold on average (Theorem 1 of the paper).
"""

import math
from dataclasses import dataclass

import numpy as np

from driftline.types import Predictions, State
from driftline.utils.validation import real_number


@dataclass
class MistakeBound:
    """The bound on accumulated mistakes, from sums over the steps so far.

    A step whose bound R(U_t) is void counts as a certain mistake: the uncertainty set was empty on the stored
    instances, or the label was of a class not known before. The excess e_t of its instance is added to each R(U_t),
    because E[1{mistake} - e_t] ≤ R(U_t) also for instances that φ does not cover. The excess is not cut off, because
    instances with a large excess compensate for others. The term √(2T log(1/δ)) of Theorem 1 is valid for
    differences in [-1, 1], so it assumes e_t ≤ 1.

    Attributes
    ----------
    n_steps, total_bound, total_excess, n_void
        Number of steps; sums of their bounds and of their excesses; number of steps whose bound was void.

    Examples
    --------
    >>> bound = MistakeBound(n_steps=100, total_bound=30.0)
    >>> round(bound.mistakes(delta=0.05), 2), round(bound.rate(delta=0.05), 4)
    (54.48, 0.5448)
    """

    n_steps: int = 0
    total_bound: float = 0.0
    total_excess: float = 0.0
    n_void: int = 0

    def add(self, predictions: Predictions) -> None:
        """Add the bounds of rows that were predicted.

        Parameters
        ----------
        predictions : Predictions
            Predictions of a learner that bounds its error.
        """
        self.n_steps += len(predictions)
        self.n_void += int(predictions.is_void.sum())
        # One by one, so that the rounding of the sums does not depend on how rows are grouped.
        for charge, excess in zip(predictions.charges.tolist(), predictions.excesses.tolist(), strict=True):
            self.total_bound += charge
            self.total_excess += excess

    @property
    def mean_excess(self) -> float:
        """Running mean of (φ_x - φ)_+: the correction to R(U_t) for instances that φ did not cover."""
        return self.total_excess / max(self.n_steps, 1)

    def mistakes(self, delta: float) -> float:
        """Return the number of mistakes not exceeded with probability 1 - delta.

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
        return min(self.total_bound + self.total_excess + deviation, float(self.n_steps))

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
        return {"sums": np.array([self.n_steps, self.total_bound, self.total_excess, self.n_void])}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned.

        Parameters
        ----------
        state : dict of ndarray
            What `state` returned.
        """
        n_steps, self.total_bound, self.total_excess, n_void = state["sums"].tolist()
        self.n_steps, self.n_void = int(n_steps), int(n_void)
