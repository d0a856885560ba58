"""What an evaluation says of repeating labels."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC
from driftline.baselines import Majority, NoChange
from driftline.core.costs import Costs
from driftline.evaluation import evaluate, read_records
from driftline.evaluation.label_baselines import LabelBaselines
from driftline.streams import ArrayStream
from helpers.strategies import seeds

SHORT_RUNS = np.arange(300) // 6 % 2


def stream_of(y, seed=0):
    return ArrayStream(np.random.default_rng(seed).normal(size=(len(y), 2)), np.asarray(y))


def predicted_then(labels, delays):
    """Both predictions for each row, from the definition: the labels that had arrived before it, in their order."""
    last, majority = [], []
    for row in range(len(labels)):
        arrived = sorted((s + delays[s], s) for s in range(row) if s + delays[s] < row)
        known = [labels[s] for _, s in arrived]
        last.append(known[-1] if known else None)
        counts, leader = Counter(), None
        for label in known:
            counts[label] += 1
            leader = label if counts[label] > counts[leader] else leader
        majority.append(leader)
    return last, majority


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(2, 60), st.integers(1, 4), st.integers(0, 8))
def test_both_predictors_know_the_labels_that_have_arrived(tmp_path_factory, seed, n, n_classes, max_delay):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("run")
    y, delay = rng.integers(0, n_classes, n), rng.integers(0, max_delay + 1, n)
    summary = evaluate(NoChange(), stream_of(y), delay=delay, checkpoint=folder, progress=False).summary
    last, majority = predicted_then(y.tolist(), delay)
    records = read_records(folder)
    assert records["last_label"].to_pylist() == last
    assert records["majority_label"].to_pylist() == majority
    assert summary.last_label_error == np.mean([guess != label for guess, label in zip(last, y, strict=True)])
    assert summary.majority_so_far_error == np.mean([guess != label for guess, label in zip(majority, y, strict=True)])
    assert json.loads((folder / "summary.json").read_text())["last_label_error"] == summary.last_label_error


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=50), st.integers(0, 50))
def test_labels_may_be_cut_anywhere(labels, cut):
    whole, parts, labels = LabelBaselines(), LabelBaselines(), np.array(labels)
    predicted = whole.predict_then_learn(labels)
    first, second = (parts.predict_then_learn(part) for part in (labels[:cut], labels[cut:]))
    assert predicted.last == first.last + second.last
    assert predicted.majority == first.majority + second.majority
    assert whole == parts


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(0, 9), st.integers(0, 9))
def test_no_label_would_have_cost_less_than_the_cheapest(labels, first, second):
    costs = Costs({"a": {"b": first}, "b": {"c": second, "b": 0.5}})
    predicted = LabelBaselines(costs).predict_then_learn(np.array(labels)).cheapest
    assert predicted[0] is None
    for row, label in enumerate(predicted[1:], 1):
        totals = {known: sum(costs.of(true, known) for true in labels[:row]) for known in labels[:row]}
        assert totals[label] == min(totals.values())
    plain = LabelBaselines(Costs({})).predict_then_learn(np.array(labels))
    assert plain.cheapest == plain.majority


def test_the_predictors_agree_with_the_classifiers_of_that_name():
    stream = stream_of(np.random.default_rng(0).choice(3, 400, p=[0.5, 0.3, 0.2]))
    repeating, frequent = (evaluate(model, stream, progress=False).summary for model in (NoChange(), Majority()))
    assert repeating.last_label_error == repeating.error
    assert frequent.majority_so_far_error == pytest.approx(frequent.error, abs=0.01)  # ties are broken differently


def test_a_resumed_run_has_the_same_counts(tmp_path):
    stream = stream_of(SHORT_RUNS)
    whole = evaluate(NoChange(), stream, delay=2, progress=False).summary
    evaluate(NoChange(), stream, delay=2, limit=100, checkpoint=tmp_path, progress=False)
    resumed = evaluate(NoChange(), stream, delay=2, checkpoint=tmp_path, resume=True, progress=False).summary
    assert resumed.last_label_error == whole.last_label_error
    assert resumed.majority_so_far_error == whole.majority_so_far_error


def hints(summary):
    return [line for line in str(summary).split("\n") if line.startswith("Repeating the last known label")]


def test_the_summary_says_when_the_last_label_would_have_been_better_and_what_to_do():
    summary = evaluate(AMRC(features="linear"), stream_of(SHORT_RUNS), progress=False).summary
    [line] = hints(summary)
    assert f"wrong in {summary.last_label_error:.2%} of the rows" in line
    assert f"less often than AMRC ({summary.error:.2%})" in line
    assert "AMRC(label_memory=True)" in line
    assert "--label-memory" in line


def test_with_label_memory_it_says_so_only_if_it_is_still_true():
    pairs = stream_of(np.arange(300) // 2 % 2)
    summary = evaluate(AMRC(features="linear", label_memory=True), pairs, progress=False).summary
    assert summary.label_memory is True
    assert summary.error < summary.last_label_error
    assert not hints(summary)
    [line] = hints(replace(summary, error=0.9))
    assert line.endswith("although label_memory is on.")


def test_nothing_is_said_of_a_classifier_that_is_as_good_as_the_last_label():
    summary = evaluate(NoChange(), stream_of(SHORT_RUNS), progress=False).summary
    assert summary.label_memory is None
    assert not hints(summary)


def test_the_last_label_that_counts_is_one_that_had_arrived():
    """Labels alternate: one row late, repeating is always right; at once, always wrong."""
    stream = stream_of(np.arange(300) % 2)
    assert evaluate(NoChange(), stream, progress=False).summary.last_label_error == 1.0
    assert evaluate(NoChange(), stream, delay=1, progress=False).summary.last_label_error == 2 / 300
