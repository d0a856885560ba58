"""A run: the rows of a stream through a classifier, with records and checkpoints on the way."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.evaluation.checkpoint import write_run
from driftline.evaluation.clock import Clock
from driftline.evaluation.course import Course
from driftline.evaluation.delay import Pending, Schedule
from driftline.evaluation.examinees import Examinee
from driftline.evaluation.pace import Interruption, SliceLength, Stopped, Timer
from driftline.evaluation.records import RecordWriter
from driftline.evaluation.summary import Tally
from driftline.streams import Stream
from driftline.types import Block, Indices, Predictions, Vector
from driftline.utils.progress import ProgressBar


@dataclass(slots=True)
class State:
    """What a continuation needs: the classifier, the sums, the rows that wait for their labels, and so on."""

    model: Any
    tally: Tally
    pending: Pending
    clock: Clock
    course: Course | None = None
    n_skipped: int = 0
    latest: str = ""
    """Digest of the latest row and its label: a resumed stream must have them too."""

    @property
    def n_rows(self) -> int:
        """Rows evaluated so far: the position of the next."""
        return self.tally.n_rows


class Run:
    """Carries a state through a stream.

    Parameters
    ----------
    state : State
        Where to begin; it advances.
    classifier : Examinee
        The state's model, behind the interface of the evaluation.
    arrivals : Schedule or None
        When labels are due; None if at once.
    folder : Path or None
        Where to keep records and checkpoints, if anywhere.
    about : dict
        What is run.
    """

    def __init__(
        self,
        state: State,
        classifier: Examinee,
        arrivals: Schedule | None,
        folder: Path | None,
        about: dict[str, Any],
    ) -> None:
        self._state = state
        self._classifier = classifier
        self._arrivals = arrivals
        self._folder = folder
        self._about = about
        self._records = None if folder is None else RecordWriter(folder / "records", about, state.n_rows)
        self._length = SliceLength()
        self._timer = Timer()
        self._is_whole = True  # False while the classifier is at work, and for good if it fails
        self._save(at_once=True)  # so that what cannot be saved is known at once

    def over(self, stream: Stream, limit: int | None, bar: ProgressBar) -> bool:
        """Run to the end or the limit; return whether it got there, rather than being interrupted."""
        state, begun, last = self._state, self._state.n_rows, time.perf_counter()
        with Interruption() as interruption, bar:
            bar.advance(begun)
            started = time.perf_counter()
            slices = self._slices(stream, limit)
            try:
                while True:
                    with interruption.while_waiting():
                        rows = next(slices, None)
                    if rows is None:
                        return True
                    self._examine(rows, stream.name)
                    now = time.perf_counter()
                    state.tally.seconds += now - last
                    last = now
                    rate = (state.n_rows - begun) / (now - started)
                    bar.advance(len(rows.rows), f"error {state.tally.error:.1%}, {rate:,.0f} rows/s")
                    self._save(at_once=False)
            except Stopped:
                return state.n_rows == stream.n_rows  # it may have come after the last row
            finally:
                self._save(at_once=True)

    def _slices(self, stream: Stream, limit: int | None) -> Iterator[Block]:
        left = np.inf if limit is None else limit - self._state.n_rows
        for block in self._continued(stream):  # which looks at the latest row, even if there is nothing left to do
            first, end = 0, int(min(left, len(block.rows)))
            while first < end:
                part = slice(first, min(first + self._length.rows, end))
                yield block.part(part)
                first = part.stop
            left -= end
            if left <= 0:
                return

    def _continued(self, stream: Stream) -> Iterator[Block]:
        """Read on, beginning with the latest row: if it is another one now, so is the stream."""
        state = self._state
        seen = min(state.n_rows, 1)
        for block in stream.blocks(state.n_rows - seen):
            if seen and digest_of(block, 0) != state.latest:
                raise CheckpointError(
                    f"row {state.n_rows - 1} of {stream.name} is not the one that the run saw last: the stream has "
                    "changed; begin anew in another folder"
                )
            state.n_skipped = getattr(stream, "n_skipped", 0)
            if len(block.rows) > seen:
                yield block.part(slice(seen, None))
            seen = 0
        state.n_skipped = getattr(stream, "n_skipped", 0)  # with those after the last block

    def _examine(self, rows: Block, source: str) -> None:
        first, n = self._state.n_rows, len(rows.rows)
        if self._arrivals is not None:
            self._arrivals.check(first, rows.times)
        start = time.perf_counter()
        self._is_whole = False
        try:
            clocked = replace(rows, times=self._state.clock.read(rows.times))
            if self._arrivals is None:
                predictions, waiting = self._classifier.prequential(clocked), np.zeros(n, np.int64)
            else:
                predictions, waiting = self._with_late_labels(clocked, rows.times, self._arrivals)
        except ConfigError:  # of the classifier's own parameters; the rows are not to blame
            raise
        except (ValueError, TypeError, AttributeError) as error:
            place = f"row {first}" if n == 1 else f"rows {first} to {first + n - 1}"
            counted = "" if n == 1 else "counted from the first of these, "
            raise DataError(f"the classifier cannot use {place} of {source}: {counted}{error}") from error
        if self._records is not None:
            self._records.add(rows, predictions, waiting)
        self._state.tally.add(rows.labels, predictions)
        if self._state.course is not None:
            self._state.course.add(rows, predictions)
        self._state.latest = digest_of(rows, n - 1)
        self._is_whole = True
        self._length.took(n, time.perf_counter() - start)

    def _with_late_labels(self, rows: Block, times: Vector, arrivals: Schedule) -> tuple[Predictions, Indices]:
        """Predict the rows, each after what has arrived by then was learned; `times` are those of the stream."""
        pending, first = self._state.pending, self._state.n_rows
        predictions, waiting = [], np.zeros(len(times), np.int64)
        for t, moment in enumerate(times.tolist()):
            learning = self._learn(arrivals.now(first + t, moment))
            row = rows.part(slice(t, t + 1))
            waiting[t] = len(pending)
            pending.has_waited |= len(pending) > 0
            said = self._classifier.assess(row, pending.asked)
            predictions.append(replace(said, learn_seconds=np.array([learning])))
            self._classifier.observe(row)
            pending.asked += 1
            pending.push(arrivals.due(first + t, moment), first + t, row)
        # What has arrived by now is learned before the next row in any case: done here, the classifier of a run that
        # ends with this slice knows it too.
        predictions[-1].learn_seconds[0] += self._learn(arrivals.now(first + len(times), times[-1]))
        return Predictions.concatenate(predictions), waiting

    def _learn(self, now: float) -> float:
        """Learn the labels that have arrived; return how long it took."""
        arrived = self._state.pending.pop_due(now)
        if arrived is None:
            return 0.0
        start = time.perf_counter()
        self._classifier.learn(arrived)
        self._state.pending.asked = 0
        return time.perf_counter() - start

    def _save(self, *, at_once: bool) -> None:
        if self._records is None or self._folder is None:
            return
        if at_once or self._timer.is_record_due() or self._records.is_full:
            self._records.flush()
            self._timer.recorded()
            if self._is_whole and (at_once or self._timer.is_checkpoint_due()):
                start = time.perf_counter()
                write_run(self._folder, self._about, self._state)
                self._timer.saved(start)


def digest_of(block: Block, t: int) -> str:
    """Return a digest of a row and its label."""
    return hashlib.sha256(block.rows[t].tobytes() + repr(block.labels[t : t + 1].tolist()).encode()).hexdigest()
