"""Figures by class: those of scikit-learn, whatever classes appear when, and however the rows were cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from driftline.errors import PositiveLabelError
from driftline.evaluation import Timeline, evaluate, read_records
from driftline.evaluation.class_counts import MAX_CELLS, MIN_BINS, SMALLEST_PROBABILITY
from driftline.evaluation.class_figures import class_summary
from driftline.evaluation.metrics import METRICS, Measured, positive_label
from driftline.evaluation.ranking_figures import RankingFigures
from driftline.evaluation.summary import RunningTotals
from driftline.registry import create
from driftline.streams import ArrayStream
from driftline.types import Block, Predictions
from helpers.strategies import seeds

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # naive Bayes begins with variances of 0

LABELS = np.array(["ham", "spam", "eggs", "toast"])


def made_up(seed, n, c, *, sharp=3.0):
    """Return labels, of which some first occur late, and predictions by a classifier that learns classes from them."""
    rng = np.random.default_rng(seed)
    labels = LABELS[np.minimum(rng.integers(0, c, n), np.arange(n) * c // n)]
    order = list(dict.fromkeys(labels.tolist()))
    truth = np.array([order.index(label) for label in labels])
    n_known = np.concatenate([[0], np.maximum.accumulate(truth)[:-1] + 1])
    weights = np.exp(sharp * rng.normal(size=(n, len(order))) + 2 * np.eye(len(order))[truth])
    weights[np.arange(len(order)) >= n_known[:, np.newaxis]] = 0.0
    h = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    predicted = np.array([None if k == 0 else order[row.argmax()] for row, k in zip(h, n_known, strict=True)])
    return labels, predicted, h, order, n_known


def told(labels, predicted, h):
    order = list(dict.fromkeys(labels.tolist()))
    n, nothing = len(labels), np.zeros(len(labels))
    of_labels = h[np.arange(n), [order.index(label) for label in labels]] if h.size else nothing
    return Predictions.without_bounds(predicted, labels, nothing, nothing, of_labels, h)


def followed(labels, predicted, h, order, n_known, cuts=()):
    """Return the timeline and the totals of an evaluation whose slices end at the cuts, as a classifier would tell."""
    timeline, totals, n = Timeline(["x"]), RunningTotals(50), len(labels)
    whole = told(labels, predicted, h)
    for start, stop in zip([0, *cuts], [*cuts, n], strict=True):
        if start == stop:
            continue
        part = slice(start, stop)
        entries = {name: getattr(whole, name)[part] for name in Predictions.__slots__}
        predictions = Predictions(**(entries | {"probabilities": h[part, : n_known[stop - 1]]}))
        columns = np.array(order[: n_known[stop] if stop < n else len(order)])
        block = Block(np.zeros((stop - start, 1)), labels[part], np.full(stop - start, np.nan))
        timeline.add(block, predictions, None, columns)
        totals.add(labels[part], predictions)
    return timeline, totals


def overall(totals):
    return totals.summary("", "", 0.05, n_unlearned=0, n_skipped=0, bounds_are_late=False)


def summary_of(timeline, positive=None):
    label = positive_label(timeline.support, positive)
    return class_summary(timeline.measured(timeline.windows(1)[0], label), timeline.classes)


@settings(max_examples=40)
@given(seeds, st.integers(2, 600), st.integers(1, 4), st.lists(st.integers(0, 600), max_size=6))
def test_figures_by_class_do_not_depend_on_how_rows_are_cut(seed, n, c, cuts):
    rows = made_up(seed, n, c)
    (whole, totals), (cut, cut_totals) = followed(*rows), followed(*rows, sorted(min(at, n) for at in cuts))
    assert summary_of(whole) == summary_of(cut)
    one, other = overall(totals), overall(cut_totals)
    assert (one.log_loss, one.brier_score, one.confusion) == (other.log_loss, other.brier_score, other.confusion)


@settings(max_examples=40)
@given(seeds, st.integers(20, 400), st.integers(2, 4))
def test_figures_by_class_are_those_of_scikit_learn(seed, n, c):
    labels, predicted, h, order, n_known = made_up(seed, n, c)
    timeline, totals = followed(labels, predicted, h, order, n_known)
    figures, said = summary_of(timeline), np.array(["none" if p is None else p for p in predicted])
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, said, labels=order, zero_division=0
    )
    assert [each.label for each in figures["per_class"]] == order
    assert [each.precision or 0.0 for each in figures["per_class"]] == pytest.approx(precision)
    assert [each.recall for each in figures["per_class"]] == pytest.approx(recall)
    assert [each.f1 for each in figures["per_class"]] == pytest.approx(f1)
    assert [each.support for each in figures["per_class"]] == support.tolist()
    assert figures["balanced_accuracy"] == pytest.approx(recall.mean())
    assert figures["g_mean"] == pytest.approx(np.prod(recall) ** (1 / len(order)))
    assert figures["macro_f1"] == pytest.approx(f1.mean())
    everything = timeline.measured(timeline.windows(1)[0])
    assert METRICS["kappa"].value(everything) == pytest.approx(metrics.cohen_kappa_score(labels, said), nan_ok=True)
    summary = overall(totals)
    truth = np.array(order) == labels[:, np.newaxis]
    clipped = np.maximum(h[truth], SMALLEST_PROBABILITY)
    assert summary.log_loss == pytest.approx(-np.log(clipped).mean())
    assert summary.brier_score == pytest.approx(((h - truth) ** 2).sum(axis=1).mean())
    seen = dict.fromkeys([*order, *(p for p in predicted if p is not None)])
    assert summary.confusion.labels == list(seen)
    assert summary.confusion.matrix == metrics.confusion_matrix(labels, said, labels=list(seen)).tolist()


@settings(max_examples=40)
@given(seeds, st.integers(20, 400), st.integers(2, 4))
def test_areas_are_those_of_scikit_learn_within_the_stated_errors(seed, n, c):
    labels, *rest = made_up(seed, n, c)
    h, order = rest[1], rest[2]
    figures = summary_of(followed(labels, *rest)[0])
    label = positive_label({name: int(np.sum(labels == name)) for name in order})
    ranked = [order.index(label)] if label is not None else range(len(order))
    roc_auc = np.mean([metrics.roc_auc_score(labels == order[k], h[:, k]) for k in ranked])
    precision = np.mean([metrics.average_precision_score(labels == order[k], h[:, k]) for k in ranked])
    assert abs(figures["roc_auc"] - roc_auc) <= figures["roc_auc_error"] + 1e-12
    assert abs(figures["average_precision"] - precision) <= figures["average_precision_error"] + 1e-9
    assert figures["average_precision_error"] < 0.25


def test_many_classes_share_the_memory_of_few():
    n_classes = 100
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(n_classes), 10))
    h = rng.dirichlet(np.full(n_classes, 0.5), len(labels))
    nothing, timeline = np.zeros(len(labels)), Timeline(["x"])
    predictions = Predictions.without_bounds(labels, labels, nothing, nothing, h[np.arange(len(labels)), labels], h)
    blocks = Block(np.zeros((len(labels), 1)), labels, np.full(len(labels), np.nan))
    timeline.add(blocks, predictions, None, np.arange(n_classes))
    for window in timeline.windows():
        _, c, n_bins = window.by_class.scores.shape
        assert n_bins >= MIN_BINS
        assert c * n_bins <= MAX_CELLS
    exact = np.mean([metrics.roc_auc_score(labels == k, h[:, k]) for k in range(n_classes)])
    figures = summary_of(timeline)
    assert abs(figures["roc_auc"] - exact) <= figures["roc_auc_error"]


def stream_with_fraud(n=700, seed=0):
    rng = np.random.default_rng(seed)
    is_fraud = rng.random(n) < 0.1
    return ArrayStream(rng.normal(size=(n, 3)) + 2.0 * is_fraud[:, np.newaxis], np.where(is_fraud, "fraud", "fine"))


@pytest.mark.parametrize("delay", [0, 25])
def test_the_summary_agrees_with_the_records_and_a_resumed_run_with_a_whole_one(tmp_path, delay):
    stream, model = stream_with_fraud(), create("sklearn-nb")
    whole = evaluate(model, stream, delay=delay, checkpoint=tmp_path / "whole", progress=False)
    records = read_records(tmp_path / "whole").to_pandas()
    fraud = next(each for each in whole.summary.per_class if each.label == "fraud")
    assert whole.summary.positive == "fraud"
    assert fraud.recall == np.mean(records.prediction[records.label == "fraud"] == "fraud")
    assert fraud.precision == np.mean(records.label[records.prediction == "fraud"] == "fraud")
    clipped = np.maximum(records.probability, SMALLEST_PROBABILITY)
    assert whole.summary.log_loss == pytest.approx(-np.log(clipped).mean())
    evaluate(create("sklearn-nb"), stream, delay=delay, limit=333, checkpoint=tmp_path / "cut", progress=False)
    resumed = evaluate(
        create("sklearn-nb"), stream, delay=delay, checkpoint=tmp_path / "cut", resume=True, progress=False
    )
    for name in ("per_class", "confusion", "log_loss", "brier_score", *RankingFigures.__slots__):
        assert getattr(resumed.summary, name) == getattr(whole.summary, name), name


def test_a_classifier_without_probabilities_has_no_areas():
    summary = evaluate(create("dwm"), stream_with_fraud(200), progress=False).summary
    assert summary.per_class[0].support + summary.per_class[1].support == 200
    for name in ("log_loss", "brier_score", "roc_auc", "roc_auc_error", "average_precision"):
        assert getattr(summary, name) is None


def test_the_positive_class_can_be_chosen_and_must_occur():
    stream = stream_with_fraud(200)
    summary = evaluate(create("sklearn-nb"), stream, positive="fine", progress=False).summary
    assert summary.positive == "fine"
    with pytest.raises(PositiveLabelError, match="'frod' never occurs; choose a label that does: 'fine', 'fraud'"):
        evaluate(create("sklearn-nb"), stream, positive="frod", progress=False)


def test_the_timeline_has_measures_of_a_class_by_window():
    stream = stream_with_fraud()
    run = evaluate(create("sklearn-nb"), stream, progress=False)
    windows = run.timeline.windows(5)
    recall, support = run.timeline.measure("recall", windows), run.timeline.class_counts(windows)
    place = run.timeline.classes.index("fraud")
    total = np.sum(recall * support[:, place]) / support[:, place].sum()
    assert total == pytest.approx(next(each.recall for each in run.summary.per_class if each.label == "fraud"))
    precision = run.timeline.measure("average-precision", windows)
    assert np.all((precision > 0.0) & (precision <= 1.0))
    whole = run.timeline.measure("average-precision", run.timeline.windows(1))
    assert whole.tolist() == [run.summary.average_precision]


def test_the_sum_of_windows_without_one_of_them_is_that_of_the_others():
    timeline, _ = followed(*made_up(0, 300, 3))
    one, *others = timeline.windows(4)
    total = timeline.windows(1)[0].by_class
    rest = others[0].by_class + others[1].by_class + others[2].by_class
    for name in METRICS:
        is_tie = timeline.measured(one).is_tie
        order = [Measured(counts.expanded(3, 1024), 0, is_tie) for counts in (total - one.by_class, rest)]
        assert METRICS[name].value(order[0]) == pytest.approx(METRICS[name].value(order[1]), nan_ok=True), name
