"""Synthetic streams whose distribution is known at every step."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr

from driftline.types import Labels, Matrix, Vector

QUADRATURE_NODES = 48
"""Nodes a dimension of the Gauss-Hermite rule for expectations."""


@dataclass(frozen=True, slots=True)
class RotatingGaussians:
    """The paper's synthetic stream: two Gaussian classes whose means swing to and fro on a circle.

    At time t = 1, 2, … a label y ∈ {1, 2} comes with probability 1/2 each, and the instance is Gaussian
    with mean ``4 [cos, sin](π((cos(ωt) - 3)/2 + y))`` and variance 2 in both coordinates. Labels are
    returned as 0 and 1.

    Attributes
    ----------
    angular_rate : float, default=0.1
        ω.

    Examples
    --------
    >>> stream = RotatingGaussians()
    >>> X, y = stream.sample(1000, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 2), [0, 1])
    >>> stream.class_means(1).round(2)
    array([[ 4.  , -0.03],
           [-4.  ,  0.03]])
    """

    angular_rate: float = 0.1
    radius = 4.0
    variance = 2.0

    def class_means(self, t: float) -> Matrix:
        """Return E[x | y] at time t.

        Parameters
        ----------
        t : float
            Time.

        Returns
        -------
        ndarray of shape (2, 2)
            A row for each class.
        """
        angle = np.pi * ((np.cos(self.angular_rate * t) - 3.0) / 2.0 + np.array([1.0, 2.0]))
        return self.radius * np.column_stack([np.cos(angle), np.sin(angle)])

    def expectations(self, t: float) -> Matrix:
        """Return the true τ_t = p(y) E[x | y] of linear features without intercept.

        Parameters
        ----------
        t : float
            Time.

        Returns
        -------
        ndarray of shape (2, 2)
            A row for each class.
        """
        return self.class_means(t) / 2.0

    def sample(self, n_steps: int, *, seed: int) -> tuple[Matrix, Labels]:
        """Draw the instances and labels of the times 1 to `n_steps`.

        Parameters
        ----------
        n_steps : int
            Length of the stream.
        seed : int
            Seed: the same seed gives the same stream.

        Returns
        -------
        X : ndarray of shape (n_steps, 2)
            Instances.
        y : ndarray of shape (n_steps,)
            Labels.
        """
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, n_steps)
        noise = np.sqrt(self.variance) * rng.standard_normal((n_steps, 2))
        means = np.array([self.class_means(t)[label] for t, label in enumerate(labels, start=1)])
        return means.reshape(n_steps, 2) + noise, labels

    def linear_error(self, t: float, weights: Matrix) -> float:
        """Return the error probability of the rule argmax_y weights_y·x, in closed form.

        Parameters
        ----------
        t : float
            Time.
        weights : ndarray of shape (2, 2)
            A row for each class; equal rows give the error of guessing, 1/2.

        Returns
        -------
        float
            The error probability at time t.
        """
        normal = weights[1] - weights[0]
        length = float(np.linalg.norm(normal))
        if length == 0.0:
            return 0.5
        depth = self.class_means(t) @ normal / (length * np.sqrt(self.variance))
        return float(ndtr(depth[0]) + ndtr(-depth[1])) / 2.0

    def rule_error(self, t: float, probabilities: Callable[[Matrix], Matrix]) -> float:
        """Return the error probability of a randomised rule x ↦ h(·|x).

        By Gauss-Hermite quadrature of 1 - h(y|x), good to about 0.004 for the rules of minimax risk
        classifiers.

        Parameters
        ----------
        t : float
            Time.
        probabilities : callable
            From instances, one a row, to the probabilities of the two labels: a model's `predict_proba`.

        Returns
        -------
        float
            The error probability at time t.
        """
        nodes, masses = _standard_normal_plane()
        noise = np.sqrt(self.variance) * nodes
        wrong = [masses @ (1.0 - probabilities(mean + noise)[:, y]) for y, mean in enumerate(self.class_means(t))]
        return float(np.mean(wrong))


@cache
def _standard_normal_plane() -> tuple[Matrix, Vector]:
    """Return nodes in the plane and their masses, for expectations of a standard normal pair."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    grid = np.array(np.meshgrid(nodes, nodes)).reshape(2, -1).T
    return grid, np.outer(masses, masses).ravel() / masses.sum() ** 2
