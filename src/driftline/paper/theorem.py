"""The terms of Theorem 1 that depend on the true distribution.

``R(h_t) ≤ R(U_t) + α_t`` and ``R(h_t) ≤ R∞_t + β_t``, and with probability at least 1 - δ the mistakes of the
randomised rule in T steps are at most ``Σ R(U_t) + Σ α_t + √(2T log(1/δ))``. (The paper writes
``R(h_t) ≤ R(U_t) + α_t ≤ R∞_t + β_t``. Its proof shows the first two inequalities; ``R(U_t) + α_t ≤ R∞_t + β_t`` is
false for some sets that do not contain the true expectations.)
"""

import numpy as np

from driftline.paper.exact_solver import ExactSolver
from driftline.types import Matrix, Solution, UncertaintySet


def alpha(truth: Matrix, uncertainty: UncertaintySet, weights: Matrix) -> float:
    """Return ``α_t = ‖|τ - τ̂| - λ‖_∞ ‖μ‖₁``, or 0 if the uncertainty set contains the truth.

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
        The largest amount by which the error may exceed R(U_t).
    """
    shortfall = np.abs(truth - uncertainty.mean) - uncertainty.width
    if np.all(shortfall <= 0):
        return 0.0
    return float(np.abs(shortfall).max() * np.abs(weights).sum())


def beta(truth: Matrix, uncertainty: UncertaintySet, weights: Matrix, optimal_weights: Matrix) -> float:
    """Return ``β_t = (‖τ - τ̂‖_∞ + ‖λ‖_∞)‖μ∞ - μ‖₁``, or ``2‖λ‖_∞‖μ∞‖₁`` if the set contains the truth.

    Parameters
    ----------
    truth, uncertainty, weights
        As in `alpha`.
    optimal_weights : ndarray of shape (n_classes, n_features)
        The weights μ∞ of `smallest_minimax_risk`.

    Returns
    -------
    float
        The largest amount by which the error may exceed R∞_t.
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
        Feature vectors of the instances over which φ is the maximum.

    Returns
    -------
    Solution
        The optimal minimax rule, its risk and status.
    """
    solver = ExactSolver(instances.shape[1], n_instances=len(instances))
    for _ in truth:
        solver.add_classes(1)
    for psi in instances:
        solver.observe(psi)
    return solver.solve(UncertaintySet(mean=truth, width=np.zeros_like(truth)))
