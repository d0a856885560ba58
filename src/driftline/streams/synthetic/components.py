"""The components of a mixture of Gaussians."""

from dataclasses import dataclass

import numpy as np

from driftline.types import Labels, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class GaussianComponents:
    """The k components of a mixture of Gaussians at n times, in d features.

    Attributes
    ----------
    labels : ndarray of shape (k,)
        Label of each component: 0, 1, … Every class has a component; its weight is 0 while the class cannot occur.
    weights : ndarray of shape (n, k)
        Probability of each component. The length n is 1 if the weights are the same at all times; likewise for the
        means and deviations.
    means : ndarray of shape (n, k, d)
        Mean of each component.
    deviations : ndarray of shape (n, k, d)
        Standard deviations of the features, which are independent. The length d is 1 if they are all the same.
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
        """Return p(y) at each time, one row for each time.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities.
        """
        return self.weights @ self._membership()

    def expectations(self) -> Vector:
        """Return τ = p(y) E[x | y] at each time, one matrix for each time.

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
            Source of one uniform number for each row, then of d normal numbers for each row.

        Returns
        -------
        rows : ndarray of shape (n_rows, d)
            Instances.
        labels : ndarray of shape (n_rows,)
            Labels.
        """
        shape = n_rows, *self.means.shape[1:]
        cumulative = np.cumsum(self.weights, axis=1)
        # The uniform number is below 1, so its product is below the total: a component of weight 0 is never drawn.
        drawn = np.sum(cumulative <= rng.random((n_rows, 1)) * cumulative[:, -1:], axis=1)
        index = np.arange(n_rows), drawn
        noise = rng.standard_normal((n_rows, shape[2]))
        noise *= np.broadcast_to(self.deviations, shape)[index]
        return np.broadcast_to(self.means, shape)[index] + noise, self.labels[drawn]

    def _membership(self) -> Matrix:
        """Return the matrix with 1 where a component (row) has a label (column), else 0."""
        return np.eye(self.n_classes)[self.labels]
