"""Rows that are observed when they are predicted, and labelled later."""

import copy
import pickle
import signal
from itertools import pairwise

import numpy as np
import pytest

from driftline import AMRC, DataError
from driftline.core.calibration import CalibratedBound
from driftline.core.features import LinearMap
from driftline.evaluation import evaluate, read_records
from driftline.kernels.mixing import FIXED_SHARE, LEARNING_RATE
from driftline.streams import ArrayStream, RotatingGaussians
from helpers.quick_models import assert_same

DELAY = 15


@pytest.fixture(scope="module")
def rows():
    return RotatingGaussians(angular_rate=0.01).sample(300, seed=0)


def delayed(X, y, *, observes):
    model = AMRC(features="linear").partial_fit(X[:50], y[:50], classes=[0, 1])
    for t in range(50, len(X)):
        if observes:
            model.observe(X[t : t + 1])
        if t >= 50 + DELAY:
            model.partial_fit(X[t - DELAY : t - DELAY + 1], y[t - DELAY : t - DELAY + 1])
    return model


def reweighed(weights, said, y):
    """The formula of `mix_and_reweigh`, for one row that came late."""
    weights = weights * np.exp(LEARNING_RATE * said[:, y])
    return (1 - FIXED_SHARE) * weights / weights.sum() + FIXED_SHARE / len(weights)


def test_weights_go_by_what_was_said_then_and_by_what_is_said_now(rows):
    X, y = rows
    model = AMRC(features="linear").partial_fit(X[:50], y[:50], classes=[0, 1])
    learner = model._learner
    then = now = learner.weights.copy()
    trust, waiting = np.array([0.5, 0.5]), []
    for t in range(50, 150):
        x, z = X[t : t + 1], learner._columns.prepare(X[t : t + 1])
        said = learner._member_probabilities(z, z)[0]
        waiting.append((z, said, np.array([then @ said, now @ said])))
        assert np.allclose(model.predict_proba(x)[0], trust @ waiting[-1][2], atol=1e-12)
        model.observe(x)
        if len(waiting) > DELAY:
            z, said, ways = waiting.pop(0)
            late = t - DELAY
            then, now = (
                reweighed(then, said, y[late]),
                reweighed(now, learner._member_probabilities(z, z)[0], y[late]),
            )
            trust = reweighed(trust, ways, y[late])
            model.partial_fit(X[late : late + 1], y[late : late + 1])
            assert np.allclose(model.members_["weight"], trust @ np.array([then, now]), rtol=1e-9)
    assert np.abs(then - now).max() > 0.01
    assert abs(trust[0] - 0.5) > 0.001


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_where_the_best_member_changes_before_labels_come_weights_do_not_go_against_the_stream(seed):
    """As they did when they went by what was said then alone: 45 % of the answers were wrong, and more."""
    stream = RotatingGaussians(angular_rate=0.01).stream(2000, seed=seed)
    summary = evaluate(AMRC(features="linear"), stream, delay=100, progress=False).summary
    assert summary.expected_error < 0.4


def test_the_bound_goes_by_what_was_said_when_rows_were_observed(rows):
    X, y = rows
    model = AMRC(features="linear").partial_fit(X[:50], y[:50], classes=[0, 1])
    said = model.predict_proba(X[50:51])
    model.observe(X[50:51])
    model.partial_fit(X[51:100], y[51:100])
    twin = copy.deepcopy(model._learner.calibration)
    model.partial_fit(X[50:51], y[50:51])
    twin.update(1.0 - said[0, y[50:51]], 2)
    assert model.calibrated_bound_ == twin.bound(2)


def test_observing_the_next_row_and_learning_it_at_once_is_a_step_like_any_other(rows):
    X, y = rows
    model, twin = (AMRC(features="linear").partial_fit(X[:50], y[:50], classes=[0, 1]) for _ in range(2))
    for t in range(50, 80):
        model.observe(X[t : t + 1]).partial_fit(X[t : t + 1], y[t : t + 1])
        twin.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_same(model, twin)


def test_copies_have_the_rows_that_wait_once(rows):
    X, y = rows
    model = delayed(X[:120], y[:120], observes=True)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.n_waiting_ == model.n_waiting_ == DELAY
        assert_same(twin, model)


def test_zeros_and_missing_values_are_found_again_whatever_their_bits():
    X = np.array([[0.0, np.nan], [1.0, 2.0]])
    model = AMRC(features="linear").partial_fit(X, [0, 1])
    model.observe([[-0.0, np.nan]]).partial_fit([[0.0, -np.nan]], [0])
    assert model.n_waiting_ == 0


@pytest.mark.parametrize("classes", [[0, 1], None])
def test_before_labels_of_delayed_predictions_come_nothing_better_than_guessing_is_claimed(classes, tmp_path):
    """A turning stream whose labels are half a turn late: every prediction is of the opposite."""
    rng = np.random.default_rng(0)
    X, angles = rng.normal(size=(900, 2)), np.arange(900) * np.pi / 300
    y = (np.cos(angles) * X[:, 0] + np.sin(angles) * X[:, 1] > 0).astype(int)
    stream, options = ArrayStream(X, y), {"classes": classes, "checkpoint": tmp_path, "progress": False}
    evaluate(AMRC(features="linear"), stream, delay=300, **options)
    bounds = read_records(tmp_path)["bound"].to_numpy()
    assert bounds[320:600].min() >= 0.5  # by then both classes are known


def test_in_an_evaluation_labels_go_to_the_prediction_of_their_row_even_if_rows_are_equal(rows, tmp_path):
    X, y = rows
    delay = np.random.default_rng(0).integers(0, 60, 300)
    stream = ArrayStream(np.round(X / 2), y)
    run = evaluate(AMRC(features="linear"), stream, delay=delay, classes=[0, 1], checkpoint=tmp_path, progress=False)
    losses = 1.0 - read_records(tmp_path)["probability"].to_numpy()
    arrival = np.arange(300) + delay
    arrived = [t for t in np.argsort(arrival, kind="stable") if arrival[t] < 300]
    expected = CalibratedBound(0.95)
    expected.update(losses[arrived], 2)
    assert run.model.calibrated_bound_ == expected.bound(2)


def test_waiting_rows_are_saved_and_loaded(rows, tmp_path):
    X, y = rows
    model = delayed(X[:120], y[:120], observes=True)
    model.save(tmp_path / "model")
    loaded = AMRC.load(tmp_path / "model")
    assert_same(loaded, model)
    for each in (loaded, model):
        each.partial_fit(X[105:120], y[105:120])
    assert_same(loaded, model)
    assert len(loaded._learner.pending) == 0


def test_a_class_that_joins_while_rows_wait_was_expected_by_nobody(rows):
    X, y = rows
    model = AMRC(features="linear").partial_fit(X[:50], y[:50])
    model.observe(X[50:60])
    model.partial_fit(X[60:61], [7])
    waiting = model._learner.pending.state()
    for name in ("member_probabilities", "scheme_probabilities", "probabilities"):
        assert waiting[name].shape[-1] == 3
        assert not waiting[name][..., 2].any()
    model.partial_fit(X[50:60], np.full(10, 7))
    assert model.classes_.tolist()[-1] == 7
    assert model.calibrated_bound_ > 0.3


@pytest.mark.parametrize("delay", [40, pytest.param(10, marks=pytest.mark.slow)])
def test_a_bound_on_mistakes_is_claimed_with_late_labels_and_holds(delay):
    stream = RotatingGaussians(angular_rate=0.02).stream(2500, seed=0)
    summary = evaluate(AMRC(features="linear"), stream, delay=delay, progress=False).summary
    assert summary.mistake_bound is not None
    assert summary.expected_mistakes < summary.mistake_bound


@pytest.mark.parametrize("cuts", [(100,), (7, 100), (20, 100), (1, 19, 20, 21, 60, 100)])
def test_rows_count_again_from_the_last_that_waited_on_however_they_are_grouped(rows, cuts):
    X, y = rows
    model, twin = (AMRC(features="linear").partial_fit(X[:100], y[:100]).observe(X[100:120]) for _ in range(2))
    said = [model.prequential(X[a:b], y[a:b]) for a, b in pairwise(100 + np.array([0, *cuts]))]
    singly = [twin.prequential(X[t : t + 1], y[t : t + 1]) for t in range(100, 200)]
    assert_same(model, twin)
    for name in ("bounds", "label_probabilities"):
        one, other = (np.concatenate([getattr(answers, name) for answers in each]) for each in (said, singly))
        assert np.array_equal(one, other)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_comes_after_all_rows_wait(rows, monkeypatch):
    X, y = rows
    model, twin = (AMRC(features="linear").partial_fit(X[:50], y[:50]) for _ in range(2))
    predict = type(model._learner)._member_probabilities
    interrupted = lambda *given: signal.raise_signal(signal.SIGINT) or predict(*given)  # noqa: E731
    monkeypatch.setattr(type(model._learner), "_member_probabilities", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.observe(X[50:60])
    monkeypatch.undo()
    assert_same(model, twin.observe(X[50:60]))


def test_a_row_that_is_refused_waits_on_in_its_place():
    class Fragile(LinearMap):
        refuses = False

        def transform(self, Z):
            return np.full_like(Z, np.nan) if Fragile.refuses else Z

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    model = AMRC(features=Fragile()).partial_fit(X, y).observe(X[:1])
    model.partial_fit(X[5:6], y[5:6]).observe(X[:2])
    before = copy.deepcopy(model)
    Fragile.refuses = True
    with pytest.raises(DataError, match="not a number"):
        model.partial_fit(X[:1], y[:1])
    assert_same(model, before)


def test_a_refused_first_observation_leaves_the_model_unfitted():
    class Refusing(LinearMap):
        def transform(self, Z):
            return np.full_like(Z, np.nan) if Z.any() else Z

    model = AMRC(features=Refusing(), scaling="none")
    with pytest.raises(DataError, match="not a number"):
        model.observe([[1.0, 2.0]], classes=["a", "b"])
    with pytest.raises(DataError, match="not a number"):
        model.partial_fit([[1.0, 2.0]], ["a"])
    assert not hasattr(model, "n_features_in_")
    assert model.partial_fit([[0.0]], ["c"]).n_features_in_ == 1
