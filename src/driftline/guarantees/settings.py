"""What a classifier promises, as chosen by the user."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from driftline.errors import ConfigError
from driftline.types import LabelArray
from driftline.utils.validation import flag, real_number

MAX_LEVELS = 16
"""Largest number of error levels, and of coverages."""


@dataclass(frozen=True, slots=True)
class Guarantees:
    """The levels at which a classifier decides, predicts sets, and raises an alarm.

    Several levels can be followed at once; each costs a fraction of a microsecond for each row.

    Attributes
    ----------
    errors : float, mapping, or sequence of these
        Levels for `decide`: the share of wrong answers that is allowed among the rows answered. A mapping from labels
        to shares allows a share for each predicted label; a label that it lacks has its smallest share. The first
        level is the default of `decide`.
    coverages : float or sequence of float
        Levels for `predict_set`: the share of sets that contain the true label, at least. The first one is its default.
    tolerated : float, optional
        The alarm is raised if the error exceeds this level. By default no level is tolerated or not.
    rise : float or None, default=0.05
        The alarm is raised if the error exceeds its mean so far by more than this; None for no such alarm.
    delta : float, default=0.05
        Probability with which an interval of the error, or the alarm, may be wrong, at any time of the whole stream.
    per_class : bool, default=False
        Whether each class on its own is to have the coverage of the sets, and not only all rows together.
    allows_empty : bool, default=False
        Whether sets may be empty. If so, coverage is what is asked for, and not more: where the classifier is right
        more often, its least confident rows have empty sets. If not, the predicted label is always in the set.

    Examples
    --------
    >>> Guarantees(errors=0.02, tolerated=0.1).errors
    (0.02,)
    >>> Guarantees(errors={"fraud": 0.01, "fine": 0.001}).errors
    ({'fraud': 0.01, 'fine': 0.001},)
    """

    errors: Any = (0.05, 0.01, 0.02, 0.1)
    coverages: Any = (0.9, 0.8, 0.95, 0.99)
    tolerated: float | None = None
    rise: float | None = 0.05
    delta: float = 0.05
    per_class: bool = False
    allows_empty: bool = False

    def __post_init__(self) -> None:
        errors = [self.errors] if isinstance(self.errors, Mapping) else _sequence("errors", self.errors)
        object.__setattr__(self, "errors", tuple(_error_level(level) for level in errors))
        coverages = [_share("coverages", level) for level in _sequence("coverages", self.coverages)]
        object.__setattr__(self, "coverages", tuple(coverages))
        for name in ("tolerated", "rise"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else _share(name, value))
        object.__setattr__(self, "delta", _share("delta", self.delta))
        for name in ("per_class", "allows_empty"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))

    def error_position(self, error: Any = None) -> int:
        """Return the position of a level in ``errors``; of the first one if none is given."""
        return _position("error", error, self.errors)

    def coverage_position(self, coverage: float | None = None) -> int:
        """Return the position of a level in ``coverages``; of the first one if none is given."""
        return _position("coverage", coverage, self.coverages)

    def levels_of(self, labels: LabelArray) -> list[list[float]]:
        """Return the share of wrong answers that each level allows for each of these predicted labels."""
        return [
            [level.get(label, min(level.values())) if isinstance(level, dict) else level for label in labels.tolist()]
            for level in self.errors
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values; a mapping is a list of pairs."""
        errors = [[list(pair) for pair in level.items()] if isinstance(level, dict) else level for level in self.errors]
        return {name: getattr(self, name) for name in self.__slots__} | {
            "errors": errors,
            "coverages": list(self.coverages),
        }

    @classmethod
    def from_json(cls, values: Any) -> "Guarantees":
        """Return the settings that `to_json` wrote; raise ConfigError if they are none."""
        if not isinstance(values, dict) or not values.keys() <= set(cls.__slots__):
            raise ConfigError(f"guarantees must be settings by name; got {str(values)[:100]}")
        errors = values.get("errors")
        if isinstance(errors, list):
            try:
                values = values | {"errors": [dict(level) if isinstance(level, list) else level for level in errors]}
            except (TypeError, ValueError) as error:
                raise ConfigError(f"errors must be numbers, or pairs of labels and numbers; {error}") from error
        return cls(**values)


def checked_guarantees(value: Any) -> Guarantees:
    """Return a parameter `guarantees`, or the default for None; raise ConfigError if it is neither."""
    if value is not None and not isinstance(value, Guarantees):
        raise ConfigError(f"guarantees must be a Guarantees(…) or None; got {value!r}")
    return Guarantees() if value is None else value


def _sequence(name: str, value: Any) -> list[Any]:
    levels = list(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else [value]
    if not 1 <= len(levels) <= MAX_LEVELS:
        raise ConfigError(f"{name} must be 1 to {MAX_LEVELS} levels; got {len(levels)}")
    return levels


def _error_level(level: Any) -> Any:
    if not isinstance(level, Mapping):
        return _share("errors", level)
    if not level:
        raise ConfigError("errors must have a level for at least one label; got an empty mapping")
    return {_plain(label): _share(f"errors[{label!r}]", share) for label, share in level.items()}


def _plain(label: Any) -> Any:
    """Return a label of NumPy as a plain Python value."""
    return label.item() if hasattr(label, "item") else label


def _share(name: str, value: Any) -> float:
    return real_number(name, value, above=0.0, below=1.0)


def _position(name: str, level: Any, levels: tuple[Any, ...]) -> int:
    if level is None:
        return 0
    if not isinstance(level, float | int | Mapping) or level not in levels:
        known = ", ".join(map(str, levels))
        raise ConfigError(
            f"{name} must be one of the levels that the model follows, {known}; got {level!r}: "
            f"add it to `{name}s` of Guarantees(…) before the first row"
        )
    return levels.index(level)
