"""Checks that evaluations give the same results as a loop of `predict` and `partial_fit`."""

import heapq
from typing import Any

import numpy as np

from driftline.checks.classifier_under_test import (
    accepts_new_classes,
    assert_same_predictions,
    learn,
    predict_rows,
    unfitted_copy,
)
from driftline.checks.sample_data import drifting_classes, overlapping_classes
from driftline.evaluation import evaluate
from driftline.evaluation.model_adapters import ObservingClassifier
from driftline.streams import ArrayStream
from driftline.types import Indices, LabelArray, Matrix


def check_evaluation_matches_manual_loop(estimator: Any) -> None:
    """Check that `driftline.evaluation.evaluate` gives the results of a loop that predicts, then learns each row."""
    _assert_evaluation_matches(estimator, None)


def check_evaluation_with_late_labels_matches_manual_loop(estimator: Any) -> None:
    """Check that `evaluate` gives the results of such a loop if labels arrive late, with different delays."""
    _assert_evaluation_matches(estimator, np.random.default_rng(0).integers(0, 8, 80))


def _assert_evaluation_matches(estimator: Any, delay: Indices | None) -> None:
    X, y = drifting_classes(estimator, 80)
    model = unfitted_copy(estimator)
    predictions = _manual_loop(model, X, y, delay, None if accepts_new_classes(estimator) else np.unique(y))
    late = 0 if delay is None else delay.tolist()
    run = evaluate(unfitted_copy(estimator), ArrayStream(X, y), delay=late, progress=False)
    for window in run.timeline.windows():
        rows = range(window.first, window.first + window.n_rows)
        mistakes = sum(predictions[t] is not None and predictions[t] != y[t] for t in rows)
        unknown = sum(predictions[t] is None for t in rows)  # here the evaluation may be right or wrong
        if not mistakes <= window.mistakes <= mistakes + unknown:
            raise AssertionError(
                f"rows {rows[0]} to {rows[-1]}: expected {mistakes} mistakes, as in the loop; the evaluation counted "
                f"{window.mistakes:.0f}"
            )
    situation = "after an evaluation instead of a loop"
    assert_same_predictions(predict_rows(run.model, X), predict_rows(model, X), situation)


def check_prequential_matches_manual_loop(estimator: Any) -> None:
    """Check that the method `prequential` gives the results of a loop that predicts, then learns each row."""
    X, y = overlapping_classes(estimator)
    reference, model = unfitted_copy(estimator), unfitted_copy(estimator)
    expected = _manual_loop(reference, X, y, None, None)
    got = [*model.prequential(X[:25], y[:25]).predicted.tolist(), *model.prequential(X[25:], y[25:]).predicted]
    for t, (actual, wanted) in enumerate(zip(got, expected, strict=True)):
        if actual != wanted:
            raise AssertionError(f"row {t}: expected the prediction of the loop, {wanted!r}; got {actual!r}")
    situation = "after prequential instead of a loop"
    assert_same_predictions(predict_rows(model, X), predict_rows(reference, X), situation)


def _manual_loop(model: Any, X: Matrix, y: LabelArray, delay: Indices | None, classes: LabelArray | None) -> list[Any]:
    """Predict each row, then learn the labels that have arrived; return predictions, None before the first label."""
    predictions: list[Any] = []
    pending: list[tuple[int, int]] = []
    observes = delay is not None and isinstance(model, ObservingClassifier)
    is_fitted, since = False, 0
    for t in range(len(X)):
        # The draw of a randomised rule depends on the number of rows predicted since it last learned.
        predictions.append(model.predict(X[since : t + 1])[-1] if is_fitted else None)
        if observes:
            model.observe(X[t : t + 1], classes=classes, ids=[t])
        heapq.heappush(pending, (t if delay is None else t + int(delay[t]), t))
        while pending and pending[0][0] <= t:
            _, row = heapq.heappop(pending)
            if observes:
                model.partial_fit(X[row : row + 1], y[row : row + 1], classes=classes, ids=[row])
            else:
                learn(model, X[row : row + 1], y[row : row + 1], classes)
            is_fitted, since = True, t + 1
    return predictions
