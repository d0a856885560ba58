"""The loop of an evaluation: predict and learn the rows of a stream, and write records and checkpoints."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.evaluation.change_watch import LOOK_ROWS, ChangeWatch
from driftline.evaluation.changes import Change
from driftline.evaluation.clock import Clock
from driftline.evaluation.cost_record import CostRecord
from driftline.evaluation.delay import LabelSchedule, PendingLabels
from driftline.evaluation.guarantee_record import ALARM_CHECK_ROWS, GuaranteeRecord, StatedRows
from driftline.evaluation.label_baselines import LabelBaselines, LabelPredictions, join_label_predictions
from driftline.evaluation.model_adapters import ModelAdapter
from driftline.evaluation.records import RecordWriter
from driftline.evaluation.run_checkpoint import write_run
from driftline.evaluation.scheduling import InterruptHandler, SaveTimer, SliceLength, StopRequested
from driftline.evaluation.summary import RunningTotals
from driftline.evaluation.timeline import Timeline
from driftline.evaluation.verdict import BaselineComparison
from driftline.streams import Stream
from driftline.types import Block, Indices, Matrix, Predictions, Vector
from driftline.utils.progress import ProgressBar


@dataclass(slots=True)
class EvaluationState:
    """Everything that is needed to resume an evaluation."""

    model: Any
    totals: RunningTotals
    timeline: Timeline
    pending: PendingLabels
    clock: Clock
    guarantees: GuaranteeRecord
    baselines: LabelBaselines
    comparison: BaselineComparison
    costs: CostRecord | None = None
    change_watch: ChangeWatch = field(default_factory=ChangeWatch)
    n_skipped: int = 0
    last_row_digest: str = ""
    """Digest of the last row and its label, by which a changed stream is noticed when the run is resumed."""

    @property
    def n_rows(self) -> int:
        """Number of rows so far, which is the position of the next row."""
        return self.totals.n_rows


class EvaluationRun:
    """Runs a classifier over a stream.

    Parameters
    ----------
    state : EvaluationState
        The state to begin with, which is updated.
    classifier : ModelAdapter
        The adapter of the state's model.
    schedule : LabelSchedule or None
        When labels arrive; None if each arrives at once.
    folder : Path or None
        Folder for records and checkpoints; None to write none.
    about : dict
        Description of the run.
    on_change : callable, optional
        Called with each change when it is found.
    """

    def __init__(
        self,
        state: EvaluationState,
        classifier: ModelAdapter,
        schedule: LabelSchedule | None,
        folder: Path | None,
        about: dict[str, Any],
        on_change: Callable[[Change], object] | None = None,
    ) -> None:
        self._state = state
        self._classifier = classifier
        self._schedule = schedule
        self._folder = folder
        self._about = about
        self._on_change = on_change
        self._records = None if folder is None else RecordWriter(folder / "records", about, state.n_rows)
        self._length = SliceLength()
        self._timer = SaveTimer()
        self._is_consistent = True  # False while the classifier learns, and after it failed
        self._save(at_once=True)  # so that a classifier that cannot be saved is refused before the first row

    def process(self, stream: Stream, limit: int | None, bar: ProgressBar) -> bool:
        """Run to the end of the stream or to the limit; return False if it was interrupted before."""
        state, n_before, last = self._state, self._state.n_rows, time.perf_counter()
        with InterruptHandler() as interrupt, bar:
            bar.advance(n_before, "starting; the first run compiles, for a minute or so")
            started = time.perf_counter()
            slices = self._slices(stream, limit)
            try:
                while True:
                    with interrupt.while_waiting():
                        rows = next(slices, None)
                    if rows is None:
                        return True
                    self._evaluate_rows(rows, stream)
                    self._report_changes()
                    now = time.perf_counter()
                    state.totals.seconds += now - last
                    last = now
                    rate = (state.n_rows - n_before) / (now - started)
                    bar.advance(len(rows.rows), f"error {state.totals.error:.1%}, {rate:,.0f} rows/s")
                    self._save(at_once=False)
            except StopRequested:
                return state.n_rows == stream.n_rows  # Ctrl-C may have come after the last row
            finally:
                self._save(at_once=True)

    def _slices(self, stream: Stream, limit: int | None) -> Iterator[Block]:
        left = np.inf if limit is None else limit - self._state.n_rows
        for block in self._remaining_blocks(stream):  # which checks the last row even if no row is left
            first, end = 0, int(min(left, len(block.rows)))
            while first < end:
                n_unchecked = self._state.n_rows % ALARM_CHECK_ROWS
                part = slice(first, min(first + self._length.rows, first + ALARM_CHECK_ROWS - n_unchecked, end))
                yield block.part(part)
                first = part.stop
            left -= end
            if left <= 0:
                return

    def _remaining_blocks(self, stream: Stream) -> Iterator[Block]:
        """Yield the rows that are left, after checking that the last row of the run is still in its place."""
        state = self._state
        seen = min(state.n_rows, 1)
        for block in stream.blocks(state.n_rows - seen):
            if seen and digest_of(block, 0) != state.last_row_digest:
                raise CheckpointError(
                    f"row {state.n_rows - 1} of {stream.name} is not the last row of the run: the stream has changed; "
                    "start again in another folder"
                )
            state.n_skipped = getattr(stream, "n_skipped", 0)
            if len(block.rows) > seen:
                yield block.part(slice(seen, None))
            seen = 0
        state.n_skipped = getattr(stream, "n_skipped", 0)  # including those after the last block

    def _evaluate_rows(self, rows: Block, stream: Stream) -> None:
        first, n = self._state.n_rows, len(rows.rows)
        if self._schedule is not None:
            self._schedule.check(first, rows.times)
        start = time.perf_counter()
        self._is_consistent = False
        try:
            clocked = replace(rows, times=self._state.clock.read(rows.times))
            if self._schedule is None:
                predictions, stated, costs = self._with_prompt_labels(clocked)
                self._state.comparison.predict_then_learn(rows)
                baselines, waiting = self._state.baselines.predict_then_learn(rows.labels), np.zeros(n, np.int64)
            else:
                predictions, stated, costs, baselines, waiting = self._with_late_labels(
                    clocked, rows.times, self._schedule
                )
        except ConfigError:  # about the parameters of the classifier, not about the rows
            raise
        except (ValueError, TypeError, AttributeError) as error:
            place = f"row {first}" if n == 1 else f"rows {first} to {first + n - 1}"
            counted = "" if n == 1 else "counted from the first of these, "
            raise DataError(f"the classifier cannot use {place} of {stream.name}: {counted}{error}") from error
        if self._records is not None:
            self._records.add(rows, predictions, waiting, stated, baselines)
        self._state.totals.add(rows.labels, predictions)
        self._state.comparison.compare(rows.labels, predictions.predicted, baselines)
        self._state.timeline.add(rows, predictions, stated, self._classifier.classes, costs)
        if self._state.n_rows % ALARM_CHECK_ROWS == 0:
            self._state.guarantees.note_alarm(self._state.model, stream.columns)
        self._state.last_row_digest = digest_of(rows, n - 1)
        self._is_consistent = True
        self._length.update(n, time.perf_counter() - start)

    def _report_changes(self) -> None:
        if self._on_change is not None and self._state.n_rows % LOOK_ROWS == 0:
            for change in self._state.change_watch.new_changes(self._state.timeline):
                self._on_change(change)

    def _with_prompt_labels(self, rows: Block) -> tuple[Predictions, StatedRows, Matrix | None]:
        """Predict each row, say how far that can be trusted, and learn its label; the last is what each row cost."""
        guarantees, costs, of_rows = self._state.guarantees, self._state.costs, None
        before = self._classifier.classes.tolist()
        guarantees.add_classes(before)
        predictions = self._classifier.prequential(rows)
        if costs is not None:
            costs.add_classes(before)
            predictions, of_rows = costs.choose_then_learn(predictions, self._classifier.classes)
        return predictions, guarantees.state_then_learn(predictions, self._classifier.classes), of_rows

    def _with_late_labels(
        self, rows: Block, times: Vector, schedule: LabelSchedule
    ) -> tuple[Predictions, StatedRows, Matrix | None, LabelPredictions, Indices]:
        """Predict each row after learning the labels that have arrived by then; `times` are those of the stream."""
        pending, first = self._state.pending, self._state.n_rows
        predictions, stated, costs, baselines, waiting = [], [], [], [], np.zeros(len(times), np.int64)
        for t, row_time in enumerate(times.tolist()):
            seconds = self._learn(schedule.now(first + t, row_time))
            row = rows.part(slice(t, t + 1))
            waiting[t] = len(pending)
            pending.has_waited |= len(pending) > 0
            assessed = replace(self._classifier.assess(row, pending.asked), learn_seconds=np.array([seconds]))
            if self._state.costs is not None:
                self._state.costs.add_classes(self._classifier.classes.tolist())
                assessed, of_row = self._state.costs.choose_row(first + t, assessed, self._classifier.classes)
                costs.append(of_row)
            predictions.append(assessed)
            stated.append(self._state_row(first + t, predictions[-1]))
            baselines.append(self._state.baselines.predict(row.labels.tolist()[0]))
            self._state.comparison.predict(row)
            self._classifier.observe(replace(row, ids=np.array([first + t])))
            pending.asked += 1
            pending.push(schedule.due(first + t, row_time), first + t, row)
        # Labels that have arrived by now are learned here rather than before the next row, so that a run that ends
        # with this slice has learned them too.
        predictions[-1].learn_seconds[0] += self._learn(schedule.now(first + len(times), times[-1]))
        joined = join_label_predictions(baselines)
        of_rows = np.concatenate(costs) if costs else None
        return Predictions.concatenate(predictions), StatedRows.concatenate(stated), of_rows, joined, waiting

    def _state_row(self, row: int, predictions: Predictions) -> StatedRows:
        """Say how far the prediction of one row can be trusted, until its label arrives."""
        guarantees, classes = self._state.guarantees, self._classifier.classes
        guarantees.add_classes(classes.tolist())
        return guarantees.state_row(row, predictions, classes)

    def _learn(self, now: float) -> float:
        """Learn the labels that have arrived; return the seconds that it took."""
        arrived = self._state.pending.pop_due(now)
        if arrived is None or arrived.ids is None:
            return 0.0
        start = time.perf_counter()
        self._classifier.learn(arrived)
        self._state.pending.asked = 0
        seconds = time.perf_counter() - start
        self._state.guarantees.learn_rows(arrived.ids, arrived.labels)
        if self._state.costs is not None:
            self._state.costs.learn_rows(arrived.ids, arrived.labels)
        self._state.baselines.learn(arrived.labels)
        self._state.comparison.learn(arrived)
        return seconds

    def _save(self, *, at_once: bool) -> None:
        if self._records is None or self._folder is None:
            return
        if at_once or self._timer.is_record_due() or self._records.is_full:
            self._records.flush()
            self._timer.records_written()
            if self._is_consistent and (at_once or self._timer.is_checkpoint_due()):
                start = time.perf_counter()
                write_run(self._folder, self._about, self._state)
                self._timer.checkpoint_written(start)


def digest_of(block: Block, t: int) -> str:
    """Return a digest of a row and its label."""
    return hashlib.sha256(block.rows[t].tobytes() + repr(block.labels[t : t + 1].tolist()).encode()).hexdigest()
