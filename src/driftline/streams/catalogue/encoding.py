"""A published stream as a classifier should see it: without columns that give the label away, codes spread out."""

import numpy as np

from driftline.streams.catalogue.datasets import Column
from driftline.streams.derived import DerivedStream
from driftline.streams.protocol import Stream
from driftline.types import Matrix, Vector


class EncodedStream(DerivedStream):
    """Some columns of a stream, the nominal ones as one column of 0 and 1 for each of their values.

    Parameters
    ----------
    stream : Stream
        The stream, its nominal columns as codes.
    columns : tuple of Column
        What its columns are.
    with_leaks : bool
        Whether to keep the columns that decide the label.
    onehot : bool
        Whether to spread nominal columns out.

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`. The columns of airline AA and so on are called "airline=AA" and so on.

    Examples
    --------
    >>> from driftline.streams import ArrayStream
    >>> columns = (Column("suit", "nominal", values=("hearts", "spades"), code=1), Column("rank"))
    >>> stream = EncodedStream(ArrayStream([[2, 13], [1, 7]], [0, 1]), columns, with_leaks=False, onehot=True)
    >>> stream.columns
    ('suit=hearts', 'suit=spades', 'rank')
    >>> next(stream.blocks()).rows
    array([[ 0.,  1., 13.],
           [ 1.,  0.,  7.]])
    """

    def __init__(self, stream: Stream, columns: tuple[Column, ...], *, with_leaks: bool, onehot: bool) -> None:
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


def _encode(values: Vector, column: Column | None) -> Matrix:
    if column is None:
        return values[:, np.newaxis]
    codes = column.code + np.arange(len(column.values))
    return np.equal.outer(values, codes).astype(np.float64)
