"""From the cells of a file to the rows, labels and times of a stream, in a way that the head of the file decides."""

from collections.abc import Sequence
from reprlib import repr as brief
from typing import Any

import numpy as np

from driftline.errors import DataError
from driftline.streams.files.cells import Flaws, plain, says, text
from driftline.streams.files.fields import Field, LabelField, ScalarField, field_of, scalar_reader
from driftline.streams.files.options import Options
from driftline.streams.files.roles import Roles, different
from driftline.streams.files.tables import Cells, Chunk, Column
from driftline.types import Block, Matrix

LEAST_CELLS = 100
"""With fewer cells nobody can tell whether labels recur."""
ADVICE = "correct it, or name the column in categorical or ignore"


class Features:
    """The columns to learn from: what each of them becomes in the rows.

    Parameters
    ----------
    fields : sequence of Field
        What becomes of each.
    columns : sequence of str
        What they are called in the file.

    Attributes
    ----------
    names : tuple of str
        Names of the columns of the rows.
    """

    def __init__(self, fields: Sequence[Field], columns: Sequence[str]) -> None:
        self._fields = fields
        self._columns = columns
        self.names = different([name for field in fields for name in field.names])

    def __len__(self) -> int:
        return len(self._fields)

    def encode(self, chunk: Chunk) -> tuple[Matrix, Flaws]:
        """Return the rows of a chunk, whose first columns these are, and why some cannot be used."""
        rows = np.empty((len(chunk.places), len(self.names)))
        flaws: Flaws = {}
        first = 0
        for column, field, cells in zip(self._columns, self._fields, chunk.columns, strict=False):
            values, wrong = field.encode(cells)
            rows[:, first : first + values.shape[1]] = values
            first += values.shape[1]
            for i, reason in wrong.items():
                flaws.setdefault(i, f"column {column!r}: {reason}; {ADVICE}")
        return rows, flaws

    def to_list(self) -> list[dict[str, Any]]:
        """Return what becomes of each column, as JSON knows it."""
        return [field.to_dict() for field in self._fields]


class Layout:
    """What each column of a file becomes; it depends on the head alone, and encodes any chunk of the file.

    Parameters
    ----------
    columns : sequence of Column
        All columns of the file.
    roles : Roles
        What they are for.
    head : sequence of Cells
        The first cells of the columns that are used.
    source : str
        What to call the file in errors.
    options : Options
        What the user said about it.

    Attributes
    ----------
    roles : Roles
        As given.
    """

    def __init__(
        self, columns: Sequence[Column], roles: Roles, head: Sequence[Cells], source: str, options: Options
    ) -> None:
        cells = dict(zip(roles.used, head, strict=True))
        self.roles = roles
        try:
            fields = [
                field_of(roles.names[j], columns[j], cells[j], is_categorical=j in roles.categorical)
                for j in roles.features
            ]
        except DataError as error:
            raise DataError(f"{source}: {error}") from error
        self._features = Features(fields, [roles.names[j] for j in roles.features])
        self._has_header = any(column.name for column in columns)
        self._options = options
        self._label = LabelField(columns[roles.label], cells[roles.label], is_text=roles.label in roles.categorical)
        _check_label(roles.names[roles.label], columns[roles.label], cells[roles.label], roles, source)
        self._time = None
        if roles.time is not None:
            read = scalar_reader(columns[roles.time], cells[roles.time])
            if read is None:
                raise DataError(
                    f"{source}: time column {roles.names[roles.time]!r} begins with {brief(cells[roles.time][0])}; "
                    "expected numbers, or dates such as 2021-03-04 or 2021-03-04T05:06:07Z"
                )
            self._time = ScalarField(roles.names[roles.time], read)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the rows."""
        return self._features.names

    def to_dict(self) -> dict[str, Any]:
        """Return what a `RowFile` needs to read other files in the same way, as JSON knows it."""
        return {
            "columns": list(self.roles.names),
            "has_header": self._has_header,
            "label": self.roles.label,
            "features": self._features.to_list(),
            "delimiter": self._options.delimiter,
            "encoding": self._options.encoding,
        }

    def encode(self, chunk: Chunk) -> tuple[Block, Flaws]:
        """Return the rows of a chunk, and those that cannot be used, with the reasons."""
        rows, flaws = self._features.encode(chunk)
        labels, wrong = self._label.encode(chunk.columns[len(self._features)])
        for i, reason in wrong.items():
            flaws.setdefault(i, f"label column {self.roles.names[self.roles.label]!r}: {reason}")
        times = np.full(len(rows), np.nan)
        if self._time is not None:
            column, wrong = self._time.encode(chunk.columns[-1])
            times = column[:, 0]
            for i in np.flatnonzero(np.isnan(times)).tolist():
                flaws.setdefault(i, f"time column {self._time.names[0]!r}: {wrong.get(i, 'the time is missing')}")
        return Block(rows, labels, times), flaws


def _check_label(name: str, column: Column, head: Cells, roles: Roles, source: str) -> None:
    """Refuse labels of which most are different: they are no classes, and a classifier would choke on them."""
    if column.values is not None or roles.label in roles.categorical:
        return
    n_cells, n_values = len(head), len({text(cell) for cell in plain(head) if says(text, cell)})
    if n_cells >= LEAST_CELLS and 2 * n_values > n_cells:
        raise DataError(
            f"{source}: label column {name!r} has {n_values:,} different values in the first {n_cells:,} rows; expected"
            " classes that recur: choose another column, cut its numbers into ranges, or name it in categorical too"
        )
