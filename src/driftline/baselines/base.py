"""The base class of the baselines, and the learner that runs a method on prepared rows."""

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from driftline.core.columns import RunningColumns
from driftline.core.online_classifier import OnlineClassifier
from driftline.errors import ConfigError
from driftline.types import Labels, Matrix, Predicted, State, Vector
from driftline.utils.validation import flag, one_of, positions, real_number, source_of_seeds, whole_number


class BaselineMethod(Protocol):
    """A method on prepared rows and class positions, without scaling, labels and files."""

    def add_class(self) -> None:
        """Make room for one more class."""

    def predict(self, Z: Matrix) -> Labels:
        """Return the position of a class for each row, if there is one; changes nothing."""

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label, one of a known class; return the predictions."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class Preparation(Protocol):
    """What is done with raw columns before a method sees them."""

    @property
    def n_missing(self) -> int:
        """Number of missing values met."""

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows as each would be prepared if it were the next; changes nothing."""

    def advance(self, X: Matrix) -> Matrix:
        """Return the rows prepared, each by the statistics up to it, which then stay."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class MethodLearner:
    """A method on prepared columns.

    Parameters
    ----------
    columns : Preparation
        What prepares the rows.
    method : BaselineMethod
        What learns from them.
    """

    def __init__(self, columns: Preparation, method: BaselineMethod) -> None:
        self._columns = columns
        self._method = method
        self.n_steps = 0
        self.n_classes = 0

    @property
    def n_missing(self) -> int:
        """Number of missing values met."""
        return self._columns.n_missing

    def add_class(self) -> None:
        """Make room for one more class."""
        self._method.add_class()
        self.n_classes += 1

    def most_likely(self, X: Matrix) -> Labels:
        """Return the position of the label predicted for each raw row of X; -1 if no class is known."""
        if self.n_classes == 0:
            return np.full(len(X), -1)
        return self._method.predict(self._columns.prepare(X))

    def foresee(self, X: Matrix, labels: Labels) -> Predicted:
        """Return what is predicted for raw rows; changes nothing."""
        start = time.perf_counter()
        predictions = self.most_likely(X)
        return self._predicted(predictions, labels, predicting=time.perf_counter() - start)

    def advance(self, X: Matrix, labels: Labels, elapsed: Vector) -> Predicted:  # time does not matter
        """Predict each raw row, then learn its label; a label beyond the known classes, which comes alone, adds one."""
        start = time.perf_counter()
        new = self.most_likely(X) if labels[0] >= self.n_classes else None
        while labels[0] >= self.n_classes:
            self.add_class()
        predictions = self._method.advance(self._columns.advance(X), labels)
        self.n_steps += len(X)
        return self._predicted(predictions if new is None else new, labels, learning=time.perf_counter() - start)

    def _predicted(
        self, predictions: Labels, labels: Labels, predicting: float = 0.0, learning: float = 0.0
    ) -> Predicted:
        n = len(labels)
        return Predicted(
            predictions=predictions,
            labels=labels,
            predict_seconds=np.full(n, predicting / n),
            learn_seconds=np.full(n, learning / n),
        )

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        columns = {f"columns/{name}": array for name, array in self._columns.state().items()}
        method = {f"method/{name}": array for name, array in self._method.state().items()}
        return columns | method | {"n_steps": np.array([self.n_steps])}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name, part in (("columns/", self._columns), ("method/", self._method)):
            owned: State = {key.removeprefix(name): value for key, value in state.items() if key.startswith(name)}
            part.restore(owned)
        self.n_steps = int(state["n_steps"][0])

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Continue from a pickle, whose arrays may lie in a file that cannot be written to."""
        self.__dict__.update(fields)
        self.restore(self.state())


class Keeping:
    """A part whose state is some arrays, kept in attributes."""

    _kept: ClassVar[tuple[str, ...]]
    """Their names, without the underscore."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        return {name: getattr(self, f"_{name}").copy() for name in self._kept}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in self._kept:
            setattr(self, f"_{name}", state[name].copy())


Check = Callable[[str, Any], Any]


def _or_value(allowed: Any, check: Check) -> Check:
    """Return a check that also accepts one special value."""

    def checked(name: str, value: Any) -> Any:
        if type(value) is type(allowed) and value == allowed:
            return value
        try:
            return check(name, value)
        except ConfigError as error:
            raise ConfigError(f"{error} (or {allowed!r})") from None

    return checked


_positive = partial(real_number, above=0.0, below=math.inf)
_scale = partial(real_number, above=0.0, below=1e100)  # its square times a squared distance is still finite
_fraction = partial(real_number, above=0.0, below=1.0)
_fraction_or_zero = partial(_fraction, or_lowest=True)
_positive_count = partial(whole_number, at_least=1)
CHECKS: dict[str, Check] = {
    "beta": _fraction,
    "budget": _positive_count,
    "decay": _fraction_or_zero,
    "intercept": flag,
    "learning_rate": _positive,
    "margin": partial(_positive, or_lowest=True),
    "max_experts": _positive_count,
    "n_components": _positive_count,
    "nominal": positions,
    "nu": _or_value(None, _fraction_or_zero),
    "period": _positive_count,
    "random_state": lambda _, value: source_of_seeds(value),
    "rank": _fraction,
    "scale": _or_value("auto", _scale),
    "scaling": partial(one_of, words=("running", "none")),
    "threshold": _fraction,
    "tolerance": _or_value(None, _positive),
    "window": _positive_count,
}
"""The check of each parameter; a parameter has the same meaning in every method."""


class Baseline(OnlineClassifier[Predicted]):
    """Base class of the baselines: everything but the parameters and the method.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order in which they were announced or first occurred.
    n_features_in_ : int
        Number of columns of the instances.
    n_steps_ : int
        Number of labelled instances learned from.
    n_missing_ : int
        Number of missing values in these instances: replaced by the running mean of their column, or skipped (`DWM`).
    """

    def _checked_parameters(self) -> dict[str, Any]:
        return {name: CHECKS[name](name, value) for name, value in self.get_params(deep=False).items()}

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> MethodLearner:
        n_columns = rows.shape[1]
        return MethodLearner(self._preparation(parameters, n_columns), self._method(parameters, n_columns, seed))

    def _preparation(self, parameters: Mapping[str, Any], n_columns: int) -> Preparation:
        return RunningColumns(n_columns, standardises=parameters["scaling"] == "running")

    @abstractmethod
    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> BaselineMethod:
        """Return a new method, without classes, for rows with `n_columns` columns."""


def kernel_scale(parameters: Mapping[str, Any], n_columns: int) -> float:
    """Return the scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" makes that exp(-‖x - x'‖²/n_columns)."""
    scale = parameters["scale"]
    return math.sqrt(2.0 / n_columns) if scale == "auto" else float(scale)
