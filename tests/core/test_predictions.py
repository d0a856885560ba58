"""The predictions that estimators return, in columns."""

import numpy as np
import pytest
from hypothesis import given, settings

from driftline.core.bounds import MistakeBound
from helpers.quick_models import assert_same, small_stream
from helpers.strategies import seeds


def test_prequential_answers_are_the_steps_in_columns(make):
    X, y = small_stream(n_classes=3)
    labels = np.array(["a", "b", "c"])[y]
    model, twin = make(), make()
    answers, steps = model.prequential(X, labels), list(twin.steps(X, labels))
    assert_same(model, twin)
    assert answers.predicted[0] is None  # no class was known
    assert (answers.predicted[1:] == twin.classes_[[step.prediction for step in steps[1:]]]).all()
    assert np.array_equal(1.0 - answers.label_probabilities, [step.expected_mistake for step in steps])
    assert np.array_equal(answers.bounds, [step.bound for step in steps])
    assert answers.statuses.tolist() == [step.status for step in steps]
    assert answers.labels.tolist() == labels.tolist()
    for step, row in zip(steps, answers.probabilities, strict=True):
        known = step.probabilities.size
        assert row[:known].tolist() == step.probabilities.tolist()
        assert not row[known:].any()  # classes that joined later
    assert (answers.predict_seconds >= 0).all()
    assert (answers.learn_seconds > 0).all()


def test_charges_add_up_to_the_bound_on_accumulated_mistakes(make):
    X, y = small_stream(n_classes=3)
    model = make()
    charges = model.prequential(X, y).total_charges
    ledger = MistakeBound(n_steps=len(X), total_bound=charges.sum())
    assert ledger.mistakes(0.05) == pytest.approx(model.mistake_bound(0.05), rel=1e-12)


@settings(max_examples=20)
@given(seeds)
def test_an_assessment_foretells_the_next_step_and_changes_nothing(make, seed):
    X, y = small_stream(seed, n_steps=30)
    model, twin = (make().partial_fit(X[:20], y[:20]) for _ in range(2))
    foreseen = model.assess(X[20:], y[20:])
    assert_same(model, twin)
    came = model.prequential(X[20:21], y[20:21])
    for name in ("predicted", "label_probabilities", "bounds", "statuses", "charges"):
        assert getattr(foreseen, name)[0] == getattr(came, name)[0]


def test_the_randomised_rule_answers_as_predict_does(make):
    X, y = small_stream(n_steps=40)
    model = make(deterministic=False)
    first = model.prequential(X[:20], y[:20])
    assert first.predicted[0] is None
    twin = make(deterministic=False).partial_fit(X[:20], y[:20])
    expected = []
    for t in range(20, 40):
        expected.append(twin.predict(X[t : t + 1])[0])
        assert twin.assess(X[t : t + 1], y[t : t + 1]).predicted[0] == expected[-1]
        twin.partial_fit(X[t : t + 1], y[t : t + 1])
    assert model.prequential(X[20:], y[20:]).predicted.tolist() == expected


def test_a_label_that_was_never_seen_is_assessed_as_a_certain_mistake(make):
    X, y = small_stream()
    answers = make().fit(X, y).assess(X[:1], [7])
    assert answers.label_probabilities[0] == 0.0
    assert answers.total_charges[0] >= 1.0


def test_what_has_learned_nothing_answers_as_at_its_first_step(make):
    X, y = small_stream()
    foreseen, came = make().assess(X[:1], y[:1]), make().prequential(X[:1], y[:1])
    for name in ("predicted", "label_probabilities", "bounds", "statuses", "charges"):
        assert getattr(foreseen, name).tolist() == getattr(came, name).tolist()
