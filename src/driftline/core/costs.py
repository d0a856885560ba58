"""Costs of mistakes: what it costs to predict one label where another is right."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.types import LabelArray, Matrix
from driftline.utils.validation import real_number


class Costs:
    """The cost of each prediction for each true label.

    Parameters
    ----------
    costs : mapping
        `costs[true][predicted]` is the cost of predicting `predicted` where `true` is right: a finite number, at least
        0. A pair that is left out costs 1 if its labels differ, and 0 if they are equal.

    Examples
    --------
    >>> costs = Costs({"fraud": {"fine": 50}})
    >>> costs.of("fraud", "fine"), costs.of("fine", "fraud"), costs.of("fine", "fine")
    (50.0, 1.0, 0.0)
    """

    def __init__(self, costs: Mapping[Any, Mapping[Any, float]]) -> None:
        if not isinstance(costs, Mapping):
            raise ConfigError(f"costs must be a mapping {{true label: {{predicted label: cost}}}}; got {costs!r}")
        self._costs: dict[tuple[Any, Any], float] = {}
        for true, row in costs.items():
            if not isinstance(row, Mapping):
                raise ConfigError(
                    f"costs[{true!r}] must be a mapping {{predicted label: cost}}; got {row!r}: "
                    "write, for example, {'fraud': {'fine': 50}}"
                )
            for predicted, cost in row.items():
                name = f"costs[{true!r}][{predicted!r}]"
                value = real_number(name, cost, above=0.0, below=np.inf, or_lowest=True)
                self._costs[_plain(true), _plain(predicted)] = value

    def of(self, true: Any, predicted: Any) -> float:
        """Return the cost of one prediction."""
        return self._costs.get((true, predicted), float(true != predicted))

    def matrix(self, labels: LabelArray | Sequence[Any]) -> Matrix:
        """Return the costs between these labels, with a row for each true label and a column for each prediction."""
        values = [_plain(label) for label in labels]
        return np.array([[self.of(true, predicted) for predicted in values] for true in values]).reshape(
            len(values), len(values)
        )

    @property
    def labels(self) -> list[Any]:
        """The labels that the costs name, each once."""
        return list(dict.fromkeys(label for pair in self._costs for label in pair))

    def to_json(self) -> list[list[Any]]:
        """Return the costs as JSON values: a list of true label, predicted label and cost."""
        return [[true, predicted, cost] for (true, predicted), cost in self._costs.items()]


def costs_from_json(values: Any) -> dict[Any, dict[Any, float]]:
    """Return the mapping that `Costs.to_json` wrote as a list; raise ConfigError if it is none."""
    if not isinstance(values, list) or not all(isinstance(entry, list) and len(entry) == 3 for entry in values):
        raise ConfigError(f"costs must be a list of true label, predicted label and cost; got {str(values)[:100]}")
    costs: dict[Any, dict[Any, float]] = {}
    for true, predicted, cost in values:
        if isinstance(true, list | dict) or isinstance(predicted, list | dict):
            raise ConfigError(f"labels in costs must be numbers or text; got {str((true, predicted))[:100]}")
        costs.setdefault(true, {})[predicted] = cost
    return costs


def _plain(label: Any) -> Any:
    """Return a label of NumPy as a plain Python value."""
    return label.item() if hasattr(label, "item") else label
