"""Mixtures of Gaussians that change with time, and streams drawn from them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftline.streams.preview import NotebookPreview
from driftline.streams.protocol import BLOCK_ROWS
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.integrals import normal_quantiles, quasirandom_points
from driftline.streams.synthetic.parameters import finite_array
from driftline.streams.synthetic.risk import ErrorProbability, error_of_linear_rule, error_of_rule
from driftline.types import Block, Labels, Matrix, Vector
from driftline.utils.validation import whole_number


class DriftingGaussians(ABC):
    """A distribution of instances and labels that changes with time and is a mixture of Gaussians at every time.

    Subclasses implement `components`; all other methods are computed from it. Row i of a stream is drawn at
    time t = i + 1. Labels are 0, 1, …, and the features of τ_t are those of the instance, without intercept. If `t` is
    an array, its axes are the first axes of the result.
    """

    __slots__ = ()

    @abstractmethod
    def components(self, times: Vector) -> GaussianComponents:
        """Return the components of the mixture.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations at those times.
        """

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.components(np.ones(1)).n_classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.components(np.ones(1)).n_features

    def label_probabilities(self, t: ArrayLike) -> Vector:
        """Return the true p_t(y).

        Parameters
        ----------
        t : float or array-like
            Time.

        Returns
        -------
        ndarray of shape (..., n_classes)
            Probability of each class.
        """
        times = finite_array("t", t)
        return _at_each(times, self.components(times.ravel()).label_probabilities())

    def expectations(self, t: ArrayLike) -> Vector:
        """Return the true τ_t = p_t(y) E[x | y].

        Parameters
        ----------
        t : float or array-like
            Time.

        Returns
        -------
        ndarray of shape (..., n_classes, n_features)
            A row for each class.
        """
        times = finite_array("t", t)
        return _at_each(times, self.components(times.ravel()).expectations())

    def class_means(self, t: ArrayLike) -> Vector:
        """Return the true E[x | y].

        Parameters
        ----------
        t : float or array-like
            Time.

        Returns
        -------
        ndarray of shape (..., n_classes, n_features)
            A row for each class; NaN if the class does not occur at that time.
        """
        with np.errstate(invalid="ignore"):
            means: Vector = self.expectations(t) / self.label_probabilities(t)[..., None]
        return means

    def linear_error(self, t: float, weights: ArrayLike, intercepts: ArrayLike | None = None) -> ErrorProbability:
        """Return the error probability of the rule argmax_y (weights_y·x + intercepts_y).

        The result is exact for two classes, and for one feature. Otherwise it is a numerical integral over at most
        ``n_classes - 2`` dimensions, with a standard error of about 1e-4 or less.

        Parameters
        ----------
        t : float
            Time.
        weights : array-like of shape (n_classes, n_features)
            A row for each class.
        intercepts : array-like of shape (n_classes,), optional
            A number for each class; 0 by default.

        Returns
        -------
        ErrorProbability
            The error probability at time t. Between classes with the same weights and intercept the rule chooses at
            random.
        """
        components = self._at(t)
        W = finite_array("weights", weights, (components.n_classes, components.n_features))
        b = np.zeros(len(W)) if intercepts is None else finite_array("intercepts", intercepts, (len(W),))
        return error_of_linear_rule(components, W, b)

    def rule_error(
        self, t: float, probabilities: Callable[[Matrix], Matrix], *, n_points: int = 2048, seed: int = 0
    ) -> ErrorProbability:
        """Return the error probability of a randomised rule ``x ↦ h(·|x)``, by Monte Carlo.

        The points are quasi-random. With two features the standard error is about 0.001, a third of that of
        independent random points; this advantage becomes smaller with more features.

        Parameters
        ----------
        t : float
            Time.
        probabilities : callable
            Function of instances (rows) that returns the probabilities of the labels 0, 1, … (columns), such as
            `predict_proba` of a model to which the classes were announced in this order (``classes=[0, 1]``).
        n_points : int, default=2048
            Number of instances of each component of the mixture, rounded up to a multiple of 16.
        seed : int, default=0
            Seed of the points: the same seed gives the same result.

        Returns
        -------
        ErrorProbability
            The error probability at time t.
        """
        n_points, seed = whole_number("n_points", n_points, at_least=1), whole_number("seed", seed, at_least=0)
        components = self._at(t)
        normals = normal_quantiles(quasirandom_points(components.n_features, n_points, seed))
        return error_of_rule(components, probabilities, normals)

    def stream(self, n_rows: int, *, seed: int) -> "SyntheticStream":
        """Return a stream of the rows of the times 1 to `n_rows`, which are drawn when they are read.

        Parameters
        ----------
        n_rows : int
            Length of the stream.
        seed : int
            Seed: the same seed gives the same stream, and a longer stream begins with the shorter one.

        Returns
        -------
        SyntheticStream
            The stream.
        """
        return SyntheticStream(self, n_rows, seed)

    def sample(self, n_steps: int, *, seed: int) -> tuple[Matrix, Labels]:
        """Return the instances and labels of the times 1 to `n_steps` as arrays: the same rows as `stream` gives.

        Parameters
        ----------
        n_steps : int
            Length of the stream.
        seed : int
            Seed: the same seed gives the same stream, and a longer stream begins with the shorter one.

        Returns
        -------
        X : ndarray of shape (n_steps, n_features)
            Instances.
        y : ndarray of shape (n_steps,)
            Labels.
        """
        blocks = list(self.stream(n_steps, seed=seed).blocks())
        return np.concatenate([block.rows for block in blocks]), np.concatenate([block.labels for block in blocks])

    def _at(self, t: float) -> GaussianComponents:
        return self.components(finite_array("t", t, ()).reshape(1))


@dataclass(frozen=True, slots=True)
class SyntheticStream(NotebookPreview):
    """A stream drawn from a known distribution, block by block, when it is read.

    Each block has its own random generator, made from the seed and the number of the block. So reading can start
    at any row, needs the memory of one block, and gives the same rows whatever the length of the stream.

    Attributes
    ----------
    distribution : DriftingGaussians
        The distribution; the times of the rows are 1, 2, …
    n_rows : int
        Number of rows.
    seed : int
        Seed.

    Examples
    --------
    >>> from driftline.streams import RotatingGaussians
    >>> stream = RotatingGaussians().stream(1_000_000, seed=0)
    >>> stream.columns, stream.n_rows, stream.classes().tolist()
    (('x0', 'x1'), 1000000, [0, 1])
    >>> block = next(stream.blocks(start=999_990))
    >>> block.rows.shape, block.times[-1]
    ((10, 2), np.float64(1000000.0))
    >>> stream.distribution.label_probabilities(block.times[-1])
    array([0.5, 0.5])
    """

    distribution: DriftingGaussians
    n_rows: int
    seed: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "n_rows", whole_number("the number of rows", self.n_rows, at_least=1))
        object.__setattr__(self, "seed", whole_number("seed", self.seed, at_least=0))

    @property
    def name(self) -> str:
        """Name of the class of the distribution."""
        return type(self.distribution).__name__

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: x0, x1 and so on."""
        return tuple(f"x{j}" for j in range(self.distribution.n_features))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Draw the rows block by block.

        Parameters
        ----------
        start : int, default=0
            Position of the first row to draw.

        Yields
        ------
        Block
            At most `BLOCK_ROWS` rows.
        """
        start = whole_number("start", start, at_least=0)
        while start < self.n_rows:
            number, skipped = divmod(start, BLOCK_ROWS)
            block = self._block(number)
            part = slice(skipped, self.n_rows - number * BLOCK_ROWS)
            yield block.part(part)
            start = (number + 1) * BLOCK_ROWS

    def classes(self) -> Labels:
        """Return the distinct labels, sorted; draws rows until every class has occurred.

        Returns
        -------
        ndarray
            The labels.
        """
        seen = np.empty(0, np.int64)
        for block in self.blocks():
            seen = np.union1d(seen, block.labels)
            if seen.size == self.distribution.n_classes:
                break
        return seen

    def _block(self, number: int) -> Block:
        """Draw a whole block; a shorter stream uses the beginning of it."""
        seeds = np.random.SeedSequence(self.seed, spawn_key=(number,))
        times = np.arange(1.0, BLOCK_ROWS + 1.0) + number * BLOCK_ROWS
        components = self.distribution.components(times)
        # PCG64 by name: numpy may change its default generator.
        return Block(*components.draw(BLOCK_ROWS, np.random.Generator(np.random.PCG64(seeds))), times)


def _at_each(times: Vector, values: Vector) -> Vector:
    """Return one value for each time, with the axes of the times first; a single value is repeated for all times."""
    return np.array(np.broadcast_to(values, (times.size, *values.shape[1:]))).reshape(times.shape + values.shape[1:])
