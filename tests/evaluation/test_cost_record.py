"""Costs in an evaluation: labels chosen by their costs, and what they cost."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from driftline import AMRC, CheckpointError, ConfigError
from driftline.evaluation import evaluate, read_records
from driftline.streams import ArrayStream
from helpers.quick_models import linear

COSTS = {"rare": {"usual": 20}, "usual": {"rare": 1.5}}


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    rare = rng.random(400) < 0.12
    X = rng.normal(size=(400, 3)) + 1.3 * rare[:, None]
    return ArrayStream(X, np.where(rare, "rare", "usual"))


def run(model, stream, folder=None, **options):
    return evaluate(model, stream, progress=False, checkpoint=folder, **options)


def cost_of(labels, predicted):
    table = {("rare", "usual"): 20.0, ("usual", "rare"): 1.5}
    return sum(table.get((y, p), float(y != p)) for y, p in zip(labels, predicted, strict=True))


@pytest.mark.parametrize("delay", [0, 30])
def test_the_cost_is_that_of_the_recorded_predictions(stream, delay, tmp_path):
    summary = run(linear(), stream, tmp_path / "costs", costs=COSTS, delay=delay).summary
    run(linear(), stream, tmp_path / "plain", delay=delay)
    chosen, plain = (read_records(tmp_path / name).to_pydict() for name in ("costs", "plain"))
    assert summary.cost == pytest.approx(cost_of(chosen["label"], chosen["prediction"]))
    assert summary.cost_without == pytest.approx(cost_of(plain["label"], plain["prediction"]))
    assert summary.cost < summary.cost_without
    wrong = [y != p for y, p in zip(chosen["label"], chosen["prediction"], strict=True)]
    assert summary.mistakes == sum(wrong)
    assert summary.mean_cost == summary.cost / 400


@pytest.mark.parametrize("delay", [0, 30])
@pytest.mark.parametrize("classes", [None, ["rare", "usual"]])
def test_a_model_with_costs_of_its_own_gives_the_same_labels(stream, delay, classes):
    options = {"delay": delay, "classes": classes}
    layered, built_in = run(linear(), stream, costs=COSTS, **options), run(linear(costs=COSTS), stream, **options)
    assert built_in.summary.cost == layered.summary.cost
    assert built_in.summary.cost_without == layered.summary.cost_without
    assert built_in.summary.mistakes == layered.summary.mistakes


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the first variances of GaussianNB are 0
def test_any_classifier_with_probabilities_predicts_by_costs(stream):
    summary = run(GaussianNB(), stream, costs=COSTS).summary
    assert summary.cost < summary.cost_without


def test_a_classifier_without_probabilities_keeps_its_labels(stream):
    summary, plain = (run(Perceptron(), stream, costs=costs).summary for costs in (COSTS, None))
    assert summary.mistakes == plain.mistakes
    assert summary.cost_without is None
    assert plain.cost is None
    assert "cost  " in str(summary)


def test_windows_have_the_costs_of_their_rows(stream):
    result = run(linear(), stream, costs=COSTS)
    windows = result.timeline.windows(10)
    assert sum(window.cost for window in windows) == pytest.approx(result.summary.cost)
    assert sum(window.cost_without for window in windows) == pytest.approx(result.summary.cost_without)
    assert windows[0].mean_costs == (windows[0].cost / windows[0].n_rows, windows[0].cost_without / windows[0].n_rows)
    assert run(linear(), stream).timeline.windows(1)[0].mean_costs is None


@pytest.mark.parametrize("delay", [0, 30])
def test_a_run_that_was_stopped_goes_on_with_the_same_costs(stream, delay, tmp_path):
    whole = run(linear(), stream, costs=COSTS, delay=delay).summary
    run(linear(), stream, tmp_path, costs=COSTS, delay=delay, limit=233)
    resumed = run(linear(), stream, tmp_path, costs=COSTS, delay=delay, resume=True).summary
    assert (resumed.cost, resumed.cost_without) == (whole.cost, whole.cost_without)
    with pytest.raises(CheckpointError, match="another costs"):
        run(linear(), stream, tmp_path, costs={}, delay=delay, resume=True)


def test_labels_that_never_occur_are_named(stream):
    summary = run(linear(), stream, costs={"rare": {"usual": 20, "Usual": 3}}).summary
    assert summary.cost_labels_unseen == ("Usual",)
    assert json.loads(json.dumps(summary.to_dict()))["cost_labels_unseen"] == ["Usual"]


def test_equal_costs_are_the_number_of_mistakes(stream):
    summary = run(AMRC(features="linear"), stream, costs={}).summary
    assert summary.cost == summary.mistakes


def test_costs_are_checked_before_the_first_row(stream):
    with pytest.raises(ConfigError, match=r"costs\['rare'\]\['usual'\]"):
        run(linear(), stream, costs={"rare": {"usual": -1}})


class RowByRow:
    """A stream whose blocks are single rows, with labels as wide as their own text."""

    def __init__(self, stream):
        self.name, self.columns, self.n_rows, self.classes = stream.name, stream.columns, stream.n_rows, stream.classes
        self._stream = stream

    def blocks(self, start=0):
        for block in self._stream.blocks(start):
            for t in range(len(block.rows)):
                row = block.part(slice(t, t + 1))
                yield replace(row, labels=np.array(row.labels.tolist()))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("delay", [0, 30])
def test_chosen_labels_are_whole_although_the_labels_of_a_block_are_shorter(stream, delay, tmp_path):
    labels = np.where(next(stream.blocks()).labels == "rare", "suspicious", "usual")
    renamed = RowByRow(ArrayStream(next(stream.blocks()).rows, labels))
    run(GaussianNB(), renamed, tmp_path, costs={"suspicious": {"usual": 20}}, delay=delay, limit=200)
    assert set(read_records(tmp_path).to_pydict()["prediction"]) == {None, "suspicious", "usual"}


def test_labels_of_another_type_than_those_of_the_stream_are_named():
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    summary = run(linear(), ArrayStream(X, y), costs={"1": {"0": 20}}).summary
    assert summary.cost_labels_unseen == ("1", "0")
    both = run(linear(), ArrayStream(X, y), costs={"1": {"0": 20}, 1: {0: 20}}).summary
    assert both.cost_labels_unseen == ()  # as of a file, in which all labels are text
