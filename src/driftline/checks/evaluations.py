"""Checks that the evaluation, and the classifier's own, say what predicting and learning by hand do."""

import heapq
from typing import Any

import numpy as np

from driftline.checks.data import drifting, messy
from driftline.checks.subjects import ask, assert_alike, fresh, learn, takes_any_class
from driftline.evaluation import evaluate
from driftline.evaluation.model_adapters import ObservingClassifier
from driftline.streams import ArrayStream
from driftline.types import Indices, LabelArray, Matrix


def check_evaluation_is_as_by_hand(estimator: Any) -> None:
    """Check that `driftline.evaluation.evaluate` counts the mistakes of predicting, then learning each row by hand."""
    _assert_evaluated_as_by_hand(estimator, None)


def check_evaluation_with_late_labels_is_as_by_hand(estimator: Any) -> None:
    """Check that `evaluate` does so too where labels come some rows later, each after another delay."""
    _assert_evaluated_as_by_hand(estimator, np.random.default_rng(0).integers(0, 8, 80))


def _assert_evaluated_as_by_hand(estimator: Any, delay: Indices | None) -> None:
    X, y = drifting(estimator, 80)
    model = fresh(estimator)
    by_hand = _by_hand(model, X, y, delay, None if takes_any_class(estimator) else np.unique(y))
    late = 0 if delay is None else delay.tolist()
    run = evaluate(fresh(estimator), ArrayStream(X, y), delay=late, progress=False)
    for window in run.timeline.windows():
        rows = range(window.first, window.first + window.n_rows)
        mistakes = sum(by_hand[t] is not None and by_hand[t] != y[t] for t in rows)
        unknown = sum(by_hand[t] is None for t in rows)  # where the evaluation may be right or wrong
        if not mistakes <= window.mistakes <= mistakes + unknown:
            raise AssertionError(
                f"rows {rows[0]} to {rows[-1]}: expected {mistakes} mistakes, as by hand; the evaluation counted "
                f"{window.mistakes:.0f}"
            )
    assert_alike(ask(run.model, X), ask(model, X), "evaluated, rather than asked and taught by hand")


def check_prequential_is_as_by_hand(estimator: Any) -> None:
    """Check that the method `prequential` gives the predictions of predicting, then learning each row by hand."""
    X, y = messy(estimator)
    by_hand, model = fresh(estimator), fresh(estimator)
    expected = _by_hand(by_hand, X, y, None, None)
    got = [*model.prequential(X[:25], y[:25]).predictions.tolist(), *model.prequential(X[25:], y[25:]).predictions]
    for t, (came, wanted) in enumerate(zip(got, expected, strict=True)):
        if came != wanted:
            raise AssertionError(f"row {t}: expected the prediction by hand, {wanted!r}; prequential gave {came!r}")
    assert_alike(ask(model, X), ask(by_hand, X), "after prequential, rather than asked and taught by hand")


def _by_hand(model: Any, X: Matrix, y: LabelArray, delay: Indices | None, classes: LabelArray | None) -> list[Any]:
    """Predict each row, then learn the labels that have come; return the predictions, None before the first label."""
    said: list[Any] = []
    waiting: list[tuple[int, int]] = []
    knows, since = False, 0
    for t in range(len(X)):
        # A rule that draws at random goes by the row's place among those it was asked about since it last learned.
        said.append(model.predict(X[since : t + 1])[-1] if knows else None)
        if delay is not None and knows and isinstance(model, ObservingClassifier):
            model.observe(X[t : t + 1])
        heapq.heappush(waiting, (t if delay is None else t + int(delay[t]), t))
        while waiting and waiting[0][0] <= t:
            _, row = heapq.heappop(waiting)
            learn(model, X[row : row + 1], y[row : row + 1], classes)
            knows, since = True, t + 1
    return said
