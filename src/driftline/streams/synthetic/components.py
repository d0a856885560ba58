"""The Gaussians that a distribution is made of."""

from dataclasses import dataclass

import numpy as np

from driftline.types import Labels, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class GaussianComponents:
    """The k Gaussian components of a mixture at n times, in d features.

    Attributes
    ----------
    labels : ndarray of shape (k,)
        The label that comes with each component, from 0 up. Every class has a component, of weight 0 where it
        cannot occur.
    weights : ndarray of shape (n, k)
        Probability of each component; n may be 1 in this and the other two, for what stays the same.
    means : ndarray of shape (n, k, d)
        Mean of each.
    deviations : ndarray of shape (n, k, d)
        Standard deviations of its features, which are independent; d may be 1, for what is the same in all.
    """

    labels: Labels
    weights: Matrix
    means: Vector
    deviations: Vector

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.labels.max()) + 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.means.shape[2])

    def label_probabilities(self) -> Matrix:
        """Return p(y) at each time, a row each.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities.
        """
        return self.weights @ self._membership()

    def expectations(self) -> Vector:
        """Return τ = p(y) E[x | y] at each time, a matrix each.

        Returns
        -------
        ndarray of shape (n, n_classes, d)
            The expectations.
        """
        totals: Vector = np.einsum("nkd,kc->ncd", self.weights[:, :, None] * self.means, self._membership())
        return totals

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Matrix, Labels]:
        """Draw an instance and its label at each time.

        Parameters
        ----------
        n_rows : int
            Number of times.
        rng : Generator
            Source of one uniform number a row, and then of d normal ones.

        Returns
        -------
        rows : ndarray of shape (n_rows, d)
            Instances.
        labels : ndarray of shape (n_rows,)
            Labels.
        """
        shape = n_rows, *self.means.shape[1:]
        reached = np.cumsum(self.weights, axis=1)
        # A number below 1 times the total stays below the total: a component of weight 0 is never chosen.
        chosen = np.sum(reached <= rng.random((n_rows, 1)) * reached[:, -1:], axis=1)
        each = np.arange(n_rows), chosen
        noise = rng.standard_normal((n_rows, shape[2]))
        noise *= np.broadcast_to(self.deviations, shape)[each]
        return np.broadcast_to(self.means, shape)[each] + noise, self.labels[chosen]

    def _membership(self) -> Matrix:
        return np.eye(self.n_classes)[self.labels]
