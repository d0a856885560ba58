"""How the cells of a file become the rows, labels and times of a stream; the head of the file decides it."""

from collections.abc import Sequence
from reprlib import repr as brief
from typing import Any

import numpy as np

from driftline.errors import DataError, Parameter
from driftline.streams.files.cells import Cells, Chunk, FileColumn, RowErrors, can_parse, parse_text, to_sequence
from driftline.streams.files.columns import HeadColumn, describe_columns, notices_of
from driftline.streams.files.encoders import (
    ColumnEncoder,
    LabelEncoder,
    NumberEncoder,
    choose_encoder,
    choose_number_reader,
)
from driftline.streams.files.options import ColumnRoles, FileOptions, unique_names
from driftline.types import Block, Matrix

MIN_LABEL_CELLS = 100
"""With fewer cells in the head, labels that are all different are accepted."""
_ADVICE = "; correct it, or name the column in ", Parameter("categorical"), " or ", Parameter("ignore")


class FeatureEncoder:
    """Encodes the columns to learn from.

    Parameters
    ----------
    encoders : sequence of ColumnEncoder
        The encoder of each column.
    columns : sequence of str
        Names of the columns in the file.

    Attributes
    ----------
    names : tuple of str
        Names of the encoded columns.
    """

    def __init__(self, encoders: Sequence[ColumnEncoder], columns: Sequence[str]) -> None:
        self._encoders = encoders
        self._columns = columns
        self.names = unique_names([name for encoder in encoders for name in encoder.names])

    def __len__(self) -> int:
        return len(self._encoders)

    def encode(self, chunk: Chunk, *advice: str | Parameter) -> tuple[Matrix, RowErrors]:
        """Return the rows of a chunk that begins with these columns, and the reasons and advice for unusable rows."""
        rows = np.empty((len(chunk.places), len(self.names)))
        errors: RowErrors = {}
        first = 0
        for column, encoder, cells in zip(self._columns, self._encoders, chunk.columns, strict=False):
            values, column_errors = encoder.encode(cells)
            rows[:, first : first + values.shape[1]] = values
            first += values.shape[1]
            for i, reason in column_errors.items():
                errors.setdefault(i, DataError(f"column {column!r}: ", reason, *advice))
        return rows, errors

    def to_list(self) -> list[dict[str, Any]]:
        """Return a description of each encoder that JSON can hold."""
        return [encoder.to_dict() for encoder in self._encoders]


class Layout:
    """How the columns of a file are encoded; it depends on the head alone, and encodes any chunk of the file.

    Parameters
    ----------
    columns : sequence of FileColumn
        All columns of the file.
    roles : ColumnRoles
        Which of them are features, label and time.
    head : sequence of Cells
        The first cells of the columns in `roles.used`.
    file_name : str
        Name of the file in errors.
    options : FileOptions
        The options of the user.

    Attributes
    ----------
    roles : ColumnRoles
        As given, without the features that look like times or identifiers.
    columns : ColumnDescriptions
        What each column of the file is.
    notices : tuple of DataError
        A message for each feature that looks like a time or an identifier.
    """

    def __init__(
        self,
        columns: Sequence[FileColumn],
        roles: ColumnRoles,
        head: Sequence[Cells],
        file_name: str,
        options: FileOptions,
    ) -> None:
        cells = dict(zip(roles.used, head, strict=True))
        try:
            encoders: dict[int, ColumnEncoder] = {
                j: choose_encoder(roles.names[j], columns[j], cells[j], is_categorical=j in roles.categorical)
                for j in roles.features
            }
        except DataError as error:
            raise DataError(f"{file_name}: ", error) from error
        for j in roles.numeric:
            if not isinstance(encoders[j], NumberEncoder):
                raise DataError(
                    f"{file_name}: column {roles.names[j]!r} begins with {brief(cells[j][0])}; expected numbers or "
                    "dates, since the layout lists it as numeric"
                )
        self._has_header = any(column.name for column in columns)
        self._options = options
        self._label = LabelEncoder(columns[roles.label], cells[roles.label], is_text=roles.label in roles.categorical)
        _check_label(columns[roles.label], cells[roles.label], roles, file_name)
        self._time = None
        if roles.time is not None:
            read = choose_number_reader(columns[roles.time], cells[roles.time])
            if read is None:
                raise DataError(
                    f"{file_name}: time column {roles.names[roles.time]!r} begins with {brief(cells[roles.time][0])}; "
                    "expected numbers, or dates such as 2021-03-04 or 2021-03-04T05:06:07Z"
                )
            self._time = encoders[roles.time] = NumberEncoder(roles.names[roles.time], read)
        self.columns = describe_columns(roles, {j: HeadColumn(columns[j], cells[j], encoders.get(j)) for j in cells})
        self.notices = tuple(notices_of(self.columns, has_time=roles.time is not None))
        self.roles = roles.without({j for j, column in enumerate(self.columns) if column.role == "not used"})
        self._features = FeatureEncoder(
            [encoders[j] for j in self.roles.features], [roles.names[j] for j in self.roles.features]
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the stream."""
        return self._features.names

    def to_dict(self) -> dict[str, Any]:
        """Return a description that JSON can hold, from which `RowFile` reads other files in the same way."""
        return {
            "columns": list(self.roles.names),
            "has_header": self._has_header,
            "label": self.roles.label,
            "features": self._features.to_list(),
            "delimiter": self._options.delimiter,
            "encoding": self._options.encoding,
        }

    def encode(self, chunk: Chunk) -> tuple[Block, RowErrors]:
        """Return the rows of a chunk, and those that cannot be used with the reasons."""
        rows, errors = self._features.encode(chunk, *_ADVICE)
        labels, label_errors = self._label.encode(chunk.columns[len(self._features)])
        for i, reason in label_errors.items():
            errors.setdefault(i, DataError(f"label column {self.roles.names[self.roles.label]!r}: ", reason))
        times = np.full(len(rows), np.nan)
        if self._time is not None:
            column, time_errors = self._time.encode(chunk.columns[-1])
            times = column[:, 0]
            for i in np.flatnonzero(np.isnan(times)).tolist():
                reason = time_errors.get(i, "the time is missing")
                errors.setdefault(i, DataError(f"time column {self._time.names[0]!r}: ", reason))
        return Block(rows, labels, times), errors


def _check_label(column: FileColumn, head: Cells, roles: ColumnRoles, file_name: str) -> None:
    """Raise an error if most labels are different: they are not classes, and there would be too many."""
    if column.values is not None or roles.label in roles.categorical:
        return
    n_cells = len(head)
    n_values = len({parse_text(cell) for cell in to_sequence(head) if can_parse(parse_text, cell)})
    if n_cells >= MIN_LABEL_CELLS and 2 * n_values > n_cells:
        raise DataError(
            f"{file_name}: label column {roles.names[roles.label]!r} has {n_values:,} different values in the first "
            f"{n_cells:,} rows; expected classes that recur: choose another column, cut its numbers into ranges, or "
            "name it in ",
            Parameter("categorical"),
            " too",
        )
