"""Synthetic distributions with Gaussian classes that move steadily or stand still."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from driftline.errors import ConfigError
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.mixtures import DriftingGaussians
from driftline.streams.synthetic.parameters import finite_array
from driftline.types import Matrix, Vector
from driftline.utils.validation import whole_number

RADIUS = 4.0
"""Distance of the class means from the origin in the paper's stream; the other streams use the same scale."""
VARIANCE = 2.0
"""Variance of the features in the paper's stream."""


@dataclass(frozen=True, slots=True)
class RotatingGaussians(DriftingGaussians):
    """The paper's synthetic stream: Gaussian classes whose means move back and forth on a circle.

    At time t = 1, 2, … the label is y ∈ {1, 2} with probability 1/2 each, and the instance is Gaussian
    with mean ``4 [cos, sin](π((cos(ωt) - 3)/2 + y))`` and variance 2 in both coordinates. Labels are
    returned as 0 and 1. With c classes, each y ∈ {1, …, c} has probability 1/c, and y is replaced by 2y/c in
    the mean.

    Attributes
    ----------
    angular_rate : float, default=0.1
        ω.
    n_classes : int, default=2
        Number of classes c, two in the paper.

    Examples
    --------
    >>> stream = RotatingGaussians()
    >>> X, y = stream.sample(1000, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 2), [0, 1])
    >>> stream.class_means(1).round(2)
    array([[ 4.  , -0.03],
           [-4.  ,  0.03]])
    >>> error = stream.linear_error(1, weights=[[1, 0], [-1, 0]])
    >>> round(error.value, 6), error.standard_error
    (0.00234, 0.0)
    """

    angular_rate: float = 0.1
    n_classes: int = 2

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "angular_rate", float(finite_array("angular_rate", self.angular_rate, ())))
        whole_number("n_classes", self.n_classes, at_least=2)

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components, one for each class.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations at those times.
        """
        place = 2.0 * np.arange(1.0, self.n_classes + 1.0) / self.n_classes
        swing = (np.cos(self.angular_rate * times) - 3.0) / 2.0
        return _equally_likely(_on_circle(np.pi * (swing[:, None] + place)))


@dataclass(frozen=True, slots=True)
class MovingClass(DriftingGaussians):
    """One class moves and the others stand still, as in the paper's first figure.

    Class 0 moves around the others at constant speed: the best rule keeps changing, although only one class mean
    changes. A learner with the same rate of change for all classes either forgets the ones that stand still, or lags
    behind the one that moves.

    With two classes, class 1 is at the origin and class 0 moves around it at distance 4. With more classes, classes
    1, 2, … are on a circle of radius 4 and class 0 moves on a circle of radius 8. All classes are equally likely, and
    their features have variance 2.

    Attributes
    ----------
    angular_rate : float, default=0.01
        Angle in radians by which class 0 moves at each step.
    n_classes : int, default=2
        Number of classes.

    Examples
    --------
    >>> stream = MovingClass(n_classes=3)
    >>> stream.class_means([1, 100]).round(1)
    array([[[ 8. ,  0.1],
            [ 4. ,  0. ],
            [-4. ,  0. ]],
    <BLANKLINE>
           [[ 4.3,  6.7],
            [ 4. ,  0. ],
            [-4. ,  0. ]]])
    """

    angular_rate: float = 0.01
    n_classes: int = 2

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "angular_rate", float(finite_array("angular_rate", self.angular_rate, ())))
        whole_number("n_classes", self.n_classes, at_least=2)

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components, one for each class.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations at those times.
        """
        n_standing = self.n_classes - 1
        standing = _on_circle(2.0 * np.pi * np.arange(n_standing) / n_standing)
        inner = 0.0 if n_standing == 1 else 1.0
        means = np.empty((times.size, self.n_classes, 2))
        means[:, 0] = (1.0 + inner) * _on_circle(self.angular_rate * times)
        means[:, 1:] = inner * standing
        return _equally_likely(means)


@dataclass(frozen=True, slots=True)
class DriftingFeatures(DriftingGaussians):
    """Each feature drifts at its own rate.

    Feature j of class y has mean ``a cos(rates_j t + 2πy/c + πj/d)`` at time t, for y = 0, …, c - 1 and
    j = 0, …, d - 1, with ``a = 4 √(2/d)``, and variance 2; classes are equally likely. The last term of the
    angle shifts the features against each other, so that classes do not overlap in all features at once: if all
    rates are equal, and there are two features or more, the means stay at distance 4 from the origin.

    A learner with one rate of change for all features forgets the slow ones or lags behind the fast ones.

    Attributes
    ----------
    rates : sequence of float, default=(0.0, 0.001, 0.01, 0.1)
        Angle in radians by which each feature moves at each step; one number for each feature.
    n_classes : int, default=2
        Number of classes c.

    Examples
    --------
    >>> stream = DriftingFeatures(rates=(0.0, 0.1))
    >>> stream.class_means([0, 10]).round(1)
    array([[[ 4. ,  0. ],
            [-4. , -0. ]],
    <BLANKLINE>
           [[ 4. , -3.4],
            [-4. ,  3.4]]])
    """

    rates: ArrayLike = (0.0, 0.001, 0.01, 0.1)
    n_classes: int = 2

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "rates", tuple(finite_array("rates", self.rates, (None,)).tolist()))
        whole_number("n_classes", self.n_classes, at_least=2)

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components, one for each class.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations at those times.
        """
        rates = np.asarray(self.rates)
        classes = 2.0 * np.pi * np.arange(self.n_classes) / self.n_classes
        features = np.pi * np.arange(rates.size) / rates.size
        angles = times[:, None, None] * rates + classes[:, None] + features
        return _equally_likely(RADIUS * np.sqrt(2.0 / rates.size) * np.cos(angles))


@dataclass(frozen=True, slots=True)
class GaussianClasses(DriftingGaussians):
    """Gaussian classes that stand still: a concept, for streams that change from one concept to another.

    Attributes
    ----------
    means : array-like of shape (n_classes, n_features)
        Mean of each class.
    deviations : float or array-like of shape (n_features,) or (n_classes, n_features), default=1.0
        Standard deviations of the features, which are independent within a class.
    probabilities : array-like of shape (n_classes,), optional
        Probability of each class; equal by default. A class of probability 0 does not occur.

    Examples
    --------
    >>> concept = GaussianClasses([[0.0, 0.0], [3.0, 0.0]], deviations=[1.0, 5.0], probabilities=[0.9, 0.1])
    >>> concept.expectations(1)
    array([[0. , 0. ],
           [0.3, 0. ]])
    >>> GaussianClasses.on_circle(4).class_means(1).round(2) + 0.0
    array([[ 4.,  0.],
           [ 0.,  4.],
           [-4.,  0.],
           [ 0., -4.]])
    """

    means: ArrayLike
    deviations: ArrayLike = 1.0
    probabilities: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        # Tuples, so that concepts with equal numbers are equal, and cannot be changed.
        means = finite_array("means", self.means, (None, None))
        deviations = finite_array("deviations", self.deviations)
        if deviations.shape not in ((), means.shape[1:], means.shape) or not np.all(deviations > 0.0):
            raise ConfigError(
                f"deviations must be positive: one number, one for each of the {means.shape[1]} features, or one row "
                f"of features for each of the {len(means)} classes; got {self.deviations!r}"
            )
        object.__setattr__(self, "means", _as_tuples(means))
        object.__setattr__(self, "deviations", _as_tuples(np.broadcast_to(deviations, means.shape)))
        if self.probabilities is not None:
            p = finite_array("probabilities", self.probabilities, (len(means),))
            if np.any(p < 0.0) or abs(p.sum() - 1.0) > 1e-9:
                raise ConfigError(f"probabilities must not be negative and must sum to 1; got {self.probabilities!r}")
            object.__setattr__(self, "probabilities", tuple((p / p.sum()).tolist()))

    @classmethod
    def on_circle(cls, n_classes: int = 2, *, turn: float = 0.0) -> Self:
        """Return equally likely classes of variance 2, at equal distances on a circle of radius 4.

        With ``turn=1/n_classes`` each class has the place of the next one: the instances have the same distribution as
        without, but other labels.

        Parameters
        ----------
        n_classes : int, default=2
            Number of classes.
        turn : float, default=0.0
            Angle from the first axis to class 0, as a fraction of a full turn.

        Returns
        -------
        GaussianClasses
            The concept.
        """
        whole_number("n_classes", n_classes, at_least=2)
        angles = 2.0 * np.pi * (np.arange(n_classes) / n_classes + finite_array("turn", turn, ()))
        return cls(_on_circle(angles), np.sqrt(VARIANCE))

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components, one for each class.

        Parameters
        ----------
        times : ndarray of shape (n,)
            Times; the components are the same at all of them.

        Returns
        -------
        GaussianComponents
            Weights, means and deviations.
        """
        means = np.asarray(self.means)[None]
        c = means.shape[1]
        p = np.full(c, 1.0 / c) if self.probabilities is None else np.asarray(self.probabilities)
        return GaussianComponents(np.arange(c), p[None], means, np.asarray(self.deviations)[None])


def _on_circle(angles: Vector) -> Vector:
    return RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _equally_likely(means: Vector) -> GaussianComponents:
    """Return one component for each class, all with the same weight and the paper's variance."""
    c = means.shape[1]
    deviations = np.full((1, c, 1), np.sqrt(VARIANCE))
    return GaussianComponents(np.arange(c), np.full((1, c), 1.0 / c), means, deviations)


def _as_tuples(matrix: Matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))
