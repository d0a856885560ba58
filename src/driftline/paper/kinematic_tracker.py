"""Multivariate tracking of order k (Alg. 3 and Theorem 2 of the paper)."""

import numpy as np

from driftline.core.schema import ArraySpec, Schema
from driftline.kernels.kalman import adapt_gains, correct, forecast_expectations, propagate, transition
from driftline.paper.label_window import LabelWindow
from driftline.types import LARGEST_VALUE, State, UncertaintySet, Vector

FORGETTING = 0.3
"""Weight α of the past in the noise adaptation (Akhlaghi et al., 2017), as in the authors' experiments."""
INITIAL_NOISE = 1e-3
"""Initial Q (times the identity) and R."""
FILTERS = ("eta", "Sigma", "Q", "R", "residual")


class KinematicTracker:
    """A Kalman filter of order k for each class and feature.

    Parameters
    ----------
    n_features : int
        Number d of instance features.
    order : int
        Number k of derivatives in a component's state.
    window : LabelWindow
        Estimates the label probabilities.
    unobserved : {"propagate", "hold"}
        What happens at a step to the classes other than that of its label. "propagate" is Theorem 2: they are
        extrapolated and their variance grows. "hold" does not change them: the forecast is always one step after
        their last instance, as in both public implementations.
    gain : {"multidimensional", "unidimensional"}
        One gain for each component, or the mean of these gains for all components.

    Notes
    -----
    With γ and Σ the forecast of a component's class-conditional expectation and its mean squared error,
    p and v the probability of its class and the variance of that estimate, the uncertainty set has mean
    ``τ = p γ`` and width λ, ``λ² = (Σ + γ²)(v + p²) - γ²p²``.

    The time to the next instance is unknown when the forecast is made; it is taken to be the last
    increment. When the instance arrives, its real increment is used.

    Examples
    --------
    >>> import numpy as np
    >>> tracker = KinematicTracker(1, order=1, window=LabelWindow(200, "binomial"))
    >>> tracker.add_classes(1)
    >>> for t in range(200):
    ...     uncertainty = tracker.update(np.array([0.5 * t]), 0, 1.0)
    >>> uncertainty.mean.round(3)
    array([[100.]])
    """

    def __init__(
        self,
        n_features: int,
        *,
        order: int,
        window: LabelWindow,
        unobserved: str = "propagate",
        gain: str = "multidimensional",
    ) -> None:
        n = order + 1
        self._order = order
        self._window = window
        self._propagates = unobserved == "propagate"
        self._averages = gain == "unidimensional"
        # Filtered states: estimates right after the last observation, before any forecast.
        self._eta = np.zeros((0, n_features, n))
        self._Sigma = np.zeros((0, n_features, n, n))
        self._Q = np.zeros((0, n_features, n, n))
        self._R = np.zeros((0, n_features))
        self._residual = np.zeros((0, n_features))

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        d, k = self._eta.shape[1:]
        identity = np.broadcast_to(np.eye(k), (n, d, k, k))
        self._eta = np.concatenate([self._eta, np.zeros((n, d, k))])
        self._Sigma = np.concatenate([self._Sigma, identity])
        self._Q = np.concatenate([self._Q, INITIAL_NOISE * identity])
        self._R = np.concatenate([self._R, np.full((n, d), INITIAL_NOISE)])
        self._residual = np.concatenate([self._residual, np.zeros((n, d))])
        self._window.add_classes(n)

    def update(self, psi: Vector, label: int, elapsed: float) -> UncertaintySet:
        """Add a labelled instance, `elapsed` after the previous one; return the uncertainty set of the next step."""
        H = transition(self._order, elapsed)
        for j in range(len(self._eta)):
            if self._propagates or j == label:
                propagate(H, self._eta[j], self._Sigma[j], self._Q[j])
        self._observe(psi, label)
        self._window.push(label)
        p, v = self._window.probabilities, self._window.variance
        mean, width = forecast_expectations(H, self._eta, self._Sigma, self._Q, p, v)
        overflowed = ~(np.isfinite(mean) & np.isfinite(width))
        if overflowed.any():  # high orders and long times: features are at most `LARGEST_VALUE`, and so is their mean
            mean, width = np.where(overflowed, 0.0, mean), np.where(overflowed, LARGEST_VALUE, width)
        return UncertaintySet(mean, width)

    def _observe(self, psi: Vector, j: int) -> None:
        K = adapt_gains(self._Sigma[j], self._R[j], self._residual[j], FORGETTING)
        if self._averages:
            K[:] = K.mean(axis=0)
        correct(psi, K, self._eta[j], self._Sigma[j], self._Q[j], self._R[j], self._residual[j], FORGETTING)

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        filters: State = {name: getattr(self, f"_{name}") for name in FILTERS}
        return filters | {f"window_{name}": value for name, value in self._window.state().items()}

    def schema(self) -> Schema:
        """Return what each array must be in a file; with high orders and long times, filters may have overflowed."""
        return {
            **{
                name: ArraySpec(getattr(self, f"_{name}").shape, low=-np.inf, high=np.inf, allows_nan=True)
                for name in FILTERS
            },
            **{f"window_{name}": spec for name, spec in self._window.schema().items()},
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in FILTERS:
            setattr(self, f"_{name}", state[name].astype(np.float64))
        self._window.restore({name.removeprefix("window_"): value for name, value in state.items()})
