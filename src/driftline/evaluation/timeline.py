"""The timeline of an evaluation: sums over windows of rows, at most 512 of them however long the stream is."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftline.evaluation.change_sizes import SearchedChanges
from driftline.evaluation.changes import FALSE_ALARM_PROBABILITY, Change, ChangeSearch, search_changes
from driftline.evaluation.class_counts import ClassCounter, ClassCounts
from driftline.evaluation.distribution import Distribution
from driftline.evaluation.guarantee_record import StatedRows
from driftline.evaluation.metrics import Measured, metric_named, positive_label
from driftline.evaluation.summary import counted_bounds, differ
from driftline.evaluation.value_counts import ValueCounts
from driftline.evaluation.window_stats import SUMS, ColumnTotals, WindowStats, merge_windows, padded
from driftline.guarantees import Alarm
from driftline.types import Block, LabelArray, Labels, Matrix, Predictions, Vector

MAX_WINDOWS = 512
"""Number of windows at which neighbouring windows are merged in pairs."""
MIN_WINDOW_ROWS = 16
"""Rows in a window before the first merge."""
MAX_COLUMN_SUMS = 8192
"""Columns are summed while classes × columns is at most this, because each window keeps two numbers for each."""
N_BINS = 50
"""Number of bins for bounds between 0 and 1."""
MAX_ROWS_AT_ONCE = 512
"""Rows that are added in one step, which limits the temporary memory."""
NO_LABELS: LabelArray = np.empty(0)


class Timeline:
    """An evaluation over time, as `evaluate` returns it.

    Windows are 16 rows long at first. Whenever there are 512, they are merged in pairs and windows are twice as long
    from then on. The memory is therefore limited: usually some ten megabytes, and at most 300 MB with many columns and
    classes.

    Parameters
    ----------
    columns : sequence of str
        Names of the stream's columns.

    Attributes
    ----------
    columns : tuple of str
        Names of the stream's columns.
    classes : list
        The labels, in the order of their first rows.
    n_rows : int
        Number of rows.
    window_length : int
        Rows in a window; the last window may be shorter.
    has_columns : bool
        Whether the columns are summed; False if classes × columns is more than 8192.
    alarms : list of Alarm
        The alarms that were raised, at most 1,000; set at the end of an evaluation.
    calibration_bins : ndarray of shape (3, 50)
        For 50 equal bins of bounds between 0 and 1: the number of steps, their expected mistakes, and the sum of
        their bounds.

    Examples
    --------
    >>> from driftline import AMRC
    >>> from driftline.evaluation import evaluate
    >>> from driftline.streams import ArrayStream, MovingClass
    >>> stream = ArrayStream(*MovingClass().sample(600, seed=0))
    >>> timeline = evaluate(AMRC(features="linear"), stream, progress=False).timeline
    >>> timeline.n_rows, sorted(timeline.classes)
    (600, [0, 1])
    >>> [window.n_rows for window in timeline.windows(4)]
    [160, 160, 160, 120]
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.classes: list[Any] = []
        self.n_rows = 0
        self.window_length = MIN_WINDOW_ROWS
        self.has_columns = True
        self.alarms: list[Alarm] = []
        self.calibration_bins: Matrix = np.zeros((3, N_BINS))
        self._column_totals = ColumnTotals(len(self.columns))
        self._class_counter = ClassCounter()
        self._value_counts = ValueCounts(len(self.columns), MAX_COLUMN_SUMS)
        self._windows: list[WindowStats] = []
        self._search: ChangeSearch | None = None

    def add(
        self,
        block: Block,
        predictions: Predictions,
        stated: StatedRows | None = None,
        columns: LabelArray = NO_LABELS,
        costs: Matrix | None = None,
    ) -> None:
        """Add rows that were predicted.

        Parameters
        ----------
        block : Block
            Rows with labels.
        predictions : Predictions
            The predictions of the classifier for these rows.
        stated : StatedRows, optional
            What was said of these rows; by default nothing.
        columns : ndarray, optional
            The classes that the columns of the probabilities belong to; by default none are known.
        costs : ndarray of shape (n_rows, 2), optional
            What the predicted label of each row cost, and what the label that is predicted without costs would have
            cost; by default there are no costs.
        """
        self._search = None
        stated = StatedRows.nothing(len(predictions)) if stated is None else stated
        places = self._places(block.labels)
        rate_bounds, expected = counted_bounds(predictions), 1.0 - predictions.label_probabilities
        self._fill_bins(expected, rate_bounds)
        wrong = differ(predictions.predicted, block.labels)
        bounds = np.minimum(predictions.bounds, 1.0)
        on_answers = stated.is_stated, stated.is_answered, stated.is_answered & wrong
        on_sets = stated.set_sizes, stated.is_covered
        costs = np.full((len(predictions), 2), np.nan) if costs is None else costs
        figures = np.column_stack(
            [wrong, expected, bounds, rate_bounds, predictions.total_charges, *on_answers, *on_sets, costs]
        )
        if self.has_columns:
            self._column_totals.set_origin(block.rows)
        by_class = self._class_counter.rows(block.labels, predictions, columns)
        done = 0
        while done < len(places):
            n, n_windows = self._next_rows(len(places) - done)
            part = slice(done, done + n)
            if self.has_columns:
                first_window = self.n_rows // self.window_length
                self._value_counts.add(block.rows[part], places[part], first_window, n_windows)
            counts = by_class.counts(part, n_windows)
            self._append(self._sum(block.part(part), places[part], figures[part], counts))
            done += n

    def _places(self, labels: LabelArray) -> Labels:
        """Return the positions of labels in `classes`, after adding the new ones."""
        values = labels.tolist()
        self.classes = list(dict.fromkeys([*self.classes, *values]))
        position = {label: place for place, label in enumerate(self.classes)}
        places = np.fromiter(map(position.__getitem__, values), np.int64, len(values))
        if self.has_columns and len(self.classes) * len(self.columns) > MAX_COLUMN_SUMS:
            self.has_columns = False
            self._windows = [window.without_columns() for window in self._windows]
            self._value_counts = ValueCounts(0, 0)
        return places

    def _fill_bins(self, expected: Vector, bounds: Vector) -> None:
        known = ~(np.isnan(expected) | np.isnan(bounds))
        bins = np.clip(bounds[known] * N_BINS, 0, N_BINS - 1).astype(np.int64)
        for row, weights in enumerate((None, expected[known], bounds[known])):
            self.calibration_bins[row] += np.bincount(bins, weights, minlength=N_BINS)

    def _next_rows(self, n_left: int) -> tuple[int, int]:
        """Return how many rows to add next, and to how many windows they belong."""
        length, n = self.window_length, min(n_left, MAX_ROWS_AT_ONCE)
        n_open = self.n_rows % length
        if n_open or n < length:
            return min(n, length - n_open), 1
        n_windows = min(n // length, MAX_WINDOWS - len(self._windows))
        return n_windows * length, n_windows

    def _sum(self, block: Block, places: Labels, figures: Matrix, by_class: list[ClassCounts]) -> list[WindowStats]:
        """Return the sums over rows that make up windows of equal length, of which the counts by class are given."""
        n_windows = len(by_class)
        n, c = len(places) // n_windows, len(self.classes)
        members = np.equal.outer(np.arange(c), places).astype(np.float64)
        by_window = members.reshape(c, n_windows, n).transpose(1, 0, 2)
        counts = by_window.sum(axis=2)
        sums, known = np.zeros((2, n_windows, c, 0))
        if self.has_columns:
            values, missing = self._column_totals.add(block.rows, places, members)
            sums = by_window @ values.reshape(n_windows, n, -1)
            known = np.repeat(counts[:, :, np.newaxis], len(self.columns), axis=2)
            if missing.any():
                known = by_window @ ~missing.reshape(n_windows, n, -1)
        totals = figures.reshape(n_windows, n, -1).sum(axis=1).tolist()
        ends = block.times[n - 1 :: n].tolist()
        return [
            WindowStats(
                first=self.n_rows + k * n,
                n_rows=n,
                end_time=ends[k],
                class_counts=counts[k],
                column_sums=sums[k],
                column_counts=known[k],
                by_class=by_class[k],
                **dict(zip(SUMS, totals[k], strict=True)),
            )
            for k in range(n_windows)
        ]

    def _append(self, windows: list[WindowStats]) -> None:
        if self.n_rows % self.window_length:
            self._windows[-1] += windows[0]
        else:
            self._windows += windows
        self.n_rows += sum(window.n_rows for window in windows)
        if len(self._windows) == MAX_WINDOWS and self.n_rows % self.window_length == 0:
            self._windows = merge_windows(self._windows, 2)
            self._value_counts.merge_windows()
            self.window_length *= 2

    def windows(self, most: int = MAX_WINDOWS) -> list[WindowStats]:
        """Return the windows, merged until there are few enough.

        Parameters
        ----------
        most : int, default=512
            Largest number of windows.

        Returns
        -------
        list of WindowStats
            Windows of equal length, in order; the last may be shorter.
        """
        return merge_windows(self._windows, -(-len(self._windows) // most)) if self._windows else []

    def deviations(self) -> Matrix:
        """Return the standard deviation of each column in each class, over the whole stream.

        Returns
        -------
        ndarray of shape (n_classes, n_columns)
            NaN where no value was known.
        """
        if not self.has_columns:
            return np.full((len(self.classes), len(self.columns)), np.nan)
        (total,) = self.windows(1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = total.column_sums / total.column_counts
            variances = self._column_totals.squares / total.column_counts - means**2
        return np.sqrt(np.maximum(variances, 0.0))

    def means(self, windows: Sequence[WindowStats]) -> Vector:
        """Return the mean of each column in each class, in the units of the columns.

        Parameters
        ----------
        windows : sequence of WindowStats
            Windows of this timeline.

        Returns
        -------
        ndarray of shape (n_windows, n_classes, n_columns)
            NaN where no value was known.
        """
        if not self.has_columns:
            return np.full((len(windows), len(self.classes), len(self.columns)), np.nan)
        sums, known = self.column_sums(windows)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Vector = self._column_totals.origin + sums / known
        return means

    def column_sums(self, windows: Sequence[WindowStats]) -> tuple[Vector, Vector]:
        """Return the sums of the columns, after subtracting their first values, and the numbers of known values.

        Parameters
        ----------
        windows : sequence of WindowStats
            Windows of this timeline.

        Returns
        -------
        sums, known : ndarray of shape (n_windows, n_classes, n_columns)
            Without columns if they are not summed.
        """
        c = len(self.classes)
        sums = np.array([padded(window.column_sums, c) for window in windows])
        known = np.array([padded(window.column_counts, c) for window in windows])
        return sums, known

    def class_counts(self, windows: Sequence[WindowStats]) -> Matrix:
        """Return the number of rows of each class.

        Parameters
        ----------
        windows : sequence of WindowStats
            Windows of this timeline.

        Returns
        -------
        ndarray of shape (n_windows, n_classes)
            By window and class.
        """
        return np.array([padded(window.class_counts, len(self.classes)) for window in windows])

    @property
    def support(self) -> dict[Any, int]:
        """The number of rows of each class that occurred, by label."""
        if not self._windows:
            return {}
        return dict(zip(self.classes, map(int, self.class_counts(self._windows).sum(axis=0)), strict=True))

    def measured(self, window: WindowStats, positive: Any = None) -> Measured:
        """Return the counts by class of a window; the classes of the timeline come first, in their order.

        Parameters
        ----------
        window : WindowStats
            A window of this timeline.
        positive : label, optional
            The positive class, which must have occurred.

        Returns
        -------
        Measured
            What the functions of ``driftline.evaluation.metrics`` compute their figures from.
        """
        counter = self._class_counter
        order = [counter.classes[label] for label in dict.fromkeys([*self.classes, *counter.classes])]
        counts = window.by_class.expanded(len(order), counter.n_bins).reordered(order)
        return Measured(counts, None if positive is None else self.classes.index(positive), counter.is_tie[order])

    def measure(self, by: str, windows: Sequence[WindowStats], positive: Any = None) -> Vector:
        """Return a measure of each window.

        Parameters
        ----------
        by : str
            The name of the measure, as for `compare`, such as "recall" or "average-precision".
        windows : sequence of WindowStats
            Windows of this timeline.
        positive : label, optional
            The positive class; by default the rarer of two classes.

        Returns
        -------
        ndarray of shape (n_windows,)
            NaN where the measure is undefined, such as the recall in a window without rows of the positive class.

        Examples
        --------
        >>> import numpy as np
        >>> from driftline.evaluation import evaluate
        >>> from driftline.registry import create
        >>> from driftline.streams import ArrayStream
        >>> labels = np.array(["fine", "fraud", "fraud", "fine"] * 16)
        >>> stream = ArrayStream(np.zeros((64, 1)), labels)
        >>> timeline = evaluate(create("no-change"), stream, progress=False).timeline
        >>> timeline.measure("recall", timeline.windows(2), positive="fraud")
        array([0.5, 0.5])
        """
        metric, label = metric_named(by), positive_label(self.support, positive)
        return np.array([metric.value(self.measured(window, label)) for window in windows])

    def changes(self, most: int = 5) -> list[Change]:
        """Return the rows at which the stream changed most. They are searched for once, at the first call.

        Compared are, before and after a row: the location and the spread of each column in each class, by the ranks of
        its values (of a column of zeros and ones, the share of ones); the share of missing values of each column; and
        the share of each class. Mean scores are compared over 1, 2, 4, … windows on both sides of each window's end.
        Their standard errors are estimated from differences between neighbouring batches of 1, 2, 4, … windows, up to
        the length compared or an eighth of the stream, and the largest counts. Neighbouring rows may therefore be
        correlated. Swings that keep returning, such as seasons, make all differences large, so that they do not count
        as changes; but switches that are sharp, few (up to about a dozen) and far apart do. The largest differences are
        left out of the estimate, so that changes do not hide themselves. A difference on a slope, rather than between
        two levels, is a change only if the stream was never at its upper end before and never at its lower end after,
        or the other way round.

        A change is reported if it would appear by chance in one of a hundred streams that do not change. Short
        comparisons come first, so that each change is found at its row and long comparisons do not span it. A stream
        needs 8 windows, which are 128 rows.

        Parameters
        ----------
        most : int, default=5
            Largest number of changes.

        Returns
        -------
        list of Change
            The strongest changes, in the order of rows.

        Examples
        --------
        >>> from driftline.evaluation import evaluate
        >>> from driftline.registry import create
        >>> from driftline.streams import AbruptDrift, ArrayStream, GaussianClasses
        >>> stream = AbruptDrift([GaussianClasses([[0, 0], [2, 0]]), GaussianClasses([[0, 3], [2, 0]])], at=[1000])
        >>> stream = ArrayStream(*stream.sample(2000, seed=0))
        >>> (change,) = evaluate(create("dwm"), stream, progress=False).timeline.changes()
        >>> abs(change.row - 1000) <= 32, change.shifts[0].feature, change.shifts[0].label
        (True, 'x1', 0)
        """
        return sorted(self._searched().changes[:most], key=lambda change: change.row)

    def moving_columns(self, most: int) -> list[tuple[int, int]]:
        """Return the columns of classes whose location moved most.

        Parameters
        ----------
        most : int
            Largest number of columns.

        Returns
        -------
        list of (int, int)
            Positions in `classes` and in `columns`, the strongest first.
        """
        strengths = self._searched().column_strengths.ravel()
        order: list[int] = np.argsort(-strengths, kind="stable")[:most].tolist()
        return [divmod(cell, len(self.columns)) for cell in order if strengths[cell] > 0.0]

    def distributions(
        self, column: int, labels: Sequence[int], parts: Sequence[tuple[int, int]]
    ) -> list[Distribution | None]:
        """Return the distribution of the values of a column in parts of the stream, from counts at up to 63 values.

        Parameters
        ----------
        column : int
            Position in `columns`, which must be summed.
        labels : sequence of int
            Positions in `classes` of the classes whose rows count.
        parts : sequence of (int, int)
            The first row of each part and the row after its last; parts of windows count as whole ones.

        Returns
        -------
        list of Distribution or None
            None for parts in which no value is known.
        """
        values, length = self._value_counts.completed(), self.window_length
        return [values.distribution(slice(first // length, -(-end // length)), labels, column) for first, end in parts]

    def missing_shares(self, windows: Sequence[WindowStats]) -> Matrix:
        """Return the share of the rows in which each column is missing.

        Parameters
        ----------
        windows : sequence of WindowStats
            Windows of this timeline.

        Returns
        -------
        ndarray of shape (n_windows, n_columns)
            Without columns if they are not summed.
        """
        known = self.column_sums(windows)[1].sum(axis=1)
        shares: Matrix = 1.0 - known / np.array([[window.n_rows] for window in windows])
        return shares

    def searched_changes(self) -> SearchedChanges | None:
        """Return what the search for changes compared, and how large a change it would have found.

        Returns
        -------
        SearchedChanges or None
            None if the stream is too short.
        """
        return self._searched().searched

    def search_now(self, probability: float) -> list[Change]:
        """Search the rows so far for changes to levels that last and were not there before.

        Parameters
        ----------
        probability : float
            Probability of finding a change in a stream that does not change.

        Returns
        -------
        list of Change
            The strongest first.
        """
        return self._search_with(probability, only_new_levels=True).changes

    def _searched(self) -> ChangeSearch:
        if self._search is None:
            self._search = self._search_with(FALSE_ALARM_PROBABILITY, only_new_levels=False)
        return self._search

    def _search_with(self, probability: float, *, only_new_levels: bool) -> ChangeSearch:
        names = self.columns if self.has_columns else ()
        return search_changes(self._windows, self._value_counts, self.classes, names, probability, only_new_levels)
