"""Errors with intervals: of all rows, of the rows of a class, of those predicted as a class, and of recent rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema, whole_numbers
from driftline.core.state import ArrayState
from driftline.errors import ConfigError, DataError
from driftline.guarantees.error_interval import ErrorInterval, checked_count, error_interval, interval_with_share
from driftline.kernels.row_counts import BLOCKS_PER_WINDOW, N_BLOCKS, N_ROWS, N_WRONG, count_rows
from driftline.kernels.start_weights import start_weight
from driftline.types import Labels, State
from driftline.utils.validation import whole_number

WINDOWS = (100, 1_000, 10_000)
"""Lengths of the windows of recent rows."""
BLOCK_ROWS = np.array(WINDOWS, np.int64) // BLOCKS_PER_WINDOW
"""Number of rows in a block, for each kind of window."""
WINDOW_SCALE = 100.0
"""Windows up to about this number have nearly equal shares of δ."""
SINCE_VERSION = 3
"""Version of the format of model files that introduced these arrays."""


class ErrorIntervals(ArrayState):
    """Counts predictions and mistakes, and returns errors with limits that are valid at all times at once.

    Errors are available for all rows, for the rows of a class, for the rows predicted as a class, and for recent rows.
    Each method returns limits with a delta of their own: of several kinds of limits that are looked at, each one
    fails with probability at most delta. Only counts are kept, less than 1 KB plus 32 bytes for each class; the limits
    are computed when asked for, which takes some tens of microseconds.

    A row without a prediction (-1) counts as predicted wrongly, in the overall error and in that of its class.

    Parameters
    ----------
    n_classes : int, default=0
        Number of classes that are known at the start.

    Notes
    -----
    r_t is the probability, given the past, that the prediction at step t is wrong (see `error_interval`). What belongs
    to the past differs:

    - `overall`, `recent`, `of_prediction`: all that happened before the label was revealed; the row itself and its
      prediction may belong to it or not. For a predicted class, the rows are those predicted as this class.
    - `of_class`: all that happened before the row, and its label, but not the row itself. So r_t is the
      probability that a row of this class, as it would come at that time, is predicted wrongly.

    Labels may come late or in another order: a row counts when its label comes, and the past is what happened before
    that. Rows whose labels never come do not count, and nothing is said of them. Only `of_class` needs labels that come
    before the next row is predicted: otherwise the past contains the prediction.

    `recent` uses windows that begin at every tenth of their nominal length. Window number k has its own limits, which
    fail with probability at most w_k·delta. The weights w_k (``driftline.kernels.start_weights``) sum to at most 1, so
    with probability at least 1 - delta the limits hold in all windows at all times at once. They fall about as 1/k,
    so the limits of recent rows widen slowly with the age of the stream.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(2, size=5000)
    >>> predicted = np.where(rng.random(5000) < 0.1, 1 - labels, labels)  # one of ten is wrong
    >>> intervals = ErrorIntervals(n_classes=2)
    >>> intervals.update(predicted, labels)
    >>> overall = intervals.overall(delta=0.05)
    >>> round(overall.error, 3), round(overall.low, 3), round(overall.high, 3)
    (0.103, 0.087, 0.119)
    >>> recent = intervals.recent(1000, delta=0.05)
    >>> recent.n_rows, bool(recent.low < 0.1 < recent.high)
    (1000, True)
    """

    def __init__(self, n_classes: int = 0) -> None:
        n_classes = whole_number("n_classes", n_classes, at_least=0)
        self._totals = np.zeros(2, np.int64)
        self._by_class, self._by_prediction = np.zeros((n_classes, 2), np.int64), np.zeros((n_classes, 2), np.int64)
        self._blocks = np.zeros((len(WINDOWS), N_BLOCKS), np.int64)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self._by_class)

    def add_classes(self, n_classes: int) -> None:
        """Add classes at the end, without rows so far.

        Parameters
        ----------
        n_classes : int
            Number of classes to add.
        """
        added = ((0, whole_number("n_classes", n_classes, at_least=0)), (0, 0))
        self._by_class, self._by_prediction = np.pad(self._by_class, added), np.pad(self._by_prediction, added)

    def update(self, predicted: Labels, labels: Labels) -> None:
        """Add rows with their predictions, made before the labels were known.

        Parameters
        ----------
        predicted : ndarray of int
            Positions of the predicted classes; -1 for rows without a prediction.
        labels : ndarray of int
            Positions of the true classes.
        """
        predicted = _positions("predicted", predicted, self.n_classes, lowest=-1)
        labels = _positions("labels", labels, self.n_classes, lowest=0)
        if len(predicted) != len(labels):
            raise DataError(
                f"there are {len(predicted)} predictions and {len(labels)} labels; pass one of each for every row"
            )
        self.count(predicted, labels)

    def count(self, predicted: Labels, labels: Labels) -> None:
        """Add rows, as `update` does, without checking the positions.

        Parameters
        ----------
        predicted, labels : ndarray of int64
            As in `update`.
        """
        count_rows(predicted, labels, self._totals, self._by_class, self._by_prediction, self._blocks, BLOCK_ROWS)

    def overall(self, delta: float = 0.05) -> ErrorInterval:
        """Return the error of all rows.

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the limits ever fail.

        Returns
        -------
        ErrorInterval
            The error and its limits.
        """
        return error_interval(int(self._totals[N_ROWS]), int(self._totals[N_WRONG]), delta)

    def of_class(self, k: int, delta: float = 0.05) -> ErrorInterval:
        """Return the error of the rows of a class: 1 minus the recall of the class.

        Parameters
        ----------
        k : int
            Position of the class.
        delta : float, default=0.05
            Probability that the limits ever fail.

        Returns
        -------
        ErrorInterval
            The error and its limits.
        """
        n_rows, n_wrong = self._by_class[self._position(k)].tolist()
        return error_interval(n_rows, n_wrong, delta)

    def of_prediction(self, k: int, delta: float = 0.05) -> ErrorInterval:
        """Return the error of the rows predicted as a class: 1 minus the precision of the class.

        Parameters
        ----------
        k : int
            Position of the class.
        delta : float, default=0.05
            Probability that the limits ever fail.

        Returns
        -------
        ErrorInterval
            The error and its limits.
        """
        n_rows, n_wrong = self._by_prediction[self._position(k)].tolist()
        return error_interval(n_rows, n_wrong, delta)

    def recent(self, n_rows: int, delta: float = 0.05) -> ErrorInterval:
        """Return the error of about the last 100, 1,000 or 10,000 rows.

        Parameters
        ----------
        n_rows : {100, 1000, 10000}
            Nominal length. The rows are at least so many and less than a tenth more; all rows, if there are fewer.
        delta : float, default=0.05
            Probability that the limits ever fail, at any time and for any of the windows of this length.

        Returns
        -------
        ErrorInterval
            The error and its limits; its `n_rows` is the number of rows that were used.
        """
        if isinstance(n_rows, bool) or n_rows not in WINDOWS:
            raise ConfigError(f"n_rows must be one of {', '.join(map(str, WINDOWS))}; got {n_rows!r}")
        n, block_rows = int(self._totals[N_ROWS]), n_rows // BLOCKS_PER_WINDOW
        first_block = max(n - n_rows, 0) // block_rows
        n_used = n - first_block * block_rows
        used = np.arange(first_block, first_block + -(-n_used // block_rows)) % N_BLOCKS
        n_wrong = int(self._blocks[WINDOWS.index(n_rows), used].sum())
        # An altered file can have more mistakes in its blocks than rows.
        return interval_with_share(n_used, min(n_wrong, n_used), delta, start_weight(first_block + 1, WINDOW_SCALE))

    def _position(self, k: int) -> int:
        if self.n_classes == 0:
            raise ConfigError("k must be the position of a class, and there are no classes yet; call add_classes first")
        return checked_count("k", k, self.n_classes - 1)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return {
            "totals": _row_counts(()),
            "by_class": _row_counts((self.n_classes,)),
            "by_prediction": _row_counts((self.n_classes,)),
            "blocks": ArraySpec(self._blocks.shape, np.int64, 0, BLOCK_ROWS[:, None], since=SINCE_VERSION),
        }

    def restore(self, state: State) -> None:
        """Continue from what ``state`` returned; start anew from files of versions 1 and 2, which have no counts.

        Parameters
        ----------
        state : dict
            The arrays by name; empty for such files.
        """
        if state:
            super().restore(state)


def _row_counts(shape: tuple[int, ...]) -> ArraySpec:
    """Return the description of numbers of rows and, in the last column, of mistakes among them."""
    counts = whole_numbers((*shape, 2), MOST_COUNTED / 2)  # so that rows to come can be counted too
    return replace(counts, since=SINCE_VERSION, condition=_is_possible, meaning="have at most as many mistakes as rows")


def _is_possible(counts: NDArray[Any]) -> bool:
    return bool(np.all(counts[..., N_WRONG] <= counts[..., N_ROWS]))


def _positions(name: str, values: Any, n_classes: int, lowest: int) -> Labels:
    """Return positions of classes as an array; raise DataError if they are not."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise DataError(
            f"{name} must be a one-dimensional array of whole numbers, the positions of classes; got an array of shape "
            f"{array.shape} and type {array.dtype}"
        )
    if array.size and not (lowest <= array.min() and array.max() < n_classes):
        raise DataError(
            f"{name} must be positions from {lowest} to {n_classes - 1}; got {array.min()} to {array.max()}; "
            "call add_classes for classes that were not known before"
        )
    return array.astype(np.int64, copy=False)
