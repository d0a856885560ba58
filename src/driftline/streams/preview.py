"""What a notebook shows of a stream: its name, size and columns, and its first rows."""

from math import isfinite, isnan
from typing import Any

from driftline.errors import DriftlineError
from driftline.streams.protocol import Stream
from driftline.types import Block, LabelArray
from driftline.utils.html import shortened, titled_table
from driftline.utils.times import format_time

N_ROWS, N_COLUMNS, N_CLASSES = 5, 8, 10
"""Most rows, columns and classes that are shown."""


class NotebookPreview:
    """Gives a stream a representation as text and in notebooks."""

    __slots__ = ()

    def _first_block(self: Any) -> Block | None:
        """Return the first rows, without changing what is read later; None if that is impossible."""
        return next(self.blocks(), None)

    def _known_classes(self: Any) -> LabelArray | None:
        """Return the classes if they are known without reading the whole stream."""
        return None

    def __repr__(self: Any) -> str:
        """Return the name and the size of the stream."""
        return f"{type(self).__name__}({self.name}: {_size(self)})"

    def _repr_html_(self: Any) -> str:
        try:
            block = self._first_block()
        except (DriftlineError, OSError):  # a file that is gone or damaged: the error is raised where it is read
            block = None
        return stream_html(self, block, self._known_classes())


def stream_html(stream: Stream, block: Block | None, classes: LabelArray | None) -> str:
    """Return the description of a stream as HTML.

    Parameters
    ----------
    stream : Stream
        The stream.
    block : Block, optional
        Its first rows.
    classes : ndarray, optional
        Its classes.

    Returns
    -------
    str
        Name, numbers of rows and columns, classes, and the first rows.
    """
    size = _size(stream)
    if classes is not None:
        more = ", …" if len(classes) > N_CLASSES else ""
        size += f"; {len(classes):,} classes: {', '.join(shortened(str(label)) for label in classes[:N_CLASSES])}{more}"
    header, rows = ([], []) if block is None else _first_rows(stream, block)
    return titled_table(stream.name, rows, header, [size])


def _first_rows(stream: Stream, block: Block) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of the first rows: time, columns, label."""
    shown, is_cut = stream.columns[:N_COLUMNS], len(stream.columns) > N_COLUMNS
    has_times = bool(len(block.times)) and isfinite(block.times[0])
    header = [*(["time"] if has_times else []), *map(shortened, shown), *(["…"] if is_cut else []), "label"]
    rows = [
        [
            *([format_time(float(time))] if has_times else []),
            *("" if isnan(value) else f"{value:.6g}" for value in values[:N_COLUMNS]),
            *(["…"] if is_cut else []),
            shortened(str(label)),
        ]
        for values, label, time in zip(
            block.rows[:N_ROWS].tolist(), block.labels[:N_ROWS].tolist(), block.times[:N_ROWS], strict=True
        )
    ]
    return header, rows


def _size(stream: Stream) -> str:
    n_rows = "rows not counted yet" if stream.n_rows is None else _counted(stream.n_rows, "row")
    return f"{n_rows}, {_counted(len(stream.columns), 'column')}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun if n == 1 else f'{noun}s'}"
