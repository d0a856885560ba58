"""Test, then train: the prequential evaluation of a classifier on a stream."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftline import __version__
from driftline._atomic import replacing
from driftline._progress import ProgressBar
from driftline._validation import read_labels
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.evaluation.checkpoint import NAME, read_run
from driftline.evaluation.delay import Pending, TimeDelay, schedule
from driftline.evaluation.examinees import PrequentialClassifier, examinee
from driftline.evaluation.records import list_parts
from driftline.evaluation.run import Run, State
from driftline.evaluation.summary import Summary, Tally, Window
from driftline.streams import Stream


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
    folder : Path or None
        Where the records are, for `read_records`.
    finished : bool
        False if it was interrupted.
    """

    summary: Summary
    windows: list[Window]
    model: Any
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
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Evaluation:
    """Run a classifier over a stream: predict each row, record it, then learn its label when it arrives.

    Parameters
    ----------
    model : estimator
        An `AMRC`, another classifier that has its methods `prequential` and `assess`, or any with scikit-learn's
        `partial_fit`. It learns in place, continuing from what it knows.
    stream : Stream
        Labelled rows in order.
    delay : int, sequence of int or TimeDelay, default=0
        When labels arrive: after that many more rows were predicted, the same for all or one for each; or after
        some time, if the stream has timestamps.
    limit : int, optional
        Number of rows to stop after.
    classes : array-like, optional
        The classes that will occur. AMRC does without; for those of scikit-learn they are taken from the stream.
    window : int, default=500
        Rows in a window of the summary.
    delta : float, default=0.05
        Probability with which the bound on accumulated mistakes may fail.
    time_unit : float, optional
        What a classifier that tracks time counts as one unit of the stream's timestamps; by default the median
        increment between the rows of the first block.
    progress : bool, default=True
        Whether to show a progress bar on the standard error.
    checkpoint : path-like, optional
        A folder for the records, a row for each step in Parquet (see `driftline.evaluation.records`), and for the
        state of the run, both saved every second.
    resume : bool, default=False
        Whether to continue the run in that folder, if there is one; the records become those of a run that was
        never interrupted. The state is a pickle: resume only runs of your own.

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
    >>> ours = evaluate(AMRC(n_iterations=200), stream, progress=False).summary
    >>> theirs = evaluate(SGDClassifier(loss="log_loss"), stream, progress=False).summary
    >>> ours.error < theirs.error, ours.expected_mistakes < ours.mistake_bound
    (True, True)
    """
    _check_numbers(limit, window, delta, time_unit)
    _check_parts(model, stream)
    if resume and checkpoint is None:
        raise ConfigError("resume=True continues the run in a folder: name it as checkpoint=…")
    arrivals = schedule(delay)
    announced = None if classes is None else np.unique(read_labels(classes, name="classes"))
    if announced is None and not isinstance(model, PrequentialClassifier):
        announced = stream.classes()
    about = {
        "model": _parameters(model),
        "stream": stream.name,
        "columns": len(stream.columns),
        "delay": _digest(delay),
        "window": window,
        "driftline": __version__,
    }
    folder = None if checkpoint is None else Path(checkpoint)
    state = _resumed(folder, about, resume=resume) or State(model, Tally(window), Pending(), time_unit)
    at_once = isinstance(delay, int) and delay == 0
    run = Run(state, examinee(state.model, announced), None if at_once else arrivals, folder, about)
    name = type(model).__name__
    total = min((n for n in (limit, stream.n_rows) if n is not None), default=None)
    finished = run.over(stream, limit, ProgressBar(f"{name} on {stream.name}", total, unit="rows", shown=progress))
    if state.n_rows == 0:
        raise DataError(f"{stream.name} has no rows to evaluate on")
    summary = state.tally.summary(stream.name, name, delta, len(state.pending), getattr(stream, "n_skipped", 0))
    if folder is not None:
        with replacing(folder / "summary.json") as file:
            file.write(json.dumps(summary.to_dict() | {"finished": finished}, indent=2).encode())
    return Evaluation(summary, state.tally.course(), state.model, folder, finished)


def _check_numbers(limit: int | None, window: int, delta: float, time_unit: float | None) -> None:
    if limit is not None and not (isinstance(limit, int) and limit >= 1):
        raise ConfigError(f"limit must be a number of rows, 1 or more, or None for all; got {limit!r}")
    if not (isinstance(window, int) and window >= 1):
        raise ConfigError(f"window must be a number of rows, 1 or more; got {window!r}")
    if not 0.0 < delta < 1.0:
        raise ConfigError(f"delta must lie strictly between 0 and 1; got {delta}")
    if time_unit is not None and not 0.0 < time_unit < np.inf:
        raise ConfigError(f"time_unit must be a positive number, or None for the usual increment; got {time_unit}")


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


def _resumed(folder: Path | None, about: dict[str, Any], *, resume: bool) -> State | None:
    """Return the state of the run in the folder, if it is to be continued; refuse to write over one."""
    if folder is None:
        return None
    if resume:
        state: State | None = read_run(folder, about)
        return state
    if (folder / NAME).exists() or list_parts(folder / "records"):
        raise CheckpointError(
            f"{folder} holds a run already; pass resume=True to continue it, or choose another folder"
        )
    return None


def _parameters(model: Any) -> str:
    """Describe a model by its class and parameters, the same in every process."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    described = ", ".join(f"{name}={value!r}" for name, value in sorted(parameters.items()))
    return re.sub(r" at 0x[0-9a-f]+", "", f"{type(model).__module__}.{type(model).__qualname__}({described})")


def _digest(delay: int | Sequence[int] | TimeDelay) -> str:
    """Describe a delay; where there is one for each row, by a checksum."""
    amount = delay.amount if isinstance(delay, TimeDelay) else delay
    kind = "time" if isinstance(delay, TimeDelay) else "rows"
    values = np.asarray(amount)
    return f"{amount} {kind}" if values.ndim == 0 else f"{hashlib.sha256(values.tobytes()).hexdigest()} {kind}"
