"""Performance guarantees: accumulated mistakes, and the terms that need the true distribution.

Theorem 1 of the paper: ``R(h_t) ≤ R(U_t) + α_t`` and ``R(h_t) ≤ R∞_t + β_t``, and with probability at least
1 - δ the mistakes of the randomised rule in T steps are at most ``Σ R(U_t) + Σ α_t + √(2T log(1/δ))``.
(The paper chains the first two. Its proof gives each; ``R(U_t) + α_t ≤ R∞_t + β_t`` fails for some sets that
do not contain the truth.)
"""

import math
from dataclasses import dataclass

import numpy as np

from driftline.errors import ConfigError
from driftline.solvers import ExactSolver
from driftline.types import Flags, Matrix, Said, Solution, State, Status, UncertaintySet, Vector

CERTAIN_MISTAKE = 1.0


def is_void(said: Said) -> Flags:
    """Return whether the bound of each step says nothing: its set was empty, or its label's class not known.

    Parameters
    ----------
    said : Said
        What was said of some instances, and their labels.

    Returns
    -------
    ndarray of bool
        Whether it is void.
    """
    empty: Flags = np.array([status is Status.EMPTY for status in said.statuses])
    return said.is_new_class | empty


def charge(said: Said) -> tuple[Vector, Vector]:
    """Return what each step adds to the bound on accumulated mistakes: for its bound, and for its excess.

    Parameters
    ----------
    said : Said
        What was said of some instances, and their labels.

    Returns
    -------
    bounds, excesses : ndarray
        The first are at most one mistake; the second are not, or they would not make up for what φ leaves out.
    """
    return np.where(is_void(said), CERTAIN_MISTAKE, np.minimum(said.rates, CERTAIN_MISTAKE)), said.excesses


@dataclass
class MistakeLedger:
    """Sums over the steps so far what the bounds on accumulated mistakes need.

    A step counts as a certain mistake where its R(U_t) bounds nothing: the uncertainty set was empty on
    the stored instances, or the label was of a class not known before. To each R(U_t) the excess e_t of its
    instance is added, because E[1{mistake} - e_t] ≤ R(U_t) whatever φ covers; all of it, since instances with a
    large excess make up for others. The deviation of Theorem 1 allows for differences in [-1, 1], so it is that of
    e_t ≤ 1.

    Attributes
    ----------
    n_steps, total_bound, total_excess, n_void
        Number of steps; sums of their bounds and of their excesses; number of those that bounded nothing.

    Examples
    --------
    >>> ledger = MistakeLedger(n_steps=100, total_bound=30.0)
    >>> round(ledger.mistakes(delta=0.05), 2), round(ledger.rate(delta=0.05), 4)
    (54.48, 0.5448)
    """

    n_steps: int = 0
    total_bound: float = 0.0
    total_excess: float = 0.0
    n_void: int = 0

    def add(self, said: Said) -> None:
        """Count some steps.

        Parameters
        ----------
        said : Said
            What was said of some instances, and their labels.
        """
        bounds, excesses = charge(said)
        self.n_steps += len(bounds)
        self.n_void += int(is_void(said).sum())
        # One after the other, so that it does not matter how steps are grouped.
        for bound, excess in zip(bounds.tolist(), excesses.tolist(), strict=True):
            self.total_bound += bound
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
        if not 0.0 < delta < 1.0:
            raise ConfigError(f"delta must lie strictly between 0 and 1; got {delta}")
        deviation = math.sqrt(2.0 * self.n_steps * math.log(1.0 / delta))
        return min(self.total_bound + self.total_excess + deviation, float(self.n_steps))

    def rate(self, delta: float) -> float:
        """Return the bound on mistakes for each step.

        Parameters
        ----------
        delta : float
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            Mistakes a step.
        """
        return self.mistakes(delta) / max(self.n_steps, 1)

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
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


def alpha(truth: Matrix, uncertainty: UncertaintySet, weights: Matrix) -> float:
    """Return ``α_t = ‖|τ - τ̂| - λ‖_∞ ‖μ‖₁``, or 0 where the uncertainty set contains the truth.

    Parameters
    ----------
    truth : ndarray of shape (n_classes, n_features)
        The true expectations τ.
    uncertainty : UncertaintySet
        The set that the rule was learned from.
    weights : ndarray of shape (n_classes, n_features)
        The weights μ of the rule.

    Returns
    -------
    float
        By how much R(U_t) may fail.
    """
    shortfall = np.abs(truth - uncertainty.mean) - uncertainty.width
    if np.all(shortfall <= 0):
        return 0.0
    return float(np.abs(shortfall).max() * np.abs(weights).sum())


def beta(truth: Matrix, uncertainty: UncertaintySet, weights: Matrix, optimal_weights: Matrix) -> float:
    """Return ``β_t = (‖τ - τ̂‖_∞ + ‖λ‖_∞)‖μ∞ - μ‖₁``, or ``2‖λ‖_∞‖μ∞‖₁`` where the set contains the truth.

    Parameters
    ----------
    truth, uncertainty, weights
        As in `alpha`.
    optimal_weights : ndarray of shape (n_classes, n_features)
        The weights μ∞ of `smallest_minimax_risk`.

    Returns
    -------
    float
        By how much the rule may be worse than R∞_t.
    """
    error = np.abs(truth - uncertainty.mean)
    if np.all(error <= uncertainty.width):
        return float(2.0 * uncertainty.width.max() * np.abs(optimal_weights).sum())
    reach = error.max() + uncertainty.width.max()
    return float(reach * np.abs(optimal_weights - weights).sum())


def smallest_minimax_risk(truth: Matrix, instances: Matrix) -> Solution:
    """Return R∞_t and its rule: the minimax risk when the expectations τ_t are known exactly.

    Parameters
    ----------
    truth : ndarray of shape (n_classes, n_features)
        The true expectations τ.
    instances : ndarray of shape (n_instances, n_features)
        Feature vectors of the instances that φ is the maximum over.

    Returns
    -------
    Solution
        The optimal minimax rule, its risk and status.
    """
    solver = ExactSolver(instances.shape[1], n_instances=len(instances))
    for _ in truth:
        solver.add_class()
    for psi in instances:
        solver.observe(psi)
    return solver.solve(UncertaintySet(mean=truth, width=np.zeros_like(truth)))
