"""AMRC(label_memory=True): members that know the last labels."""

import copy
import pickle

import numpy as np
import pytest

from driftline import AMRC, CheckpointError, ConfigError
from driftline.core.schema import check_values
from driftline.evaluation import evaluate
from driftline.streams import ArrayStream
from helpers.quick_models import assert_same


def remembering(**changes):
    return AMRC(**{"features": "linear", "label_memory": True} | changes)


def chain(rng, n, stays, c=2):
    """Labels that repeat the one before with probability `stays`, and are else any other."""
    y = [0]
    for moves in rng.random(n - 1) >= stays:
        y.append((y[-1] + rng.integers(1, c)) % c if moves else y[-1])
    return np.array(y)


def instances(rng, y, shift=0.0):
    return rng.normal(size=(len(y), 3)) + shift * y[:, None]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = chain(rng, 400, 0.9, 3)
    return instances(rng, y, 0.5), y


# The floors -----------------------------------------------------------------------------------------------


def long_runs(rng, n):
    y = chain(rng, n, 0.97)
    return instances(rng, y, 0.3), y


def alternating(rng, n):
    y = np.arange(n) % 2
    return instances(rng, y), y


def cycle_of_three(rng, n):
    y = (np.arange(n) + (rng.random(n) < 0.1)) % 3
    return instances(rng, y), y


def rare_class(rng, n):
    y = (rng.random(n) < 0.02).astype(int)
    return instances(rng, y, 0.5), y


def changing_balance(rng, n):
    y = (rng.random(n) < np.where(np.arange(n) // 1000 % 2, 0.8, 0.2)).astype(int)
    return instances(rng, y), y


def unbalanced_coin(rng, n):
    y = (rng.random(n) < 0.45).astype(int)
    return instances(rng, y), y


def informative_instances(rng, n):
    y = (rng.random(n) < 0.45).astype(int)
    return instances(rng, y, 1.0), y


def runs_then_coin(rng, n):
    y = np.concatenate([chain(rng, n // 2, 0.95), rng.integers(0, 2, n - n // 2)])
    return instances(rng, y, 1.0), y


def pairs(rng, n):
    y = np.arange(n) // 2 % 2
    return instances(rng, y), y


STREAMS = [
    long_runs,
    alternating,
    cycle_of_three,
    rare_class,
    changing_balance,
    unbalanced_coin,
    informative_instances,
    runs_then_coin,
    pairs,
]


def errors_with_floors(stream, n=5000):
    X, y = stream(np.random.default_rng(STREAMS.index(stream)), n)
    summary = evaluate(remembering(), ArrayStream(X, y), progress=False).summary
    return X, y, summary


@pytest.mark.parametrize("stream", STREAMS)
def test_the_error_is_never_far_above_that_of_repeating_a_label_or_of_the_majority(stream):
    _, _, summary = errors_with_floors(stream)
    assert summary.error <= min(summary.last_label_error, summary.majority_so_far_error) + 0.005


def test_labels_in_runs_are_predicted_better_than_without_and_others_no_worse():
    X, y, summary = errors_with_floors(long_runs)
    without = AMRC(features="linear").prequential(X, y)
    assert summary.error < np.mean(without.predicted != y) - 0.03
    X, y, summary = errors_with_floors(informative_instances)
    without = AMRC(features="linear").prequential(X, y)
    assert summary.error <= np.mean(without.predicted != y) + 0.003


def test_instances_and_last_labels_together_are_better_than_either():
    rng = np.random.default_rng(3)
    y = chain(rng, 3000, 0.85)
    X = instances(rng, y, 1.2)
    summary = evaluate(remembering(), ArrayStream(X, y), progress=False).summary
    without = np.mean(AMRC(features="linear").prequential(X, y).predicted != y)
    assert summary.error < min(without, summary.last_label_error) - 0.03


# One model ------------------------------------------------------------------------------------------------


def test_rows_are_learned_in_blocks_as_one_by_one(rows):
    X, y = rows
    block, single = remembering(), remembering()
    predicted = block.prequential(X, y).probabilities[-300:]
    for t in range(len(y)):
        if t >= 100:
            assert np.array_equal(single.predict_proba(X[t : t + 1])[0], predicted[t - 100])
        single.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_same(block, single)


def test_a_batch_is_predicted_with_the_last_label_learned(rows):
    X, y = rows
    model = remembering().fit(X, y)
    batch = model.predict_proba(X[:50])
    assert np.array_equal(batch, np.concatenate([model.predict_proba(X[t : t + 1]) for t in range(50)]))
    assert np.allclose(batch.sum(axis=1), 1.0)


def test_the_members_are_listed_with_the_weights_that_are_used(rows):
    X, y = rows
    model = remembering().fit(X, y)
    table, n = model.members_, len(AMRC(features="linear").fit(X, y).members_)
    assert table["space"][n:].tolist() == ["labels"] * 3
    assert table["gain"][n:].tolist() == [0.005, 1.0, 0.0]
    assert np.isclose(table["weight"].sum(), 1.0)
    assert sorted(table["weight"][n:]) == [0.0, 0.0, 1.0]  # labels in runs
    assert np.isclose(model.model_bound_, table["weight"] @ table["bound"])


def test_saved_models_continue_bit_for_bit(rows, tmp_path):
    X, y = rows
    model = remembering().partial_fit(X[:200], y[:200]).observe(X[200:230], ids=np.arange(30))
    model.partial_fit(X[200:210], y[200:210], ids=np.arange(10))
    model.save(tmp_path / "model")
    twins = [AMRC.load(tmp_path / "model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for each in (model, *twins):
        each.partial_fit(X[210:230], y[210:230], ids=np.arange(10, 30)).partial_fit(X[230:], y[230:])
    for twin in twins:
        assert_same(twin, model)


def test_readers_see_the_last_label_of_their_copy(rows):
    X, y = rows
    model = remembering().fit(X[:300], y[:300])
    copied, before = model._learner.snapshot(), model.predict_proba(X[:20])
    model.partial_fit(X[300:], y[300:])
    assert np.array_equal(copied.probabilities(X[:20]), before)
    assert not np.array_equal(model.predict_proba(X[:20]), before)


def test_classes_that_join_are_counted_like_the_others(rows):
    X, y = rows
    joining, announced = remembering(), remembering()
    joining.partial_fit(X, y)
    announced.partial_fit(X, y, classes=[0, 1, 2])
    joined, known = (model._learner.labels.state() for model in (joining, announced))
    order = [announced.classes_.tolist().index(label) for label in joining.classes_]
    assert joined["counts"].tolist() == known["counts"][order].tolist()
    assert np.allclose(joined["transitions"], known["transitions"][:, order][:, :, order])


def test_a_class_that_joins_with_a_row_that_waited_is_counted_after_the_label_of_then(rows):
    X, _ = rows
    model = remembering().partial_fit(X[:4], [0, 1, 0, 1]).observe(X[4:5]).partial_fit(X[5:6], [0])
    model.partial_fit(X[4:5], [2])
    transitions = model._learner.labels.state()["transitions"][0]
    assert transitions[1, 2] == 1.0
    assert model._learner.labels.state()["last"].tolist() == [2, 0]


def test_rows_observed_before_any_class_are_counted_when_their_labels_come(rows):
    X, _ = rows
    model = remembering().observe(X[:3]).partial_fit(X[:3], ["b", "a", "a"])
    labels = model._learner.labels.state()
    assert labels["counts"].tolist() == [1, 2]
    assert labels["last"].tolist() == [1, 1]
    assert not labels["transitions"].any()  # no label was known when they were predicted


def test_with_late_labels_the_last_label_is_the_last_one_learned():
    """Labels in a cycle of 4, each known 3 rows later: the last label known is that of the same place in the cycle."""
    rng = np.random.default_rng(0)
    y = np.arange(1500) % 4
    stream = ArrayStream(rng.normal(size=(1500, 2)), y)
    late = evaluate(remembering(), stream, delay=3, progress=False)
    assert late.summary.last_label_error < 0.01
    assert late.summary.error < 0.05
    assert late.summary.bounds_held
    assert late.model.n_waiting_ == 3


def test_bounds_hold_of_the_rule_that_is_used():
    X, y = runs_then_coin(np.random.default_rng(5), 4000)
    model = remembering()
    predictions = model.prequential(X, y)
    losses = 1.0 - predictions.label_probabilities
    assert losses.sum() <= model.mistake_bound(delta=0.05)
    interval = model.error_interval()
    assert interval.low <= np.mean(predictions.predicted != y) <= interval.high
    windows = losses[: 4000 // 100 * 100].reshape(-1, 100).sum(axis=1)
    bounds = predictions.bounds[: 4000 // 100 * 100].reshape(-1, 100).sum(axis=1)
    assert np.mean(windows > bounds) < 0.2


def test_a_file_with_impossible_counts_is_refused(rows):
    model = remembering().fit(*rows)
    labels = model._learner.labels
    for name, value in {"repeats": [5.0, 2.0], "chosen": [4], "last": [-2, 0], "behind": [0, 0, 0, 41]}.items():
        arrays = labels.state()
        arrays[name] = np.array(value)
        with pytest.raises(CheckpointError, match=name):
            check_values(arrays, labels.schema())
    check_values(labels.state(), labels.schema())


def test_the_estimated_size_includes_the_counts():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 60
    model = remembering().fit(rng.normal(size=(300, 1)), y)
    with_labels = model._n_bytes(model._parameters, 1, 60)
    without = model._n_bytes(model._parameters | {"label_memory": False}, 1, 60)
    sizes = {name: array.nbytes for name, array in model._learner.labels.state().items()}
    assert 0.9 < (with_labels - without) / sum(sizes.values()) < 1.1


def test_label_memory_must_be_true_or_false(rows):
    with pytest.raises(ConfigError, match="label_memory"):
        remembering(label_memory="yes").fit(*rows)


def test_without_it_nothing_of_it_is_saved(rows):
    model = AMRC(features="linear").partial_fit(*rows).observe(rows[0][:2])
    assert not [name for name in model._learner.state() if "label" in name.rpartition("/")[0]]
    assert "pending/label_rules" not in model._learner.state()
