"""What happens to a stream: the operations on which its state depends, and what they answer."""

from dataclasses import dataclass
from typing import Any

from driftline.types import Matrix


@dataclass(frozen=True, slots=True)
class Ask:
    """Rows to predict; their labels may come later. `ids` are unique in the stream."""

    time: float
    ids: tuple[str, ...]
    X: Matrix


@dataclass(frozen=True, slots=True)
class Label:
    """Labels of rows that were predicted."""

    time: float
    ids: tuple[str, ...]
    labels: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Learn:
    """Rows with their labels, which are predicted and learned one after another."""

    time: float
    ids: tuple[str, ...]
    X: Matrix
    labels: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Expire:
    """Rows whose labels are no longer expected."""

    time: float
    ids: tuple[str, ...]


Operation = Ask | Label | Learn | Expire


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a row.

    Attributes
    ----------
    label : label or None
        The predicted label; None before any class is known.
    is_answered : bool
        Whether the label may be used as an answer; otherwise somebody else should decide.
    confidence, bound : float or None
        The probability that the label is right, and a bound on the probability that it is wrong.
    labels : tuple
        The labels that can be right.
    """

    label: Any = None
    is_answered: bool = False
    confidence: float | None = None
    bound: float | None = None
    labels: tuple[Any, ...] = ()


NO_ANSWER = Answer()
"""What is said of a row before any class is known."""
