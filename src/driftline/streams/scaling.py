"""A stream whose columns are scaled by their range over the whole of it."""

import numpy as np

from driftline.errors import ConfigError
from driftline.streams.base import Stream
from driftline.streams.derived import DerivedStream
from driftline.types import Matrix


class RangeScaled(DerivedStream):
    """A stream with each column mapped from its range over the whole stream to [0, 1].

    That is a look into the future, which the experiments of the paper take: use it to compare with them. It
    reads the stream once to begin with.

    Parameters
    ----------
    stream : Stream
        The stream to scale. A column that never changes is left alone, and so are missing values.

    Attributes
    ----------
    name, columns, n_rows, n_skipped
        Those of the stream.

    Examples
    --------
    >>> from driftline.streams import ArrayStream
    >>> stream = RangeScaled(ArrayStream([[5.0, 1.0], [7.0, 1.0], [6.0, 1.0]], [0, 1, 0]))
    >>> next(stream.blocks()).rows.tolist()
    [[0.0, 1.0], [1.0, 1.0], [0.5, 1.0]]
    """

    def __init__(self, stream: Stream) -> None:
        if not isinstance(stream, Stream):
            raise ConfigError(f"stream must be a Stream, such as ArrayStream(X, y); got {type(stream).__name__}")
        low, high = np.full((2, len(stream.columns)), [[np.inf], [-np.inf]])
        for block in stream.blocks():
            low = np.fmin(low, np.fmin.reduce(block.rows))
            high = np.fmax(high, np.fmax.reduce(block.rows))
        usable = low < high
        self._low, self._high = np.where(usable, low, 0.0), np.where(usable, high, 1.0)
        super().__init__(stream, f"{stream.name}, scaled by range", stream.columns)

    def _derive(self, rows: Matrix) -> Matrix:
        scaled: Matrix = (rows - self._low) / (self._high - self._low)
        return scaled
