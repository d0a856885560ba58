"""Applying a rule to instances: scores, probabilities, labels, excess."""

import numpy as np

from driftline.kernels.simplex import randomised_rule, support_value
from driftline.types import Labels, Matrix, Rule, Vector


def scores(rule: Rule, Psi: Matrix) -> Matrix:
    """Return s = μψ for each row ψ of Psi, a column for each class."""
    return Psi @ rule.weights.T


def probabilities(rule: Rule, Psi: Matrix) -> Matrix:
    """Return the randomised rule h(·|x) for each row of Psi.

    Examples
    --------
    >>> import numpy as np
    >>> rule = Rule(weights=np.array([[1.0], [0.4]]), offset=-np.inf)
    >>> probabilities(rule, np.array([[1.0], [0.0]]))
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """
    return randomised_rule(np.ascontiguousarray(scores(rule, Psi)), rule.offset)


def predict_indices(rule: Rule, Psi: Matrix) -> Labels:
    """Return the label of the deterministic rule, the largest score, for each row of Psi.

    If no score exceeds φ, the randomised rule is uniform, but the largest score still decides the label.
    """
    positions: Labels = np.argmax(scores(rule, Psi), axis=1)
    return positions


def excess(rule: Rule, psi: Vector) -> float:
    """Return (φ_x - φ)_+, the amount by which φ_x of the instance exceeds the rule's φ.

    The error bound ``1 - τᵀμ + λᵀ|μ| + φ`` holds for instances with φ_x ≤ φ; on average over all
    instances it holds after adding the mean of this excess, which needs no labels.
    """
    return max(support_value(rule.weights @ psi) - rule.offset, 0.0)
