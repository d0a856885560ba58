"""The state of a stream: its models, the rows that wait for labels, and its figures."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from driftline.ensemble import AMRC
from driftline.guarantees import Alarm, Guarantees
from driftline.serve.figures import Figures, Window
from driftline.serve.operations import NO_ANSWER, Answer, Ask, Expire, Label, Learn, Operation
from driftline.serve.problems import Problem, invalid
from driftline.types import Vector

ROWS_AT_ONCE = 16
"""Rows that a model learns at once. Between two such batches, threads of other streams get their turn."""
NEVER = 10**9
"""Number of labels after which a model gives up a row by itself; the server does so by time."""
MAX_LABEL_LENGTH = 256


@dataclass(frozen=True, slots=True, eq=False)
class OpenRow:
    """A row that was predicted and has no label yet, with what was said of it."""

    x: Vector
    time: float
    answer: Answer
    shadow_label: Any = None


@dataclass(slots=True)
class StreamState:
    """What a stream knows. It depends only on the operations that were applied, in their order.

    A model starts with the first label that arrives. Rows that wait by then are observed first: nothing was said of
    them, so they change neither weights nor bounds when their labels arrive.

    Attributes
    ----------
    parameters : mapping
        The parameters of the model, those of `AMRC` as JSON values.
    shadow_parameters : mapping or None
        Those of a second model that learns beside the first; None if there is none.
    model, shadow : AMRC or None
        The models; None before they start.
    n_operations : int
        Number of operations that were applied.
    open_rows : dict
        The rows that wait for their labels, by their ids, the oldest first.
    figures : Figures
        Counts over time.
    beside_shadow : Figures
        Counts of the rows that both models predicted, since the shadow was started or promoted.
    """

    parameters: Mapping[str, Any]
    shadow_parameters: Mapping[str, Any] | None = None
    model: AMRC | None = None
    shadow: AMRC | None = None
    n_operations: int = 0
    open_rows: dict[str, OpenRow] = field(default_factory=dict)
    figures: Figures = field(default_factory=Figures)
    beside_shadow: Figures = field(default_factory=Figures)

    def apply(self, operation: Operation) -> list[OpenRow]:
        """Apply an operation, which must have been checked; return its rows with what was said of them."""
        match operation:
            case Ask():
                rows = self._ask(operation)
            case Label():
                rows = self._label(operation)
            case Learn():
                rows = self._learn(operation)
            case Expire():
                rows = self._expire(operation)
        self.n_operations += 1
        return rows

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Let this thread have the models for itself within a ``with`` block."""
        with ExitStack() as stack:
            for model in self._models():
                stack.enter_context(model.exclusive())
            yield

    # Operations -----------------------------------------------------------------------------------------

    def _ask(self, operation: Ask) -> list[OpenRow]:
        """Predict rows one after another, so that what is said of each is what is counted when its label arrives."""
        rows = []
        for t, row_id in enumerate(operation.ids):
            X, answer, shadow_label = operation.X[t : t + 1], NO_ANSWER, None
            if self.model is not None:
                answer = answer_of(self.model, X)
                self.model.observe(X, ids=[row_id])
            if self.shadow is not None:
                shadow_label = self.shadow.predict(X).tolist()[0]
                self.shadow.observe(X, ids=[row_id])
            rows.append(OpenRow(X[0], operation.time, answer, shadow_label))
            self.open_rows[row_id] = rows[-1]
            _let_others_run(t)
        return rows

    def _label(self, operation: Label) -> list[OpenRow]:
        self._start_models()
        rows = [self.open_rows[row_id] for row_id in operation.ids]
        X = np.array([row.x for row in rows])
        for part in _parts(len(rows)):
            labels, ids = operation.labels[part], list(operation.ids[part])
            for model in self._models():
                model.partial_fit(X[part], np.array(labels), ids=ids)
            for row, label in zip(rows[part], labels, strict=True):
                self._count(row, label, operation.time, was_asked=True)
        for row_id in operation.ids:
            del self.open_rows[row_id]
        return rows

    def _learn(self, operation: Learn) -> list[OpenRow]:
        self._start_models()
        rows: list[OpenRow] = []
        for part in _parts(len(operation.ids)):
            X, labels = operation.X[part], operation.labels[part]
            predicted = [model.prequential(X, np.array(labels)).predicted.tolist() for model in self._models()]
            of_shadow = predicted[1] if self.shadow is not None else [None] * len(labels)
            for x, label, own, other in zip(X, labels, predicted[0], of_shadow, strict=True):
                rows.append(OpenRow(x, operation.time, Answer(own), other))
                self._count(rows[-1], label, operation.time, was_asked=False)
        return rows

    def _expire(self, operation: Expire) -> list[OpenRow]:
        for model in self._models():
            model.give_up(list(operation.ids))
        return [self.open_rows.pop(row_id) for row_id in operation.ids]

    # Models ---------------------------------------------------------------------------------------------

    def _models(self) -> list[AMRC]:
        return [model for model in (self.model, self.shadow) if model is not None]

    def _start_models(self) -> None:
        if self.model is None:
            self.model = self._started(self.parameters)
        if self.shadow is None and self.shadow_parameters is not None:
            self.shadow = self._started(self.shadow_parameters)

    def _started(self, parameters: Mapping[str, Any]) -> AMRC:
        model = new_model(parameters)
        if self.open_rows:
            model.observe(np.array([row.x for row in self.open_rows.values()]), ids=list(self.open_rows))
        return model

    def start_shadow(self, parameters: Mapping[str, Any], model: AMRC | None = None) -> None:
        """Let a second model learn beside the first: a new one from the next label on, or one that has learned."""
        self.shadow_parameters, self.shadow, self.beside_shadow = parameters, None, Figures()
        if model is not None:
            self.shadow = self._joined(model)

    def drop_shadow(self) -> None:
        """Let there be no shadow."""
        self.shadow_parameters, self.shadow, self.beside_shadow = None, None, Figures()

    def promote_shadow(self) -> None:
        """Let the shadow and the model change places; doing it again rolls it back."""
        if self.shadow is None or self.shadow_parameters is None:
            raise Problem(409, "no-shadow", "the stream has no shadow, or one that has not learned any label yet")
        self.model, self.shadow = self.shadow, self.model
        self.parameters, self.shadow_parameters = self.shadow_parameters, self.parameters
        self.beside_shadow = Figures()

    def acknowledge_alarm(self) -> None:
        """Arm the alarm of the model again."""
        if self.model is not None:
            self.model.acknowledge_alarm()

    def replace_model(self, model: AMRC) -> None:
        """Continue with a model that has learned elsewhere."""
        self.model, self.parameters = self._joined(model), model_parameters(model)

    def _joined(self, model: AMRC) -> AMRC:
        """Return a model that waits for the labels of the rows that wait here, and for no others."""
        known = [] if self.model is None else self.model.classes_.tolist()
        if known and isinstance(known[0], str) != isinstance(model.classes_.tolist()[0], str):
            raise Problem(
                409, "model-does-not-fit", f"the model has labels such as {model.classes_[0]!r}, not {known[0]!r}"
            )
        model.give_up()
        if self.open_rows:
            model.observe(np.array([row.x for row in self.open_rows.values()]), ids=list(self.open_rows))
        return model

    def check_labels(self, labels: Sequence[Any], most_classes: int) -> None:
        """Raise Problem if labels cannot be learned: all must be texts, or whole numbers and booleans."""
        known = [] if self.model is None else self.model.classes_.tolist()
        first = [*known, *labels][0]
        for i, label in enumerate(labels):
            if not isinstance(label, str | int) or (isinstance(label, int) and not -(2**63) <= label < 2**63):
                raise invalid(f"label {i} is {str(label)[:80]!r}; expected a text, a whole number or a boolean")
            if isinstance(label, str) != isinstance(first, str):
                raise invalid(f"label {i} is {label!r}; expected the same kind of label as {first!r}")
            if isinstance(label, str) and (len(label) > MAX_LABEL_LENGTH or "\0" in label):
                raise invalid(
                    f"label {i} has {len(label)} characters; expected at most {MAX_LABEL_LENGTH}, none of them null"
                )
        n_classes = len({*known, *labels})
        if n_classes > most_classes:
            raise invalid(
                f"there would be {n_classes} different labels, and at most {most_classes} are allowed: labels must be "
                "classes that recur"
            )

    # Figures --------------------------------------------------------------------------------------------

    def _count(self, row: OpenRow, label: Any, now: float, *, was_asked: bool) -> None:
        answer, has_answer = row.answer, row.answer.label is not None
        is_wrong = has_answer and answer.label != label
        asked = was_asked and has_answer
        self.figures.add(
            Window(
                n_rows=1,
                n_predicted=int(has_answer),
                n_wrong=int(is_wrong),
                n_asked=int(asked),
                n_answered=int(asked and answer.is_answered),
                n_wrong_answers=int(asked and answer.is_answered and is_wrong),
                n_covered=int(asked and label in answer.labels),
                n_labels=len(answer.labels),
                time=now,
                classes={str(label): 1},
            )
        )
        if has_answer and row.shadow_label is not None and self.shadow is not None:
            wrong_shadow = int(row.shadow_label != label)
            self.beside_shadow.add(
                Window(n_rows=1, n_predicted=1, n_wrong=int(is_wrong), n_wrong_shadow=wrong_shadow, time=now)
            )
        if self.figures.is_window_full and self.model is not None:
            interval = self.model.error_interval()
            self.figures.close_window(self.model.mistake_bound(), interval.low, interval.high)

    @property
    def alarm(self) -> Alarm | None:
        """The alarm of the model that is raised now; None if there is none."""
        return None if self.model is None else self.model.alarm_


def new_model(parameters: Mapping[str, Any]) -> AMRC:
    """Return a model that has learned nothing; raise ConfigError if it cannot have these parameters."""
    given = dict(parameters)
    guarantees = given.pop("guarantees", None)
    model = AMRC(**{"expire_after_labels": NEVER} | given)
    model.guarantees = None if guarantees is None else Guarantees.from_json(guarantees)
    model._checked_parameters()
    return model


def model_parameters(model: AMRC) -> dict[str, Any]:
    """Return the parameters of a model as JSON values."""
    parameters: dict[str, Any] = model._plain_parameters()
    return parameters


def answer_of(model: AMRC, X: Any) -> Answer:
    """Return what a model says of one row."""
    said = model.predict_with_guarantees(X)
    return Answer(
        label=said.labels.tolist()[0],
        is_answered=not bool(np.ma.getmaskarray(said.answers)[0]),
        confidence=float(said.confidences[0]),
        bound=float(said.bounds[0]),
        labels=tuple(model.classes_[said.sets[0]].tolist()),
    )


def model_to_bytes(model: AMRC) -> bytes:
    """Return the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def model_from_bytes(content: bytes) -> AMRC:
    """Return the model of a file; raise CheckpointError if it is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        return AMRC.load(path)


def _parts(n: int) -> Iterator[slice]:
    for k, start in enumerate(range(0, n, ROWS_AT_ONCE)):
        _let_others_run(k * ROWS_AT_ONCE)
        yield slice(start, start + ROWS_AT_ONCE)


def _let_others_run(t: int) -> None:
    """Let another thread have Python's global lock, which a thread that calls compiled code hardly ever releases."""
    if t and t % ROWS_AT_ONCE == 0:
        time.sleep(0)
