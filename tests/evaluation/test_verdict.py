"""The verdict on a classifier, and the logistic regression that it is compared with."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftline.evaluation import compare, evaluate
from driftline.evaluation.logistic_baseline import MAX_WEIGHTS, LogisticBaseline
from driftline.evaluation.significance import student_test
from driftline.evaluation.summary_table import label_hint
from driftline.evaluation.verdict import LossBatches
from driftline.kernels.logistic import LARGEST_DEVIATION, STEP, predict_then_learn
from driftline.registry import create
from driftline.report.verdict_text import verdict_sentences
from driftline.streams import ArrayStream

values = st.one_of(st.just(np.nan), st.floats(-100, 100))


def plain_regression(X, y):
    """Return the predictions of the regression, row by row, with statistics from all rows learned before."""
    weights, predicted = {}, []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):

        def scaled(rows, x=x):
            z = []
            for j, value in enumerate(x):
                known = [row[j] for row in rows if not math.isnan(row[j])]
                deviation = np.std(known) if known else 0.0
                is_usable = not math.isnan(value) and len(set(known)) > 1
                z.append(
                    np.clip((value - np.mean(known)) / deviation, -LARGEST_DEVIATION, LARGEST_DEVIATION)
                    if is_usable
                    else 0.0
                )
            return np.array([*z, 1.0])

        z = scaled(X[:t])
        predicted.append({k: w @ z for k, w in weights.items()})
        weights.setdefault(label, np.zeros(len(x) + 1))
        z = scaled(X[: t + 1])
        for k, w in weights.items():
            weights[k] = w - STEP / np.sqrt(len(z)) * (1.0 / (1.0 + np.exp(-w @ z)) - (k == label)) * z
    return predicted


@given(arrays(np.float64, st.tuples(st.integers(1, 15), st.integers(1, 3)), elements=values), st.randoms())
def test_the_kernel_predicts_as_plain_numpy_does(X, random):
    X = np.round(X, 3)
    y = [random.randrange(3) for _ in X]
    order = list(dict.fromkeys(y))
    places = np.array([order.index(label) for label in y])
    d = X.shape[1]
    weights = np.zeros((len(order), d + 1))
    predicted = predict_then_learn(X.copy(), places, weights, 0, np.zeros(d), np.zeros(d), np.zeros(d))
    for place, scores in zip(predicted.tolist(), plain_regression(X.tolist(), y), strict=True):
        if not scores:
            assert place == -1
        else:  # ties within rounding may fall either way
            assert scores[order[place]] >= max(scores.values()) - 1e-6


def test_labels_that_arrive_later_are_learned_as_if_they_had_arrived_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(3, size=200)
    X[rng.random(X.shape) < 0.1] = np.nan
    prompt, late = LogisticBaseline(3), LogisticBaseline(3)
    predicted = prompt.predict_then_learn(X, y)
    assert predicted[0] is None
    for x, label in zip(X, y.tolist(), strict=True):
        assert late.predict(x, label) == predicted.pop(0)
        late.learn(x[np.newaxis], np.array([label]))
    assert (late.mistakes, late.error) == (prompt.mistakes, prompt.error)
    assert np.array_equal(late.weights, prompt.weights)


def test_the_regression_learns_only_labels_that_have_arrived():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    stream = ArrayStream(y[:, np.newaxis] + rng.normal(0, 0.05, (400, 1)), y)
    at_once = evaluate(create("majority"), stream, progress=False).summary
    late = evaluate(create("majority"), stream, delay=150, progress=False).summary
    assert at_once.logistic_error < 0.02
    assert 150 <= late.logistic_error * 400 < 160  # the rows before the first label, and few others


def test_too_many_classes_and_columns_are_given_up():
    baseline = LogisticBaseline(MAX_WEIGHTS // 2)
    baseline.predict_then_learn(np.zeros((1, MAX_WEIGHTS // 2)), np.array(["a"]))
    assert baseline.error == 1.0
    baseline.learn(np.zeros((1, MAX_WEIGHTS // 2)), np.array(["b"]))
    assert baseline.error is None
    assert baseline.weights.size == 0


@settings(max_examples=15)
@given(st.lists(st.integers(1, 700), min_size=1, max_size=8), st.randoms())
def test_batches_do_not_depend_on_how_rows_were_cut(parts, random):
    wrong = np.array([[random.random() < 0.3] for _ in range(sum(parts))], dtype=float)
    whole, cut = LossBatches(1), LossBatches(1)
    whole.add(wrong)
    for part in np.split(wrong, np.cumsum(parts)[:-1]):
        cut.add(part)
    (errors, lengths), (again, _) = whole.means(), cut.means()
    assert np.allclose(errors, again)
    assert len(lengths) <= 40
    assert lengths.sum() == len(wrong)
    assert np.isclose(errors[:, 0] @ lengths, wrong.sum())


def labelled(kind, n=1500):
    """Return a stream without any information in its columns, whose labels are mostly equal or come in runs."""
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.1).astype(int) if kind == "mostly equal" else np.arange(n) // 50 % 2
    return ArrayStream(rng.normal(size=(n, 2)), y)


class Contrary:
    """A classifier that predicts another label than the one that it learned last."""

    def partial_fit(self, X, y, classes=None):
        self.last = y[-1]
        return self

    def predict(self, X):
        return np.full(len(X), 1 - self.last)


class KnowsTheOdds:
    """The Bayes classifier of fraud in 5 % of the rows, with means 2 and 0 and variances 1."""

    classes_ = np.array(["fine", "fraud"])

    def partial_fit(self, X, y, classes=None):
        return self

    def predict_proba(self, X):
        fraud = 1.0 / (1.0 + 19.0 * np.exp(2.0 - 2.0 * np.asarray(X)[:, 0]))
        return np.column_stack([1.0 - fraud, fraud])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def results(summary):
    return {verdict.baseline: verdict.result for verdict in summary.verdict}


def test_a_classifier_that_loses_to_the_most_frequent_label_is_worse_than_doing_nothing():
    summary = evaluate(Contrary(), labelled("mostly equal"), progress=False).summary
    assert results(summary)["majority_so_far"] == "worse"
    first, second = verdict_sentences(summary, "contrary")
    assert first.startswith(
        "Verdict: contrary is worse than doing nothing: always predicting the most frequent label so"
    )
    assert f"{summary.majority_so_far_error:.1%}" in first
    assert second.startswith("It is worse than always predicting the most frequent label so far (")


def test_a_classifier_that_loses_to_repeating_is_worse_than_doing_nothing():
    summary = evaluate(create("majority"), labelled("in runs"), progress=False).summary
    assert results(summary) == {
        "majority_so_far": "about the same",
        "last_label": "worse",
        "logistic_regression": "worse" if summary.logistic_error < 0.4 else "about the same",
    }
    first = verdict_sentences(summary, "majority")[0]
    assert "majority is worse than doing nothing: repeating the last label that had arrived would have been" in first
    repeating = evaluate(create("no-change"), labelled("in runs"), progress=False).summary
    assert results(repeating)["majority_so_far"] == "better"
    assert results(repeating)["last_label"] == "about the same"
    (only,) = verdict_sentences(repeating, "no-change")
    assert only.startswith(f"Verdict: no-change, wrong in {repeating.error:.1%} of the rows, is better than always")


@pytest.mark.parametrize("delay", [0, 20])
def test_the_figures_are_those_of_the_summary(delay):
    summary = evaluate(create("dwm"), labelled("in runs"), delay=delay, progress=False).summary
    expected = (summary.majority_so_far_error, summary.last_label_error, summary.logistic_error)
    for verdict, error in zip(summary.verdict, expected, strict=True):
        assert verdict.baseline_value == pytest.approx(error)
        assert verdict.difference == pytest.approx(summary.error - error)
        assert verdict.low <= verdict.difference <= verdict.high
    record = json.loads(json.dumps(summary.to_dict()))
    assert record["verdict"][1]["baseline"] == "last_label"


@pytest.mark.parametrize("delay", [0, 20])
def test_with_costs_the_verdict_is_about_costs(delay):
    rng = np.random.default_rng(2)
    y = np.where(rng.random(2000) < 0.05, "fraud", "fine")
    stream = ArrayStream(np.where(y == "fraud", 2.0, 0.0)[:, np.newaxis] + rng.normal(size=(2000, 1)), y)
    costs = {"fraud": {"fine": 50}}
    summary = evaluate(KnowsTheOdds(), stream, delay=delay, costs=costs, progress=False).summary
    assert summary.error > summary.majority_so_far_error  # it pays to be wrong more often
    cheapest, last = summary.verdict[:2]
    assert cheapest.baseline == "cheapest_label"
    assert cheapest.result == last.result == "better"
    assert {verdict.measure for verdict in summary.verdict} == {"cost"}
    for verdict in summary.verdict:
        assert summary.mean_cost - verdict.baseline_value == pytest.approx(verdict.difference)
    labels = y.tolist()
    repeated = [None] * (delay + 1) + labels[: -1 - delay]
    paid = [(50 if pair == ("fraud", "fine") else pair[0] != pair[1]) for pair in zip(labels, repeated, strict=True)]
    assert last.baseline_value == pytest.approx(np.mean(paid))
    (sentence,) = verdict_sentences(summary, "nb")
    assert f"cost {summary.mean_cost:.4g} a row" in sentence
    assert "better than always predicting the label that would have cost least so far" in sentence
    assert not label_hint(summary, "nb")


def test_with_costs_the_verdict_says_when_one_label_for_all_rows_would_have_been_cheaper():
    summary = evaluate(Contrary(), labelled("mostly equal"), costs={0: {1: 100}}, progress=False).summary
    assert results(summary)["cheapest_label"] == "worse"
    first = verdict_sentences(summary, "contrary")[0]
    assert "worse than doing nothing: always predicting the label that would have cost least so far" in first
    assert f"and contrary cost {summary.mean_cost:.4g} a row" in first


def test_too_few_rows_give_no_verdict_but_say_so():
    summary = evaluate(Contrary(), labelled("mostly equal", 60), progress=False).summary
    assert set(results(summary).values()) == {"about the same"}
    assert "too few rows to tell them apart" in verdict_sentences(summary, "contrary")[0]


def test_noise_gives_a_verdict_seldom():
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        stream = ArrayStream(rng.normal(size=(400, 1)), rng.integers(2, size=400))
        summary = evaluate(create("no-change"), stream, progress=False).summary
        wrong += any(verdict.result != "about the same" for verdict in summary.verdict)
    assert wrong <= 3  # 5 % of the streams are expected


@given(st.lists(st.floats(-1, 1), min_size=10, max_size=40))
def test_a_difference_of_shares_has_limits_that_shares_can_have(differences):
    lengths = np.full(len(differences), 50)
    by_batch = np.array(differences)
    free, within = (student_test(by_batch.mean(), by_batch, lengths, 3, largest) for largest in (math.inf, 1.0))
    assert -1 <= within.low <= by_batch.mean() <= within.high <= 1
    assert (within.low <= 0 <= within.high) == (free.low <= 0 <= free.high)
    assert within.p == free.p


def test_a_lead_that_ends_halfway_has_limits_within_100_points():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = np.where(np.arange(2000) < 1000, y, rng.integers(2, size=2000))[:, np.newaxis] + 0.1 * rng.normal(
        size=(2000, 1)
    )
    run = evaluate(create("dwm"), ArrayStream(X, y), progress=False)
    majority = run.summary.verdict[0]
    assert majority.result == "about the same"
    assert -1.0 <= majority.low <= majority.difference <= majority.high <= 1.0
    assert "from too few stretches of rows to be sure" in verdict_sentences(run.summary, "dwm")[0]
    other = evaluate(create("majority"), ArrayStream(X, y), progress=False)
    _, behind = compare({"dwm": run.timeline, "majority": other.timeline})
    assert -1.0 <= behind.low <= behind.behind <= behind.high <= 1.0
