"""The user's labels and their positions."""

from typing import Any

import numpy as np

from driftline.errors import CheckpointError, DataError
from driftline.types import LabelArray, Labels

MAX_TEXT_BYTES = 2**26
"""Largest size in memory of the labels in a model file, each of which takes as much as the longest text."""


class ClassList:
    """Classes in the order in which they were added. It never changes: `with_label` returns another list.

    Examples
    --------
    >>> import numpy as np
    >>> classes = ClassList(np.array(["ham", "spam"]))
    >>> classes.position("spam"), classes.position("phishing")
    (1, 2)
    >>> classes.with_label("phishing").labels
    array(['ham', 'spam', 'phishing'], dtype='<U8')
    """

    def __init__(self, labels: LabelArray) -> None:
        self.labels = labels
        self._position = {label: j for j, label in enumerate(labels.tolist())}
        self._single_positions = {label: np.array([j]) for label, j in self._position.items()}

    def check(self, labels: LabelArray) -> None:
        """Raise DataError if labels do not fit the known classes: text among numbers, or numbers among text."""
        if self.labels.size and labels.size and _are_numbers(self.labels) != _are_numbers(labels):
            raise DataError(
                f"labels are {labels.dtype} such as {labels.tolist()[0]!r}, and the classes so far {self.labels.dtype} "
                f"such as {self.labels.tolist()[0]!r}; use one kind of label throughout"
            )

    def position(self, label: Any) -> int:
        """Return the position of a label, a plain Python value; the number of classes if the label is unknown."""
        return self._position.get(label, len(self._position))

    def known_position(self, label: Any) -> Labels | None:
        """Return the position of a label as an array of length 1; None if the label is unknown, or cannot be one."""
        try:
            return self._single_positions.get(label)
        except TypeError:  # not hashable
            return None

    def with_label(self, label: Any) -> "ClassList":
        """Return the list with a label added at the end; the same list if the label is known."""
        if label in self._position:
            return self
        added = np.array([label], dtype=object if self.labels.dtype == object else None)
        labels = np.concatenate([self.labels, added]) if self.labels.size else added
        expected = [*self.labels.tolist(), label]
        # NumPy may convert large whole numbers to rounded floats when types differ; then labels are kept as objects.
        return ClassList(labels if labels.tolist() == expected else np.array(expected, dtype=object))

    def to_json(self) -> dict[str, Any]:
        """Return the classes as JSON values."""
        values = self.labels.tolist()
        if not all(isinstance(value, bool | int | float | str) for value in values):
            raise CheckpointError(f"labels must be numbers or text to be saved; got {values!r}")
        return {"dtype": self.labels.dtype.str, "values": values}

    @classmethod
    def from_json(cls, content: Any) -> "ClassList":
        """Return the classes that `to_json` wrote; raise CheckpointError for anything that it cannot have written."""
        values = content.get("values") if isinstance(content, dict) else None
        kind = content.get("dtype") if isinstance(content, dict) else None
        if not isinstance(values, list) or not values or not isinstance(kind, str):
            raise CheckpointError("its 'classes' are no list of one label or more, with a type")
        try:
            labels = _labels_of_type(values, kind)
        except (ValueError, TypeError, OverflowError, SyntaxError) as error:
            raise CheckpointError(f"its 'classes' cannot be labels of the type {kind[:50]!r}") from error
        if labels.ndim != 1 or labels.tolist() != values or len(set(values)) < len(values):
            raise CheckpointError(f"its 'classes' are not different labels of the type {kind[:50]!r}")
        return cls(labels)


def _are_numbers(labels: LabelArray) -> bool:
    """Return whether labels are numbers, also if they are kept as objects because no type of numbers has them all."""
    if labels.dtype != object:
        return labels.dtype.kind in "biuf"
    return all(isinstance(label, int | float | np.number | np.bool_) for label in labels.tolist())


def _labels_of_type(values: list[Any], kind: str) -> LabelArray:
    """Return labels as an array of a type, given as NumPy writes it; the file does not decide the length of texts."""
    if not all(isinstance(value, bool | int | float | str) for value in values) or kind[1:2] not in tuple("biufUO"):
        raise TypeError(f"labels must be numbers or text, not {kind}")
    if kind[1] == "U" and 4 * len(values) * max(len(str(value)) for value in values) > MAX_TEXT_BYTES:
        raise ValueError(f"{len(values)} labels of this length would take more than {MAX_TEXT_BYTES} bytes")
    return np.array(values, dtype=str if kind[1] == "U" else np.dtype(kind))
