"""Synthetic distributions that change from one concept to another, or whose classes disappear and return."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from driftline.errors import ConfigError
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.gaussians import GaussianClasses
from driftline.streams.synthetic.mixtures import DriftingGaussians
from driftline.streams.synthetic.parameters import finite_array
from driftline.types import Labels, Vector
from driftline.utils.validation import whole_number

OPPOSITE_LABELS = GaussianClasses.on_circle(2), GaussianClasses.on_circle(2, turn=0.5)
"""Two concepts with the same instances and opposite labels."""
THREE_CLASSES = GaussianClasses.on_circle(3)
"""A concept with three classes."""


class ConceptMixture(DriftingGaussians):
    """A distribution whose rows each come from one of several concepts, with probabilities that change with time.

    Attributes
    ----------
    concepts : sequence of DriftingGaussians
        The concepts, with the same numbers of classes and features. Each may itself drift.
    """

    __slots__ = ()
    concepts: Sequence[DriftingGaussians]

    @abstractmethod
    def _shares(self, times: Vector) -> Vector:
        """Return the probability of each concept, with the axes of the times first."""

    def concept_probabilities(self, t: ArrayLike) -> Vector:
        """Return the probability that a row comes from each concept.

        Parameters
        ----------
        t : float or array-like
            Time.

        Returns
        -------
        ndarray of shape (..., n_concepts)
            The probabilities.
        """
        return self._shares(finite_array("t", t))

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components of all concepts in one mixture.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations at those times.
        """
        shares = self._shares(times)
        parts = [concept.components(times) for concept in self.concepts]
        weights = [shares[:, [k]] * part.weights for k, part in enumerate(parts)]
        return GaussianComponents(
            np.concatenate([part.labels for part in parts]),
            np.concatenate(weights, axis=1),
            _side_by_side([part.means for part in parts]),
            _side_by_side([part.deviations for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class AbruptDrift(ConceptMixture):
    """One concept replaces another from one row to the next.

    It shows how fast a learner recovers, and how its bound behaves meanwhile.

    Attributes
    ----------
    concepts : sequence of DriftingGaussians, default: two classes that exchange places
        The concepts in order, with the same numbers of classes and features. Each may itself drift.
    at : sequence of int, default=(5000,)
        Number of rows before each change: ``X[at]`` is the first row of the next concept.

    Examples
    --------
    >>> c = 5
    >>> stream = AbruptDrift([GaussianClasses.on_circle(c), GaussianClasses.on_circle(c, turn=1 / c)], at=[1000])
    >>> stream.concept_probabilities([1000, 1001])
    array([[1., 0.],
           [0., 1.]])
    """

    concepts: Sequence[DriftingGaussians] = OPPOSITE_LABELS
    at: Sequence[int] = (5000,)

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "concepts", _checked_concepts(self.concepts))
        object.__setattr__(self, "at", _checked_positions(self.at, len(self.concepts), apart=1))

    def _shares(self, times: Vector) -> Vector:
        return _successive_shares((times[..., None] > self.at).astype(np.float64))


@dataclass(frozen=True, slots=True)
class GradualDrift(ConceptMixture):
    """One concept replaces another over a period in which rows come from both.

    The probability of the new concept rises linearly from 0 to 1. Each row comes from the old or the new concept, so
    a class may be in two places at once.

    Attributes
    ----------
    concepts : sequence of DriftingGaussians, default: two classes that exchange places
        The concepts in order, with the same numbers of classes and features. Each may itself drift.
    at : sequence of int, default=(5000,)
        Number of rows before each change begins.
    width : int, default=1000
        Number of rows that each change takes.

    Examples
    --------
    >>> GradualDrift(at=[100], width=4).concept_probabilities([100, 101, 102, 103, 104])
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.5 , 0.5 ],
           [0.25, 0.75],
           [0.  , 1.  ]])
    """

    concepts: Sequence[DriftingGaussians] = OPPOSITE_LABELS
    at: Sequence[int] = (5000,)
    width: int = 1000

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "concepts", _checked_concepts(self.concepts))
        width = whole_number("width", self.width, at_least=1)
        object.__setattr__(self, "at", _checked_positions(self.at, len(self.concepts), apart=width))

    def _shares(self, times: Vector) -> Vector:
        return _successive_shares(np.clip((times[..., None] - self.at) / self.width, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class RecurringDrift(ConceptMixture):
    """Concepts alternate in a fixed order, without end.

    It shows whether a learner benefits from having seen a concept before.

    Attributes
    ----------
    concepts : sequence of DriftingGaussians, default: two classes that exchange places
        The concepts in order, with the same numbers of classes and features. Each may itself drift.
    period : int, default=1000
        Number of rows before the next concept begins.

    Examples
    --------
    >>> RecurringDrift(period=100).concept_probabilities([100, 101, 200, 201])
    array([[1., 0.],
           [0., 1.],
           [0., 1.],
           [1., 0.]])
    """

    concepts: Sequence[DriftingGaussians] = OPPOSITE_LABELS
    period: int = 1000

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "concepts", _checked_concepts(self.concepts))
        whole_number("period", self.period, at_least=1)

    def _shares(self, times: Vector) -> Vector:
        return np.eye(len(self.concepts))[_period_index(times, self.period, len(self.concepts))]


@dataclass(frozen=True, slots=True)
class ReoccurringClasses(DriftingGaussians):
    """Classes disappear and return.

    While a class is absent its p_t(y) is 0, and the probabilities of the other classes grow in proportion. It shows
    whether a learner still knows a class that has long been absent, and does not predict it meanwhile.

    Attributes
    ----------
    concept : DriftingGaussians, default: three classes on a circle
        The distribution of all classes. It may itself drift, also for classes that are absent.
    present : sequence of sequences of int, default=((0, 1, 2), (0, 1))
        Labels that occur in the first period, in the second and so on; the last period is followed by the first.
    period : int, default=1000
        Number of rows in a period.

    Examples
    --------
    >>> ReoccurringClasses().label_probabilities([1000, 1001, 2001]).round(3)
    array([[0.333, 0.333, 0.333],
           [0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333]])
    """

    concept: DriftingGaussians = THREE_CLASSES
    present: Sequence[Sequence[int]] = ((0, 1, 2), (0, 1))
    period: int = 1000

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.concept, DriftingGaussians):
            raise ConfigError(f"concept must be a synthetic distribution such as GaussianClasses; got {self.concept!r}")
        object.__setattr__(self, "present", _checked_labels(self.present, self.concept.n_classes))
        whole_number("period", self.period, at_least=1)

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components of the concept, with weight 0 for classes that are absent.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations at those times.
        """
        parts = self.concept.components(times)
        occurs = np.array([np.isin(parts.labels, labels) for labels in self.present])
        weights = parts.weights * occurs[_period_index(times, self.period, len(self.present))]
        totals = weights.sum(axis=1, keepdims=True)
        if not np.all(totals > 0.0):
            raise ConfigError(
                f"no class occurs at time {times[np.argmin(totals)]:g}: the classes in present have probability 0 in "
                "the concept; list others in present"
            )
        return GaussianComponents(parts.labels, weights / totals, parts.means, parts.deviations)


def _side_by_side(arrays: list[Vector]) -> Vector:
    """Concatenate arrays (times, components, features) by component; times and features of length 1 are repeated."""
    n, d = max(len(array) for array in arrays), max(array.shape[2] for array in arrays)
    return np.concatenate([np.broadcast_to(array, (n, array.shape[1], d)) for array in arrays], axis=1)


def _successive_shares(progress: Vector) -> Vector:
    """Return the probability of each concept, given the progress (0 to 1) of the change to each but the first."""
    edge = np.ones((*progress.shape[:-1], 1))
    reached = np.concatenate([edge, progress, 0.0 * edge], axis=-1)
    shares: Vector = reached[..., :-1] - reached[..., 1:]
    return shares


def _period_index(times: Vector, period: int, n: int) -> Labels:
    """Return which of n alternating periods each time is in."""
    index: Labels = ((times - 1.0) // period % n).astype(np.int64)
    return index


def _checked_concepts(concepts: Sequence[DriftingGaussians]) -> tuple[DriftingGaussians, ...]:
    concepts = tuple(concepts) if isinstance(concepts, Iterable) else (concepts,)
    if len(concepts) < 2 or not all(isinstance(concept, DriftingGaussians) for concept in concepts):
        raise ConfigError(
            f"concepts must be two or more synthetic distributions such as GaussianClasses; got {concepts!r}"
        )
    shapes = [(concept.n_classes, concept.n_features) for concept in concepts]
    if len(set(shapes)) > 1:
        listed = ", ".join(f"{c} and {d}" for c, d in shapes)
        raise ConfigError(f"concepts must have the same numbers of classes and features; got {listed}")
    return concepts


def _checked_positions(at: Sequence[int], n_concepts: int, *, apart: int) -> tuple[int, ...]:
    positions = tuple(at) if isinstance(at, Iterable) else (at,)
    if len(positions) != n_concepts - 1:
        raise ConfigError(
            f"at must have {n_concepts - 1} positions, one for each change between {n_concepts} concepts; got {at!r}"
        )
    checked = tuple(whole_number("each position in at", position, at_least=1) for position in positions)
    if any(later - earlier < apart for earlier, later in pairwise(checked)):
        raise ConfigError(f"positions in at must increase by {apart} or more, the width of a change; got {at!r}")
    return checked


def _checked_labels(present: Sequence[Sequence[int]], n_classes: int) -> tuple[tuple[int, ...], ...]:
    periods = present if isinstance(present, Iterable) else ()
    groups = tuple(tuple(group) if isinstance(group, Iterable) else () for group in periods)
    if not groups or not all(group and all(label in range(n_classes) for label in group) for group in groups):
        raise ConfigError(
            f"present must list, for each period, one or more of the labels 0 to {n_classes - 1}; got {present!r}"
        )
    return groups
