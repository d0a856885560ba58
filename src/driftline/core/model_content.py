"""What a model file says about a model beside its arrays: class, parameters, classes, columns, seed, time and notes."""

import math
from dataclasses import dataclass
from typing import Any, Self

from driftline.core.class_list import ClassList
from driftline.errors import CheckpointError
from driftline.types import LARGEST_COUNT

UNNAMED_ESTIMATOR = "PaperAMRC"
"""Class of the model in the first model files, which do not contain its name."""


@dataclass(frozen=True, slots=True)
class ModelContent:
    """The content of a model file, apart from the arrays.

    Attributes
    ----------
    estimator : str
        Name of the class of the model.
    parameters : dict
        Its parameters as JSON values; the class checks them.
    classes : ClassList
        The classes.
    n_columns, n_first_columns : int
        Number of columns now and at the first call.
    column_names : list of str
        Names of the columns; empty if they have none.
    seed : int
        Seed of the random numbers.
    plan_version : int
        Version of the plan that says which members a model has; 1 if there has been only one plan.
    last_time : float or None
        Time of the last row; None if the stream has no times.
    notes : dict
        What the user saved with the model.
    """

    estimator: str
    parameters: dict[str, Any]
    classes: ClassList
    n_columns: int
    n_first_columns: int
    column_names: list[str]
    seed: int
    plan_version: int
    last_time: float | None
    notes: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the content as JSON values."""
        return {
            "estimator": self.estimator,
            "parameters": self.parameters,
            "classes": self.classes.to_json(),
            "columns": [self.n_columns, self.column_names],
            "columns_begun": self.n_first_columns,
            "seed": self.seed,
            "plan": self.plan_version,
            "last_time": self.last_time,
            "notes": self.notes,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Return what `to_json` wrote; raise CheckpointError for anything that it cannot have written."""
        columns: Any = content.get("columns")
        _require(
            isinstance(columns, list) and len(columns) == 2, "columns", "their number and a list of names", columns
        )
        n_columns, names = _whole_number("columns", columns[0], 1), columns[1]
        _require(
            isinstance(names, list)
            and len(names) in (0, n_columns)
            and all(isinstance(name, str) for name in names)
            and len(set(names)) == len(names),
            "columns",
            f"no names, or {n_columns} different names",
            names,
        )
        n_first = _whole_number("columns_begun", content.get("columns_begun", n_columns), 1)
        _require(n_first <= n_columns, "columns_begun", f"at most the number of columns, {n_columns}", n_first)
        last_time: Any = content.get("last_time")
        is_time = type(last_time) in (int, float) and math.isfinite(last_time)
        _require(last_time is None or is_time, "last_time", "a finite number or null", last_time)
        for name in ("parameters", "notes"):
            _require(isinstance(content.get(name, {}), dict), name, "an object", content.get(name))
        estimator = content.get("estimator", UNNAMED_ESTIMATOR)
        _require(isinstance(estimator, str), "estimator", "a name", estimator)
        return cls(
            estimator=estimator,
            parameters=content.get("parameters", {}),
            classes=ClassList.from_json(content.get("classes")),
            n_columns=n_columns,
            n_first_columns=n_first,
            column_names=names,
            seed=_whole_number("seed", content.get("seed"), 0),
            plan_version=_whole_number("plan", content.get("plan", 1), 1),
            last_time=None if last_time is None else float(last_time),
            notes=content.get("notes", {}),
        )


def _whole_number(name: str, value: Any, at_least: int) -> int:
    is_valid = type(value) is int and at_least <= value <= LARGEST_COUNT
    _require(is_valid, name, f"a whole number from {at_least} to {LARGEST_COUNT}", value)
    number: int = value
    return number


def _require(condition: bool, name: str, expected: str, given: Any) -> None:
    """Raise CheckpointError unless the condition holds."""
    if not condition:
        raise CheckpointError(f"its {name!r} is {repr(given)[:100]}; expected {expected}")
