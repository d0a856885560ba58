"""Prequential (test-then-train) evaluation of a classifier on a stream."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from driftline import __version__
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.evaluation.changes import Change
from driftline.evaluation.class_figures import class_summary
from driftline.evaluation.clock import Clock
from driftline.evaluation.cost_record import CostRecord
from driftline.evaluation.delay import PendingLabels, TimeDelay, label_schedule
from driftline.evaluation.evaluation_run import EvaluationRun, EvaluationState
from driftline.evaluation.guarantee_record import GuaranteeRecord
from driftline.evaluation.label_baselines import LabelBaselines
from driftline.evaluation.metrics import positive_label
from driftline.evaluation.model_adapters import ObservingClassifier, adapt_model, needs_classes
from driftline.evaluation.records import list_record_files
from driftline.evaluation.result import Evaluation
from driftline.evaluation.run_checkpoint import FILE_NAME, locked_folder, read_run
from driftline.evaluation.summary import RunningTotals, Summary
from driftline.evaluation.timeline import Timeline
from driftline.evaluation.verdict import BaselineComparison
from driftline.guarantees import Guarantees
from driftline.guarantees.settings import checked_guarantees
from driftline.streams import Stream
from driftline.utils.atomic_write import replacing
from driftline.utils.progress import ProgressBar
from driftline.utils.validation import read_labels, whole_number


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
    guarantees: Guarantees | None = None,
    positive: Any = None,
    costs: Mapping[Any, Mapping[Any, float]] | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_change: Callable[[Change], object] | None = None,
) -> Evaluation:
    """Run a classifier over a stream: predict each row, record the prediction, and learn the label when it arrives.

    Parameters
    ----------
    model : estimator
        An `AMRC`, another classifier with the methods ``prequential`` and ``assess``, or any classifier with
        scikit-learn's `partial_fit`. It is trained in place, and may have been trained before.
    stream : Stream
        Labelled rows in order.
    delay : int, sequence of int or TimeDelay, default=0
        When labels arrive: after this number of further rows was predicted (the same for all rows, or one number for
        each), or after some time, if the stream has timestamps.
    limit : int, optional
        Number of rows after which to stop.
    classes : array-like, optional
        The classes that will occur. By default they are read from the stream if the classifier requires them; AMRC
        does not.
    window : int, default=500
        Number of rows in the windows of which the summary counts how many are above the bound.
    delta : float, default=0.05
        Probability with which the bound on accumulated mistakes may fail.
    time_unit : float, optional
        The length of one time unit of the classifier, in the unit of the stream's timestamps. By default it is the
        mean increment so far, so that typical increments are about one.
    guarantees : Guarantees, optional
        The levels at which the summary says what could be answered, which sets cover the labels, and when the error
        rose, from the predictions of any classifier. They concern the labels that were predicted, also if a rule draws
        them at random. By default those of the model, if it has some, else `Guarantees()`.
    positive : label, optional
        The class that the areas under curves in the summary are about, or its text. By default the rarer of two
        classes, and all classes in turn if there are more. A label that does not occur is an error at the end of the
        run, unless the run was interrupted before.
    costs : mapping, optional
        What each mistake costs, as in `AMRC`; by default the costs of the model, if it has some. The prediction of each
        row is then the label with the smallest expected cost, for any classifier that gives probabilities: they are
        calibrated by the labels that have arrived, in the same way for all. Mistakes, guarantees and records concern
        these labels. A model that has costs of its own keeps its labels. ``Summary.cost`` is what all of them cost, and
        ``Summary.cost_without`` what the plain predictions of the classifier would have cost on the same rows.
    progress : bool, default=True
        Whether to show a progress bar on the standard error, or below the cell of a notebook.
    checkpoint : path-like, optional
        A folder for records and for the state of the run. Records have one row for each step, in Parquet (see
        `driftline.evaluation.records`), and are written about every second; the state is saved as often, unless
        saving it takes long.
    resume : bool, default=False
        Whether to resume the run in that folder, if there is one, with the saved classifier rather than `model`. The
        records are then the same as those of an uninterrupted run. The state is a pickle: resume only your own runs.
    on_change : callable, optional
        Called with a `Change` when one is found during the run. ``change.row`` is the row at which the stream changed,
        and ``change.found_at`` the number of rows that had been seen then. The stream is searched after 4,000 rows,
        because fewer do not show how correlated rows are; then every 500 rows, and when a sixteenth of the rows are
        new if that is more (later with more than 256 columns of classes). The k-th search finds a change in a stream
        that does not change with a probability of at most 1 %/(k(k + 1)), so that all searches together do so with at
        most 1 %, if rows depend on those shortly before only. Reported are changes to a new level that lasts: the
        stream was never there before, has not gone back, and is neither on a slope nor in a smooth wave. A swing is
        therefore not reported once it has gone away and come back; before that, a sharp one is, because it is a change
        for all that is known. Nor is the way back from a change reported. `Timeline.changes` searches once more at the
        end, with all rows: it finds more changes, such as ways back, and drops those that are no larger than
        differences that came later.

    Returns
    -------
    Evaluation
        Summary, timeline and classifier. Ctrl-C ends a run early and returns what was done so far.

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
    levels, cost_record = _levels(guarantees, model), CostRecord.start(costs, model)
    known_costs = None if cost_record is None else cost_record.costs
    if resume and checkpoint is None:
        raise ConfigError("resume=True needs the folder of the run; pass checkpoint=…")
    announced = None if classes is None else np.unique(read_labels(classes, name="classes"))
    if announced is None and needs_classes(model):
        announced = stream.classes()
    schedule = None if isinstance(delay, Integral) and delay == 0 else label_schedule(delay)
    about = {
        "model": _parameters(model),
        "stream": stream.name,
        "columns": f"{len(stream.columns)} with digest {_digest(json.dumps(stream.columns).encode())}",
        "classes": None if announced is None else announced.tolist(),
        "delay": _describe_delay(delay),
        "window": window,
        "time_unit": time_unit,
        "guarantees": repr(levels),
        "costs": None if known_costs is None else known_costs.to_json(),
        "driftline": __version__,
    }
    bar = ProgressBar(f"{type(model).__name__} on {stream.name}", _total(stream, limit), unit="rows", shown=progress)
    folder = None if checkpoint is None else Path(checkpoint)
    with nullcontext() if folder is None else locked_folder(folder):
        state = _resumed_state(folder, about, stream, limit, resume=resume) or EvaluationState(
            model,
            RunningTotals(window),
            Timeline(stream.columns),
            PendingLabels(),
            Clock(time_unit),
            GuaranteeRecord.start(levels),
            LabelBaselines(known_costs),
            BaselineComparison(len(stream.columns), known_costs),
            cost_record,
        )
        run = EvaluationRun(state, adapt_model(state.model, announced), schedule, folder, about, on_change)
        finished = run.process(stream, limit, bar)
        if state.n_rows == 0 and not finished:
            raise KeyboardInterrupt
        if state.n_rows == 0:
            raise DataError(f"{stream.name} has no rows to evaluate on")
        summary = _summary(state, stream, delta, positive, finished=finished)
        state.timeline.alarms = list(summary.alarms)
        if folder is not None:
            with replacing(folder / "summary.json") as file:
                file.write(json.dumps(summary.to_dict() | {"finished": finished}, indent=2).encode())
    return Evaluation(summary, state.timeline, state.model, folder, finished)


def _plain_numbers(
    limit: int | None, window: int, delta: float, time_unit: float | None
) -> tuple[int | None, int, float, float | None]:
    """Check numbers, and return them as Python's own types, which JSON can hold."""
    limit = None if limit is None else whole_number("limit", limit, at_least=1)
    window = whole_number("window", window, at_least=1)
    if not isinstance(delta, Real) or not 0.0 < delta < 1.0:
        raise ConfigError(f"delta must lie strictly between 0 and 1; got {delta!r}")
    if time_unit is not None and not (isinstance(time_unit, Real) and 0.0 < time_unit < np.inf):
        raise ConfigError(f"time_unit must be a positive number, or None for the mean increment; got {time_unit!r}")
    return limit, window, float(delta), None if time_unit is None else float(time_unit)


def _levels(guarantees: Guarantees | None, model: Any) -> Guarantees:
    """Return the levels that were given, or those of the model, or the usual ones."""
    own = getattr(model, "guarantees", None)
    return checked_guarantees(own if guarantees is None and isinstance(own, Guarantees) else guarantees)


def _check_parts(model: Any, stream: Any) -> None:
    if not isinstance(stream, Stream):
        raise ConfigError(f"stream must be a Stream, such as ArrayStream(X, y) or load(name); got {type(stream)}")
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("predict", "partial_fit")):
        raise ConfigError(f"model must be a classifier with partial_fit and predict; got {model!r}")
    if getattr(model, "scaling", None) == "file":
        raise ConfigError(
            'scaling="file" takes the range of the columns from the first call, and an evaluation passes the rows in '
            'many calls; use scaling="none" with RangeScaled(stream), which also looks ahead, or scaling="running"'
        )
    known = getattr(model, "feature_names_in_", None)
    if known is not None and tuple(known) != stream.columns:
        raise ConfigError(f"model has the columns {', '.join(known)}; the stream has {', '.join(stream.columns)}")


def _total(stream: Stream, limit: int | None) -> int | None:
    return min((n for n in (limit, stream.n_rows) if n is not None), default=None)


def _resumed_state(
    folder: Path | None, about: dict[str, Any], stream: Stream, limit: int | None, *, resume: bool
) -> EvaluationState | None:
    """Return the saved state if the run is to be resumed; raise CheckpointError rather than overwrite a run."""
    if folder is None:
        return None
    state: EvaluationState | None = read_run(folder, about) if resume else None
    if state is None and ((folder / FILE_NAME).exists() or list_record_files(folder / "records")):
        if resume:
            raise CheckpointError(f"{folder} contains records but no checkpoint to resume from; choose another folder")
        raise CheckpointError(f"{folder} already contains a run; pass resume=True to resume it, or another folder")
    if state is not None and stream.n_rows is not None and stream.n_rows < state.n_rows:
        raise CheckpointError(f"{folder} contains a run of {state.n_rows} rows, and the stream has {stream.n_rows}")
    if state is not None and limit is not None and limit < state.n_rows:
        raise CheckpointError(f"{folder} contains a run of {state.n_rows} rows, and the limit is {limit}; raise it")
    return state


def _summary(state: EvaluationState, stream: Stream, delta: float, positive: Any, *, finished: bool) -> Summary:
    """Return the figures of the rows so far."""
    timeline = state.timeline
    label = positive_label(timeline.support, positive, must_occur=finished)
    summary = state.totals.summary(
        stream.name,
        type(state.model).__name__,
        delta,
        n_unlearned=len(state.pending),
        n_skipped=state.n_skipped,
        bounds_are_late=state.pending.has_waited and not isinstance(state.model, ObservingClassifier),
    )
    return replace(
        summary,
        **state.guarantees.figures(state.model, stream.columns),
        **class_summary(timeline.measured(timeline.windows(1)[0], label), timeline.classes),
        positive=label,
        **({} if state.costs is None else state.costs.figures(state.timeline.classes)),
        last_label_error=state.baselines.last_mistakes / state.n_rows,
        majority_so_far_error=state.baselines.majority_mistakes / state.n_rows,
        logistic_error=state.comparison.logistic.error,
        verdict=state.comparison.verdicts(),
        label_memory=getattr(state.model, "label_memory", None),
    )


def _parameters(model: Any) -> str:
    """Describe a model by its class and parameters, without memory addresses."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    described = ", ".join(f"{name}={value!r}" for name, value in sorted(parameters.items()))
    return re.sub(r" at 0x[0-9a-fA-F]+", "", f"{type(model).__module__}.{type(model).__qualname__}({described})")


def _describe_delay(delay: int | Sequence[int] | TimeDelay) -> str:
    """Describe a delay; a sequence of delays by its digest."""
    kind, amount = ("time", delay.amount) if isinstance(delay, TimeDelay) else ("rows", delay)
    values = np.asarray(amount, np.float64)
    return f"{values:.17g} {kind}" if values.ndim == 0 else f"{kind} with digest {_digest(values.tobytes())}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
