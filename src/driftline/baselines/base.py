"""The base class of the baselines, and the learner that runs a method on prepared rows."""

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from driftline.core.columns import ColumnPreparer, RunningColumns
from driftline.core.online_classifier import OnlineClassifier
from driftline.core.schema import Schema, nested_schema, whole_numbers
from driftline.core.state import SavedPart, independent_copy, nested_state, restore_parts
from driftline.errors import ConfigError
from driftline.types import Labels, Matrix, Predictions, State, Vector
from driftline.utils.validation import checked_random_state, flag, one_of, positions, real_number, whole_number


class BaselineMethod(SavedPart, Protocol):
    """A method on prepared rows and class positions, without scaling, labels and files."""

    def add_classes(self, n: int) -> None:
        """Make room for n more classes."""

    def predict(self, Z: Matrix) -> Labels:
        """Return the position of a class for each row, if there is one; changes nothing."""

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label, one of a known class; return the predictions."""


class MethodLearner:
    """A method on prepared columns.

    Parameters
    ----------
    columns : ColumnPreparer
        What prepares the rows.
    method : BaselineMethod
        What learns from them.
    """

    def __init__(self, columns: ColumnPreparer, method: BaselineMethod) -> None:
        self._columns = columns
        self._method = method
        self.n_steps = 0
        self.n_classes = 0

    @property
    def n_missing(self) -> int:
        """Number of missing values met."""
        return self._columns.n_missing

    def snapshot(self) -> "MethodLearner":
        """Return a copy for predictions, which learning does not change."""
        return independent_copy(self)

    def add_classes(self, n: int) -> None:
        """Make room for n more classes."""
        self._method.add_classes(n)
        self.n_classes += n

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the label predicted for each raw row of X; -1 if no class is known."""
        if self.n_classes == 0:
            return np.full(len(X), -1)
        return self._method.predict(self._columns.prepare(X))

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return the predictions for raw rows, with their labels beside them; changes nothing."""
        n, start = len(labels), time.perf_counter()
        predicted = self.predict_indices(X)
        return Predictions.without_bounds(predicted, labels, np.full(n, (time.perf_counter() - start) / n), np.zeros(n))

    def predict_then_learn(self, X: Matrix, labels: Labels, elapsed: Vector) -> Predictions:  # time does not matter
        """Predict each raw row, then learn its label; a label beyond the known classes, alone in its call, adds one."""
        n, start = len(labels), time.perf_counter()
        without_new_class = self.predict_indices(X) if labels[0] >= self.n_classes else None
        if labels[0] >= self.n_classes:
            self.add_classes(1)
        predicted = self._method.advance(self._columns.update(X), labels)
        if without_new_class is not None:
            predicted = without_new_class
        self.n_steps += n
        return Predictions.without_bounds(predicted, labels, np.zeros(n), np.full(n, (time.perf_counter() - start) / n))

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return nested_state(self._parts()) | {"n_steps": np.array([self.n_steps])}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return nested_schema({name: part.schema() for name, part in self._parts().items()}) | {
            "n_steps": whole_numbers((1,))
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        restore_parts(self._parts(), state)
        self.n_steps = int(state["n_steps"][0])

    def _parts(self) -> dict[str, SavedPart]:
        return {"columns": self._columns, "method": self._method}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Restore from a pickle; arrays are copied because a memory-mapped file is read-only."""
        self.__dict__.update(fields)
        self.restore(self.state())


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
    "random_state": lambda _, value: checked_random_state(value),
    "rank": _fraction,
    "scale": _or_value("auto", _scale),
    "scaling": partial(one_of, words=("running", "none")),
    "threshold": _fraction,
    "tolerance": _or_value(None, _positive),
    "window": _positive_count,
}
"""The check of each parameter; a parameter has the same meaning in every method."""


MOST_FEATURE_SETS = 150
"""Largest number of weights for each feature and class: `AdaRaker` has 144, for three scales and 48 memories."""


class Baseline(OnlineClassifier):
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
        return MethodLearner(self._column_preparer(parameters, n_columns), self._method(parameters, n_columns, seed))

    def _n_bytes(self, parameters: Mapping[str, Any], n_columns: int, n_classes: int) -> int:
        budget, window = int(parameters.get("budget", 0)) + 1, int(parameters.get("window", 0))
        n_features = 2 * MOST_FEATURE_SETS * int(parameters.get("n_components", 0))
        n_supported = budget * (n_columns + n_classes + budget)
        return 8 * (n_supported + n_features * (n_columns + n_classes) + window + 60 * n_columns)

    def _column_preparer(self, parameters: Mapping[str, Any], n_columns: int) -> ColumnPreparer:
        return RunningColumns(n_columns, standardises=parameters["scaling"] == "running")

    @abstractmethod
    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> BaselineMethod:
        """Return a new method, without classes, for rows with `n_columns` columns."""


def kernel_scale(parameters: Mapping[str, Any], n_columns: int) -> float:
    """Return the scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" makes that exp(-‖x - x'‖²/n_columns)."""
    scale = parameters["scale"]
    return math.sqrt(2.0 / n_columns) if scale == "auto" else float(scale)
