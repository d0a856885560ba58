"""The guarantees of an evaluation: for AMRC exactly its own, for any classifier from its predictions alone."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from driftline import AMRC
from driftline.errors import ConfigError
from driftline.evaluation import evaluate, guarantee_record, read_records
from driftline.evaluation.guarantee_record import GuaranteeRecord, StatedRows
from driftline.evaluation.model_adapters import adapt_model
from driftline.evaluation.records import TIMINGS
from driftline.evaluation.run_checkpoint import FILE_NAME
from driftline.guarantees import Alarm, AlarmKind, ErrorAlarm, Guarantees, Guarded
from driftline.registry import create
from driftline.streams import ArrayStream
from driftline.types import Predictions
from helpers.quick_models import linear, small_stream

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # naive Bayes begins with variances of 0

LATE = np.random.default_rng(0).integers(0, 40, 300).tolist()
BY_LABEL = Guarantees(errors=({0: 0.1, 2: 0.02}, 0.05), coverages=(0.8, 0.9), per_class=True, rise=None)


def growing_stream(n=300):
    """Return a stream in which the third class occurs late."""
    X, y = small_stream(n_steps=n, n_classes=3)
    y = np.where((y == 2) & (np.arange(n) < n // 2), 0, y)
    return X + 4.0 * np.eye(3)[y], y


def state_after(folder):
    return pickle.loads((folder / FILE_NAME).read_bytes().partition(b"\n")[2])


@pytest.mark.parametrize("delay", [0, 7, LATE], ids=["prompt", "late", "out of order"])
@pytest.mark.parametrize("guarantees", [Guarantees(rise=None), BY_LABEL], ids=["usual", "by label"])
@pytest.mark.parametrize("classes", [None, [0, 1, 2]], ids=["unannounced", "announced"])
def test_the_guarantees_of_amrc_are_those_of_its_own_tracker(tmp_path, delay, guarantees, classes):
    stream = ArrayStream(*growing_stream())
    run = evaluate(
        linear(guarantees=guarantees), stream, delay=delay, classes=classes, checkpoint=tmp_path, progress=False
    )
    kept, own = state_after(tmp_path).guarantees.tracker.state(), run.model._tracker.state()
    assert kept.keys() == own.keys()
    assert all(np.array_equal(kept[name], own[name]) for name in own)
    answered, overall = run.model.answered_error(), run.model.error_interval()
    assert answered.n_rows > 10
    assert run.summary.answered == answered.n_rows / overall.n_rows
    assert run.summary.answered_interval == (answered.low, answered.high)
    assert run.summary.error_interval == (overall.low, overall.high)
    assert run.summary.error_level == guarantees.errors[0]


@pytest.mark.parametrize("model", [GaussianNB(), SGDClassifier(random_state=0)], ids=repr)
def test_the_guarantees_of_a_guarded_classifier_are_its_own(tmp_path, model):
    guarded = Guarded(model, guarantees=Guarantees(errors=0.1, rise=None))
    run = evaluate(guarded, ArrayStream(*growing_stream()), checkpoint=tmp_path, progress=False)
    kept, own = state_after(tmp_path).guarantees.tracker.state(), run.model._tracker.state()
    assert all(np.array_equal(kept[name], own[name]) for name in own)
    assert run.summary.error_level == 0.1


@pytest.mark.parametrize("delay", [0, 9])
@pytest.mark.parametrize("model", [linear(), GaussianNB(), SGDClassifier(random_state=0), create("dwm")], ids=repr)
def test_summary_and_windows_are_made_of_the_records(tmp_path, model, delay):
    X, y = growing_stream()
    run = evaluate(model, ArrayStream(X, y), delay=delay, checkpoint=tmp_path, progress=False)
    table = read_records(tmp_path).to_pandas()
    is_late = np.arange(len(y)) >= len(y) - delay
    stated, learned = table[table["confidence"].notna()], table[table["confidence"].notna() & ~is_late]
    assert 280 - delay <= len(learned) <= 300 - delay
    wrong = stated["prediction"].astype(int) != stated["label"]
    answered = learned["answered"].astype(bool)
    assert run.summary.answered == answered.mean()
    if answered.any():
        assert run.summary.answered_error == pytest.approx(wrong[learned.index][answered].mean())
    assert run.summary.set_coverage == pytest.approx(learned["covered"].astype(float).mean())
    assert run.summary.set_size == pytest.approx(learned["set_size"].mean())
    (window,) = run.timeline.windows(1)
    everywhere = stated["answered"].astype(bool)
    counted = (window.stated, window.answered, window.wrong_answers, window.set_labels, window.covered)
    expected = (len(stated), everywhere.sum(), (wrong & everywhere).sum(), stated["set_size"].sum())
    assert counted == (*expected, stated["covered"].sum())


def drawn_predictions(rng, n=60):
    """Return random predictions of three classes, some of them without a prediction."""
    labels = rng.choice(["a", "b", "c"], n).astype(object)
    predicted = rng.choice(["a", "b", "c", None], n, p=[0.4, 0.3, 0.2, 0.1])
    h = rng.dirichlet(np.ones(3), n)
    h[rng.random(n) < 0.2] = 0.0
    return Predictions.without_bounds(predicted, labels, np.zeros(n), np.zeros(n), None, h)


def part_of(predictions, part):
    values = {each.name: getattr(predictions, each.name)[part] for each in fields(predictions)}
    return Predictions(**values)


def same(one, other):
    return all(
        np.array_equal(
            getattr(one, each.name), getattr(other, each.name), equal_nan=each.name in ("confidences", "bounds")
        )
        for each in fields(StatedRows)
    )


def same_tracker(one, other):
    first, second = one.tracker.state(), other.tracker.state()
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


COLUMNS = np.array(["a", "b", "c"])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 59), max_size=5))
def test_rows_may_be_cut_anywhere_and_columns_come_in_any_order(seed, cuts):
    rng = np.random.default_rng(seed)
    predictions = drawn_predictions(rng)
    whole, parts, single, turned = (GuaranteeRecord.start(Guarantees()) for _ in range(4))
    said = whole.state_then_learn(predictions, COLUMNS)
    ends = [*sorted(set(cuts)), 60]
    slices = [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]
    pieces = [parts.state_then_learn(part_of(predictions, part), COLUMNS) for part in slices]
    assert same(said, StatedRows.concatenate(pieces))
    rows = []
    for t in range(60):
        rows.append(single.state_row(t, part_of(predictions, slice(t, t + 1)), COLUMNS))
        single.learn_rows(np.array([t]), predictions.labels[t : t + 1])
    assert same(said, StatedRows.concatenate(rows))
    order = rng.permutation(3)
    permuted = replace(predictions, probabilities=predictions.probabilities[:, order])
    assert same(said, turned.state_then_learn(permuted, COLUMNS[order]))
    assert all(same_tracker(whole, other) for other in (parts, single, turned))
    assert said.is_stated.tolist() == [label is not None for label in predictions.predicted]
    assert whole.n_unstated + whole.tracker.intervals.overall().n_rows == 60


def test_without_probabilities_the_predicted_label_has_all_of_it():
    predictions = replace(drawn_predictions(np.random.default_rng(1)), probabilities=np.zeros((60, 0)))
    certain = (predictions.predicted[:, None] == COLUMNS).astype(float)
    records = [GuaranteeRecord.start(Guarantees()) for _ in range(3)]
    given = (
        predictions,
        replace(predictions, probabilities=certain),
        replace(predictions, probabilities=certain * np.nan),
    )
    said = [record.state_then_learn(each, COLUMNS) for record, each in zip(records, given, strict=True)]
    assert same(said[0], said[1])
    assert same(said[0], said[2])


@pytest.mark.parametrize("classes", [[0, 1, 2], [2, 1, 0, 5]])
def test_probabilities_of_scikit_learn_are_those_before_each_label(classes):
    X, y = growing_stream(60)
    model, stream = GaussianNB(), ArrayStream(X, y)
    adapter = adapt_model(model, np.unique(classes))
    (block,) = stream.blocks()
    answers = adapter.prequential(block)
    other = GaussianNB().partial_fit(X[:1], y[:1], classes=np.unique(classes))
    for t in range(1, 60):
        h = np.nan_to_num(other.predict_proba(X[t : t + 1]))[0]
        assert np.array_equal(answers.probabilities[t], h)
        assert answers.label_probabilities[t] == h[y[t]]
        other.partial_fit(X[t : t + 1], y[t : t + 1])
    assert adapter.classes.tolist() == np.unique(classes).tolist()


def test_a_label_of_a_new_class_is_covered_by_no_set():
    h = np.array([[0.5, 0.0], [0.5, 0.5]])
    predictions = Predictions.without_bounds(
        np.array(["a", "a"]), np.array(["b", "b"]), np.zeros(2), np.zeros(2), None, h
    )
    record = GuaranteeRecord.start(Guarantees())
    record.add_classes(["a"])
    said = record.state_then_learn(predictions, np.array(["a", "b"]))
    assert said.is_covered.tolist() == [False, True]  # at first, sets contain all classes that are known
    assert said.set_sizes.tolist() == [1, 2]


# Alarms -----------------------------------------------------------------------------------------------


def turning_stream(n=2400, at=1300):
    """Return a stream whose classes exchange their places again and again, from some row on."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    turned = (np.arange(n) > at) & (np.arange(n) // 150 % 2 == 0)
    x = np.where(turned, 1 - y, y) * 4.0 + rng.normal(size=n)
    return ArrayStream(np.column_stack([x, rng.normal(size=n)]), y, columns=["heat", "noise"])


def test_an_alarm_is_noted_with_the_columns_that_moved_and_armed_again():
    run = evaluate(linear(), turning_stream(), guarantees=Guarantees(tolerated=0.03), progress=False)
    first, *later = run.summary.alarms
    assert 1300 < first.since <= first.raised_at < 1500
    assert {column for _, column, _ in first.moved} == {"heat"}
    assert later
    assert all(alarm.since > first.raised_at for alarm in later)
    assert run.timeline.alarms == list(run.summary.alarms)
    assert run.summary.n_alarms == 1 + len(later)
    described = run.summary.to_dict()["alarms"][0]
    assert described["kind"] == "tolerated"
    assert described["moved"][0].keys() == {"label", "column", "surprise"}
    assert described["rise"] == pytest.approx(described["error"] - described["error_before"])


def test_rows_of_an_alarm_are_rows_of_the_stream():
    y = np.array([0] * 400 + [1] * 400)
    run = evaluate(create("majority"), ArrayStream(np.zeros((800, 1)), y), progress=False)
    (alarm,) = run.summary.alarms
    mistakes = np.array([0] * 399 + [1] * 400)  # nothing is predicted of the first row
    raised = ErrorAlarm(rise=0.05).update(mistakes)
    assert (alarm.raised_at, alarm.since) == (raised.raised_at + 1, raised.since + 1)
    assert alarm.since == 400


def test_only_some_alarms_are_kept_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(guarantee_record, "MAX_ALARMS", 1)
    summary = evaluate(linear(), turning_stream(), guarantees=Guarantees(tolerated=0.03), progress=False).summary
    assert len(summary.alarms) == 1
    assert summary.n_alarms > 1


@pytest.mark.parametrize("delay", [0, 11])
@pytest.mark.parametrize("stop", [pytest.param(700, marks=pytest.mark.slow), 1499])
def test_a_resumed_run_has_the_same_guarantees(tmp_path, delay, stop):
    stream = turning_stream(1700)
    options = {"delay": delay, "guarantees": Guarantees(errors=0.02, tolerated=0.03), "progress": False}
    whole = evaluate(linear(), stream, checkpoint=tmp_path / "whole", **options)
    evaluate(linear(), stream, checkpoint=tmp_path / "cut", limit=stop, **options)
    cut = evaluate(linear(), stream, checkpoint=tmp_path / "cut", resume=True, **options)
    timed = {"seconds", "predict_seconds", "learn_seconds", "rows_per_second"}
    figures = [
        {name: value for name, value in run.summary.to_dict().items() if name not in timed} for run in (whole, cut)
    ]
    assert figures[0] == figures[1]
    assert figures[0]["alarms"]
    assert cut.timeline.alarms == whole.timeline.alarms
    tables = [read_records(tmp_path / name).drop_columns(list(TIMINGS)) for name in ("whole", "cut")]
    assert tables[0].equals(tables[1])


def test_a_run_with_other_guarantees_is_not_resumed(tmp_path):
    stream = ArrayStream(*small_stream())
    evaluate(linear(), stream, limit=40, checkpoint=tmp_path, progress=False)
    with pytest.raises(Exception, match="another guarantees"):
        evaluate(linear(), stream, guarantees=Guarantees(errors=0.2), checkpoint=tmp_path, resume=True, progress=False)


# Settings ---------------------------------------------------------------------------------------------


def test_levels_are_those_given_or_those_of_the_model_or_the_usual_ones():
    stream, own = ArrayStream(*small_stream()), Guarantees(errors=0.2, coverages=0.7)

    def levels(model, **options):
        summary = evaluate(model, stream, progress=False, **options).summary
        return summary.error_level, summary.coverage_level

    assert levels(AMRC(features="linear")) == (0.05, 0.9)
    assert levels(linear(guarantees=own)) == (0.2, 0.7)
    assert levels(linear(guarantees=own), guarantees=Guarantees(errors=0.1)) == (0.1, 0.9)
    assert levels(GaussianNB(), guarantees=own) == (0.2, 0.7)
    with pytest.raises(ConfigError, match="guarantees must be a Guarantees"):
        levels(GaussianNB(), guarantees=0.05)


def test_an_alarm_without_rows_before_has_no_numbers_for_them_in_json():
    alarm = Alarm(AlarmKind.TOLERATED, 10, 0, 11, 9, 0.1, float("nan"))
    described = alarm.to_dict()
    assert described["error_before"] is None
    assert described["rise"] is None
