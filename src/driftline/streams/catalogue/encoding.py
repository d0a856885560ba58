"""Published streams prepared for classifiers: without columns that determine the label, with one-hot encoding."""

import numpy as np

from driftline.streams.catalogue.datasets import DatasetColumn
from driftline.streams.derived import DerivedStream
from driftline.streams.protocol import Stream
from driftline.types import Matrix, Vector


class EncodedStream(DerivedStream):
    """A published stream without the columns that determine the label, and with nominal columns one-hot encoded.

    Parameters
    ----------
    stream : Stream
        The stream, with codes in its nominal columns.
    columns : tuple of DatasetColumn
        Descriptions of its columns.
    with_leaks : bool
        Whether to keep the columns that determine the label.
    onehot : bool
        Whether to replace each nominal column by one column of 0 and 1 for each of its categories.

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`. The column for the category AA of the column airline is called "airline=AA".

    Examples
    --------
    >>> from driftline.streams import ArrayStream
    >>> columns = (DatasetColumn("suit", "nominal", values=("hearts", "spades"), code=1), DatasetColumn("rank"))
    >>> stream = EncodedStream(ArrayStream([[2, 13], [1, 7]], [0, 1]), columns, with_leaks=False, onehot=True)
    >>> stream.columns
    ('suit=hearts', 'suit=spades', 'rank')
    >>> next(stream.blocks()).rows
    array([[ 0.,  1., 13.],
           [ 1.,  0.,  7.]])
    """

    def __init__(self, stream: Stream, columns: tuple[DatasetColumn, ...], *, with_leaks: bool, onehot: bool) -> None:
        self._parts = [
            (position, column if onehot and column.kind == "nominal" else None)
            for position, column in enumerate(columns)
            if with_leaks or not column.leaks
        ]
        names = (
            name
            for position, column in self._parts
            for name in ((f"{column.name}={value}" for value in column.values) if column else (columns[position].name,))
        )
        super().__init__(stream, stream.name, tuple(names))

    def _derive(self, rows: Matrix) -> Matrix:
        return np.hstack([_encode(rows[:, position], column) for position, column in self._parts])


def _encode(values: Vector, column: DatasetColumn | None) -> Matrix:
    if column is None:
        return values[:, np.newaxis]
    codes = column.code + np.arange(len(column.values))
    return np.equal.outer(values, codes).astype(np.float64)
