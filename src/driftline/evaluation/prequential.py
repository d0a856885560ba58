"""Test, then train: the prequential evaluation of a classifier on a stream."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from driftline import __version__
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.evaluation.checkpoint import NAME, held, read_run
from driftline.evaluation.clock import Clock
from driftline.evaluation.course import Course
from driftline.evaluation.delay import Pending, TimeDelay, schedule
from driftline.evaluation.examinees import ObservingClassifier, examinee, needs_classes
from driftline.evaluation.records import list_parts
from driftline.evaluation.run import Run, State
from driftline.evaluation.summary import Summary, Tally, Window
from driftline.streams import Stream
from driftline.utils.atomic_write import replacing
from driftline.utils.progress import ProgressBar
from driftline.utils.validation import read_labels, whole_number


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What came of an evaluation.

    Attributes
    ----------
    summary : Summary
        The figures; `print(evaluation.summary)`.
    windows : list of Window
        Error and bound over time.
    model : estimator
        The classifier after the last row.
    course : Course or None
        What happened on the way, if that was asked for; of a resumed run, from its first row on.
    folder : Path or None
        Where the records are, for `read_records`.
    finished : bool
        False if it was interrupted.
    """

    summary: Summary
    windows: list[Window]
    model: Any
    course: Course | None
    folder: Path | None
    finished: bool


def evaluate(
    model: Any,
    stream: Stream,
    *,
    delay: int | Sequence[int] | TimeDelay = 0,
    limit: int | None = None,
    classes: Any = None,
    window: int = 500,
    delta: float = 0.05,
    time_unit: float | None = None,
    course: Course | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Evaluation:
    """Run a classifier over a stream: predict each row, record it, then learn its label when it arrives.

    Parameters
    ----------
    model : estimator
        An `AMRC`, another classifier that has its methods ``prequential`` and ``assess``, or any with scikit-learn's
        `partial_fit`. It learns in place, continuing from what it knows.
    stream : Stream
        Labelled rows in order.
    delay : int, sequence of int or TimeDelay, default=0
        When labels arrive: after that many more rows were predicted, the same for all or one for each; or after
        some time, if the stream has timestamps.
    limit : int, optional
        Number of rows to stop after.
    classes : array-like, optional
        The classes that will occur. AMRC does without; for those that do not they are taken from the stream.
    window : int, default=500
        Rows in a window of the summary.
    delta : float, default=0.05
        Probability with which the bound on accumulated mistakes may fail.
    time_unit : float, optional
        What a classifier that tracks time counts as one unit of the stream's timestamps; by default the mean increment
        so far, so that usual increments are around one.
    course : Course, optional
        A new `Course`, to be filled with what happens on the way, for reports.
    progress : bool, default=True
        Whether to show a progress bar on the standard error.
    checkpoint : path-like, optional
        A folder for the records, a row for each step in Parquet (see `driftline.evaluation.records`), written about
        every second, and for the state of the run, which is saved as often unless that takes long.
    resume : bool, default=False
        Whether to continue the run in that folder, if there is one, with the classifier as it was then, not the one
        given here; the records become those of a run that was never interrupted. The state is a pickle: resume only
        runs of your own.

    Returns
    -------
    Evaluation
        Figures, windows, and the classifier. Ctrl-C ends a run early with what there is.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from driftline import AMRC
    >>> from driftline.evaluation import evaluate
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(600, seed=0))
    >>> ours = evaluate(AMRC(features="linear", scaling="running"), stream, progress=False).summary
    >>> theirs = evaluate(SGDClassifier(loss="log_loss"), stream, progress=False).summary
    >>> ours.error < theirs.error, ours.expected_mistakes < ours.mistake_bound
    (True, True)
    """
    limit, window, delta, time_unit = _plain_numbers(limit, window, delta, time_unit)
    _check_parts(model, stream)
    if course is not None and (course.n_rows or tuple(course.columns) != stream.columns):
        raise ConfigError("course must be a new one, with the stream's columns: Course(stream.columns)")
    if resume and checkpoint is None:
        raise ConfigError("resume=True continues the run in a folder: name it as checkpoint=…")
    announced = None if classes is None else np.unique(read_labels(classes, name="classes"))
    if announced is None and needs_classes(model):
        announced = stream.classes()
    arrivals = None if isinstance(delay, Integral) and delay == 0 else schedule(delay)
    about = {
        "model": _parameters(model),
        "stream": stream.name,
        "columns": f"{len(stream.columns)} with digest {_digest(json.dumps(stream.columns).encode())}",
        "classes": None if announced is None else announced.tolist(),
        "delay": _described(delay),
        "window": window,
        "time_unit": time_unit,
        "driftline": __version__,
    }
    if course is not None:
        about["course"] = True  # a run that began without one has none of its first rows
    bar = ProgressBar(f"{type(model).__name__} on {stream.name}", _total(stream, limit), unit="rows", shown=progress)
    folder = None if checkpoint is None else Path(checkpoint)
    with nullcontext() if folder is None else held(folder):
        state = _resumed(folder, about, stream, limit, resume=resume)
        state = state or State(model, Tally(window), Pending(), Clock(time_unit), course)
        if course is not None and state.course is not None and state.course is not course:  # of a resumed run
            for one in fields(Course):
                setattr(course, one.name, getattr(state.course, one.name))
            state.course = course
        run = Run(state, examinee(state.model, announced), arrivals, folder, about)
        finished = run.over(stream, limit, bar)
        if state.n_rows == 0 and not finished:
            raise KeyboardInterrupt
        if state.n_rows == 0:
            raise DataError(f"{stream.name} has no rows to evaluate on")
        summary = state.tally.summary(
            stream.name,
            type(model).__name__,
            delta,
            n_unlearned=len(state.pending),
            n_skipped=state.n_skipped,
            bounds_are_late=state.pending.has_waited and not isinstance(state.model, ObservingClassifier),
        )
        if folder is not None:
            with replacing(folder / "summary.json") as file:
                file.write(json.dumps(summary.to_dict() | {"finished": finished}, indent=2).encode())
    return Evaluation(summary, state.tally.course(), state.model, state.course, folder, finished)


def _plain_numbers(
    limit: int | None, window: int, delta: float, time_unit: float | None
) -> tuple[int | None, int, float, float | None]:
    """Check numbers, and return them as plain ones, which can be written down."""
    limit = None if limit is None else whole_number("limit", limit, at_least=1)
    window = whole_number("window", window, at_least=1)
    if not isinstance(delta, Real) or not 0.0 < delta < 1.0:
        raise ConfigError(f"delta must lie strictly between 0 and 1; got {delta!r}")
    if time_unit is not None and not (isinstance(time_unit, Real) and 0.0 < time_unit < np.inf):
        raise ConfigError(f"time_unit must be a positive number, or None for the usual increment; got {time_unit!r}")
    return limit, window, float(delta), None if time_unit is None else float(time_unit)


def _check_parts(model: Any, stream: Any) -> None:
    if not isinstance(stream, Stream):
        raise ConfigError(f"stream must be a Stream, such as ArrayStream(X, y) or load(name); got {type(stream)}")
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("predict", "partial_fit")):
        raise ConfigError(f"model must be a classifier with partial_fit and predict; got {model!r}")
    if getattr(model, "scaling", None) == "file":
        raise ConfigError(
            'scaling="file" takes the range of the whole file from the first block, and an evaluation hands rows over '
            'as they come; use scaling="none" on RangeScaled(stream), which looks ahead in the same way, or "running"'
        )
    known = getattr(model, "feature_names_in_", None)
    if known is not None and tuple(known) != stream.columns:
        raise ConfigError(f"model knows the columns {', '.join(known)}; the stream has {', '.join(stream.columns)}")


def _total(stream: Stream, limit: int | None) -> int | None:
    return min((n for n in (limit, stream.n_rows) if n is not None), default=None)


def _resumed(
    folder: Path | None, about: dict[str, Any], stream: Stream, limit: int | None, *, resume: bool
) -> State | None:
    """Return the state of the run in the folder, if it is to be continued; refuse to write over one."""
    if folder is None:
        return None
    state: State | None = read_run(folder, about) if resume else None
    if state is None and ((folder / NAME).exists() or list_parts(folder / "records")):
        how = "its checkpoint is gone" if resume else "pass resume=True to continue it"
        raise CheckpointError(f"{folder} holds a run already; {how}, or choose another folder")
    if state is not None and stream.n_rows is not None and stream.n_rows < state.n_rows:
        raise CheckpointError(f"{folder} holds a run of {state.n_rows} rows, and the stream has {stream.n_rows}")
    if state is not None and limit is not None and limit < state.n_rows:
        raise CheckpointError(f"{folder} holds a run of {state.n_rows} rows, and the limit is {limit}; raise it")
    return state


def _parameters(model: Any) -> str:
    """Describe a model by its class and parameters, the same in every process."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    described = ", ".join(f"{name}={value!r}" for name, value in sorted(parameters.items()))
    return re.sub(r" at 0x[0-9a-fA-F]+", "", f"{type(model).__module__}.{type(model).__qualname__}({described})")


def _described(delay: int | Sequence[int] | TimeDelay) -> str:
    """Describe a delay; where there is one for each row, by a digest."""
    kind, amount = ("time", delay.amount) if isinstance(delay, TimeDelay) else ("rows", delay)
    values = np.asarray(amount, np.float64)
    return f"{values:.17g} {kind}" if values.ndim == 0 else f"{kind} with digest {_digest(values.tobytes())}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
