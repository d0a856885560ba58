"""The figures of a stream over time: counts in windows of rows, at most 256 windows however long the stream is."""

from dataclasses import asdict, dataclass, field
from typing import Any

MAX_WINDOWS = 256
"""Number of windows at which neighbouring windows are merged in pairs."""
FIRST_LENGTH = 16
"""Labelled rows in a window before the first merge."""


@dataclass(slots=True)
class Window:
    """Counts of the rows that were labelled one after another.

    Attributes
    ----------
    n_rows, n_predicted, n_wrong : int
        Labelled rows; those of them that had a prediction, which those before the first label do not; and those whose
        prediction was wrong.
    n_asked, n_answered, n_wrong_answers : int
        Rows that were predicted ahead of their label, those of them that were answered, and wrong answers.
    n_covered, n_labels : int
        Rows of them whose set contained the label, and the number of labels in all of these sets.
    n_wrong_shadow : int
        Rows that the shadow predicted wrongly; only in windows of rows that both models predicted.
    mistake_bound : float or None
        The bound on all mistakes so far at the end of the window.
    low, high : float or None
        Limits of the error so far at its end.
    time : float
        Time of its last label, in seconds since 1970.
    classes : dict
        Number of rows of each class, by label as text.
    """

    n_rows: int = 0
    n_predicted: int = 0
    n_wrong: int = 0
    n_asked: int = 0
    n_answered: int = 0
    n_wrong_answers: int = 0
    n_covered: int = 0
    n_labels: int = 0
    n_wrong_shadow: int = 0
    mistake_bound: float | None = None
    low: float | None = None
    high: float | None = None
    time: float = 0.0
    classes: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Window") -> None:
        """Add the counts of a window that follows this one."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in LAST:
            setattr(self, name, getattr(other, name))
        for label, n in other.classes.items():
            self.classes[label] = self.classes.get(label, 0) + n


COUNTS = tuple(name for name in Window.__slots__ if name.startswith("n_"))
LAST = ("mistake_bound", "low", "high", "time")


class Figures:
    """The windows of a stream, and the sums over all of them.

    Examples
    --------
    >>> figures = Figures()
    >>> for t in range(20):
    ...     figures.add(Window(n_rows=1, n_wrong=t % 2))
    >>> figures.total.n_rows, figures.total.n_wrong, [window.n_rows for window in figures.windows]
    (20, 10, [16, 4])
    """

    def __init__(self) -> None:
        self.length = FIRST_LENGTH
        self.windows: list[Window] = []
        self.total = Window()

    def add(self, row: Window) -> None:
        """Add one row."""
        if not self.windows or self.windows[-1].n_rows >= self.length:
            if len(self.windows) == MAX_WINDOWS:
                self._merge()
            self.windows.append(Window())
        self.windows[-1].add(row)
        self.total.add(row)

    @property
    def is_window_full(self) -> bool:
        """Whether the next row begins a new window."""
        return bool(self.windows) and self.windows[-1].n_rows >= self.length

    def close_window(self, mistake_bound: float, low: float, high: float) -> None:
        """Set the bounds at the end of the last window."""
        last = self.windows[-1]
        last.mistake_bound, last.low, last.high = mistake_bound, low, high

    def merged(self, most: int) -> list[Window]:
        """Return at most so many windows, each made of equally many; the last may be shorter."""
        n = -(-len(self.windows) // most)
        merged = []
        for start in range(0, len(self.windows), n or 1):
            merged.append(Window())
            for window in self.windows[start : start + n]:
                merged[-1].add(window)
        return merged

    def errors(self, most: int) -> list[float]:
        """Return the share of mistakes in each of at most so many windows that have predictions, the oldest first."""
        n = -(-len(self.windows) // most)
        parts = [self.windows[start : start + n] for start in range(0, len(self.windows), n or 1)]
        sums = [(sum(each.n_wrong for each in part), sum(each.n_predicted for each in part)) for part in parts]
        return [n_wrong / n_predicted for n_wrong, n_predicted in sums if n_predicted]

    def _merge(self) -> None:
        self.windows = self.merged(MAX_WINDOWS // 2)
        self.length *= 2

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {"length": self.length, "windows": [asdict(window) for window in self.windows]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Figures":
        """Return the figures that `to_json` wrote."""
        figures = cls()
        figures.length = content["length"]
        figures.windows = [Window(**window) for window in content["windows"]]
        for window in figures.windows:
            figures.total.add(window)
        return figures
