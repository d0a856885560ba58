"""Members of negligible weight learn at some labels only, which changes the error little."""

import copy
import dataclasses

import numpy as np
import pytest

from driftline import AMRC
from driftline.core.features import LinearFourierMap
from driftline.ensemble import estimator
from driftline.ensemble import space as space_module
from driftline.ensemble.forest import Forest
from driftline.ensemble.learner import LABELS_PER_REVIEW
from driftline.ensemble.plan import ForestPlan, MemberPlan, SpacePlan, default_plan
from driftline.ensemble.space import Space
from driftline.ensemble.tree_space import TreeSpace
from helpers.quick_models import assert_same
from helpers.spaces import learn_in_space, learn_in_tree_space
from helpers.tree_streams import rule_stream

QUICK = {"n_components": 6}


def new_space(*members):
    features = LinearFourierMap(scale=0.0, n_components=0, seed=[0])
    features.start(2)
    space = Space(SpacePlan("linear", members), features, 3, [0])
    space.add_classes(2)
    return space


def reviewed(space, *weights):
    space.review(np.array(weights))
    return space._members.interval.tolist()


def intervals(model):
    return np.concatenate([space._members.interval for space in model._learner.spaces])


@pytest.fixture
def never_resting(monkeypatch):
    """Let no member of a new model rest."""

    def plan(**choices):
        return dataclasses.replace(default_plan(**choices), rests_members=False)

    return lambda: monkeypatch.setattr(estimator, "default_plan", plan)


@pytest.fixture
def resting_early(monkeypatch):
    """Let members rest that have less than an average weight."""
    monkeypatch.setattr(space_module, "NEGLIGIBLE_WEIGHT", 0.08)


def test_a_member_of_negligible_weight_rests_and_wakes_at_once():
    space = new_space(MemberPlan(0.2, 0.3), MemberPlan(0.01, 0.3))
    assert space._members.interval.tolist() == [1, 1]
    assert [reviewed(space, 0.995, 0.005) for _ in range(2)] == [[1, 2], [1, 2]]
    assert reviewed(space, 0.989, 0.011) == [1, 1]
    assert reviewed(space, 0.99, 0.01) == [1, 2]  # a weight at the limit is negligible
    assert reviewed(space, 0.005, 0.995) == [2, 1]
    assert reviewed(space, 0.005, 0.005) == [2, 2]


def test_the_partner_of_a_growing_member_rests_only_with_it():
    space = new_space(MemberPlan(0.2, 0.3), MemberPlan(0.0, 0.3, partner=0), MemberPlan(0.05, 0.3))
    assert reviewed(space, 0.001, 0.5, 0.001) == [1, 1, 2]
    assert reviewed(space, 0.001, 0.001, 0.5) == [2, 2, 1]
    assert reviewed(space, 0.5, 0.001, 0.001) == [1, 2, 2]


def test_a_resting_member_learns_at_every_second_label_only():
    """Its iterates stay as they are in between, and its sums do not."""
    space = new_space(MemberPlan(0.2, 0.3), MemberPlan(0.05, 0.3))
    reviewed(space, 1.0, 0.0)
    rng, n_changes = np.random.default_rng(0), [0, 0]
    for t in range(1, 41):
        before = space._members.average.copy(), space._members.sums.copy()
        Psi = np.append(0.5, rng.normal(size=2)).astype(np.float32)[None]
        learn_in_space(space, Psi, rng.integers(0, 2, 1), np.ones(1))
        for m in (0, 1):
            has_changed = not np.array_equal(space._members.average[m], before[0][m])
            n_changes[m] += has_changed
            assert not (has_changed and m == 1 and t % 2)
            assert not np.array_equal(space._members.sums[m], before[1][m])
    assert n_changes[1] <= 20 < n_changes[0]


def test_members_are_reviewed_after_every_64_labels_by_their_weights():
    X, y = rule_stream(700)
    model = AMRC(**QUICK).partial_fit(X[:1], y[:1], classes=[0, 1])
    seen = set()
    for t in range(1, 700):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        if (t + 1) % LABELS_PER_REVIEW == 0:
            is_needed, start = model._learner.weights > 0.01, 0
            for space in model._learner.spaces:
                for m, member in enumerate(space.plan.members):
                    if member.partner >= 0 and is_needed[start + m]:
                        is_needed[start + member.partner] = True
                start += space.n_members
            expected = np.where(is_needed, 1, 2)
            seen |= set(expected.tolist())
            assert np.array_equal(intervals(model), expected), t
    assert seen == {1, 2}


@pytest.mark.parametrize("label_memory", [False, True])
@pytest.mark.parametrize("features", ["auto", "linear"])
@pytest.mark.usefixtures("resting_early")
def test_rows_learned_one_by_one_and_in_blocks_agree_across_reviews(features, label_memory):
    X, y = rule_stream(330)
    y = np.where((np.arange(330) > 100) & (X[:, 1] > 0.8), 2, y)  # a class that joins
    whole, in_parts, singly = (AMRC(features=features, label_memory=label_memory, **QUICK) for _ in range(3))
    expected = whole.prequential(X, y).bounds
    parts = np.split(np.arange(330), [3, 63, 64, 65, 190, 300])
    assert np.array_equal(np.concatenate([in_parts.prequential(X[k], y[k]).bounds for k in parts]), expected)
    for t in range(330):
        singly.partial_fit(X[t : t + 1], y[t : t + 1])
    assert intervals(whole).max() > 1
    assert_same(whole, in_parts)
    assert_same(whole, singly)


@pytest.mark.usefixtures("resting_early")
def test_rows_whose_labels_come_late_are_reviewed_too():
    X, y = rule_stream(400)
    whole, singly = (AMRC(features="linear").partial_fit(X[:10], y[:10]).observe(X[10:]) for _ in range(2))
    whole.partial_fit(X[10:], y[10:])
    for t in range(10, 400):
        singly.partial_fit(X[t : t + 1], y[t : t + 1])
    assert intervals(whole).max() > 1
    assert_same(whole, singly)


@pytest.mark.parametrize("n", [100, 191, 192, 193])
def test_a_model_saved_between_reviews_goes_on(tmp_path, n):
    X, y = rule_stream(400)
    model = AMRC(**QUICK).partial_fit(X[:n], y[:n])
    assert intervals(model).max() > 1
    model.save(tmp_path / "model")
    others = AMRC.load(tmp_path / "model"), copy.deepcopy(model)
    model.partial_fit(X[n:], y[n:])
    for other in others:
        assert_same(model, other.partial_fit(X[n:], y[n:]))


def test_trees_are_grown_less_often_while_all_their_members_rest():
    X, y = rule_stream(400)
    plan = SpacePlan("trees", (MemberPlan(0.01, 0.1), MemberPlan(0.001, 0.1)), forest=ForestPlan())
    n_grown = []
    for weights in ([0.5, 0.5], [0.5, 0.0], [0.0, 0.0]):
        space = TreeSpace(plan, Forest(ForestPlan(), 6, [0]), [0])
        space.add_classes(2)
        reviewed(space, *weights)
        learn_in_tree_space(space, X, y)
        n_grown.append(int(space.state()["forest/long/n_grown"][0]))
    assert n_grown[0] == n_grown[1] > 1.2 * n_grown[2] > 0


def test_a_model_lets_its_trees_grow_at_the_pace_of_their_members():
    X, y = rule_stream(180)
    n_grown = []
    for interval in (1, 2):
        model = AMRC(**QUICK).partial_fit(X[:128], y[:128])  # members are reviewed after 128 and 192 rows
        model._learner.spaces[-1]._members.interval[:] = interval
        n_grown.append(int(model.partial_fit(X[128:], y[128:])._learner.spaces[-1].state()["forest/long/n_grown"][0]))
    assert n_grown[0] > n_grown[1] > 0


def test_without_rest_all_members_learn_at_every_label(never_resting):
    never_resting()
    X, y = rule_stream(400)
    assert intervals(AMRC(**QUICK).partial_fit(X, y)).tolist() == [1] * 15


def drifting(seed, n=1500):
    """Two Gaussian classes whose means turn slowly, with a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    y, angle = rng.integers(0, 2, n), np.linspace(0, 3 * np.pi, n)
    means = np.column_stack([np.cos(angle), np.sin(angle)]) * (2 * y - 1)[:, None]
    return means + 0.7 * rng.normal(size=(n, 2)), np.where(rng.random(n) < 0.1, 1 - y, y)


def switching(seed, n=1500):
    """Linear concepts in eight columns, a new one every 300 rows."""
    rng = np.random.default_rng(seed)
    X, concepts = rng.uniform(-1, 1, size=(n, 8)), rng.normal(size=(n // 300 + 1, 8))
    return X, (np.sum(X * concepts[np.arange(n) // 300], axis=1) > 0).astype(int)


def clusters(seed, n=1500):
    """Four classes whose means swing to and fro, and columns in other units."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    means = np.sin(rng.uniform(0, 6, size=(4, 5)) + np.arange(n)[:, None, None] / 40)
    return (means[np.arange(n), y] + 0.6 * rng.normal(size=(n, 5))) * [1, 10, 1e-3, 1, 1e4], y


@pytest.mark.parametrize("stream", [drifting, switching, clusters])
def test_resting_changes_the_error_by_a_point_at_most(stream, never_resting):
    X, y = stream(0)
    resting = AMRC(features="linear")
    error = np.mean(resting.prequential(X, y).predicted != y)
    assert intervals(resting).max() > 1
    never_resting()
    assert abs(error - np.mean(AMRC(features="linear").prequential(X, y).predicted != y)) <= 0.01
