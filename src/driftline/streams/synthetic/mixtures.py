"""Distributions that change with time and are known at every step: mixtures of Gaussians."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftline.streams.protocol import BLOCK_ROWS
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.integrals import even_points, quantiles
from driftline.streams.synthetic.parameters import numbers
from driftline.streams.synthetic.risk import ErrorProbability, error_of_linear_rule, error_of_rule
from driftline.types import Block, Labels, Matrix, Vector
from driftline.utils.validation import whole_number


class DriftingGaussians(ABC):
    """A distribution of instances and labels that is a mixture of Gaussians at every time.

    To make one, say what its `components` are; everything else follows from them. Row i of a stream is drawn at
    time t = i + 1. Labels are 0, 1, …, and the features of τ_t are those of the instance, without intercept. Where
    `t` may be an array, the answer has its axes first.
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
        times = numbers("t", t)
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
        times = numbers("t", t)
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
            A row for each class, of NaN if the class does not occur at that time.
        """
        with np.errstate(invalid="ignore"):
            means: Vector = self.expectations(t) / self.label_probabilities(t)[..., None]
        return means

    def linear_error(self, t: float, weights: ArrayLike, intercepts: ArrayLike | None = None) -> ErrorProbability:
        """Return the error probability of the rule argmax_y (weights_y·x + intercepts_y).

        In closed form for two classes, and for one feature. Else it is an integral over at most as many dimensions
        as there are classes less two, done numerically, with a standard error of about 1e-4 or less.

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
            The error probability at time t. Between classes with the same row and intercept the rule is taken to
            guess.
        """
        components = self._at(t)
        W = numbers("weights", weights, (components.n_classes, components.n_features))
        b = np.zeros(len(W)) if intercepts is None else numbers("intercepts", intercepts, (len(W),))
        return error_of_linear_rule(components, W, b)

    def rule_error(
        self, t: float, probabilities: Callable[[Matrix], Matrix], *, n_points: int = 2048, seed: int = 0
    ) -> ErrorProbability:
        """Return the error probability of a randomised rule ``x ↦ h(·|x)``, by Monte Carlo.

        The points are random but spread evenly. In the plane their standard error is about 0.001, a third of that
        of independent ones; the more features, the closer it comes to that.

        Parameters
        ----------
        t : float
            Time.
        probabilities : callable
            From instances, one a row, to the probabilities of the labels 0, 1, …, one a column: `predict_proba` of a
            model that was told of its classes (``classes=[0, 1]``) and so has them in this order.
        n_points : int, default=2048
            Number of instances of each component of the mixture, rounded up to a multiple of 16.
        seed : int, default=0
            Seed of the points: the same seed gives the same answer.

        Returns
        -------
        ErrorProbability
            The error probability at time t.
        """
        n_points, seed = whole_number("n_points", n_points, at_least=1), whole_number("seed", seed, at_least=0)
        components = self._at(t)
        normals = quantiles(even_points(components.n_features, n_points, seed))
        return error_of_rule(components, probabilities, normals)

    def stream(self, n_rows: int, *, seed: int) -> "SyntheticStream":
        """Return the rows of the times 1 to `n_rows` as a stream, drawn as they are read.

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
        """Draw the instances and labels of the times 1 to `n_steps`: the rows of `stream`, in memory.

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
        return self.components(numbers("t", t, ()).reshape(1))


@dataclass(frozen=True, slots=True)
class SyntheticStream:
    """A stream drawn from a known distribution, block by block, as it is read.

    Each block has a random generator of its own, made from the seed and the number of the block. So reading can
    begin anywhere, takes the memory of one block, and gives the same rows however long the stream is.

    Attributes
    ----------
    distribution : DriftingGaussians
        Where the rows come from: it knows the truth at each time, and the times of the rows are 1, 2, …
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
        """Refuse parameters that cannot work."""
        object.__setattr__(self, "n_rows", whole_number("the number of rows", self.n_rows, at_least=1))
        object.__setattr__(self, "seed", whole_number("seed", self.seed, at_least=0))

    @property
    def name(self) -> str:
        """The name of the distribution."""
        return type(self.distribution).__name__

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, x0, x1 and so on."""
        return tuple(f"x{j}" for j in range(self.distribution.n_features))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Draw the rows a block at a time.

        Parameters
        ----------
        start : int, default=0
            Position of the row to begin with.

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
        """Return the labels that occur, sorted; reads on until all have come.

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
        """Draw a whole block, of which a shorter stream uses the beginning."""
        seeds = np.random.SeedSequence(self.seed, spawn_key=(number,))
        times = np.arange(1.0, BLOCK_ROWS + 1.0) + number * BLOCK_ROWS
        components = self.distribution.components(times)
        # PCG64 by name: numpy may come to mean something else by its default generator.
        return Block(*components.draw(BLOCK_ROWS, np.random.Generator(np.random.PCG64(seeds))), times)


def _at_each(times: Vector, values: Vector) -> Vector:
    """Return what holds at each of the times, or at all of them, with the axes of the times first."""
    return np.array(np.broadcast_to(values, (times.size, *values.shape[1:]))).reshape(times.shape + values.shape[1:])
