"""The state of a stream is that of models which are told the same, and what was said of rows is what is counted."""

import numpy as np
import pytest

from driftline.serve.operations import Ask, Expire, Label, Learn
from driftline.serve.problems import Problem
from driftline.serve.stream_state import StreamState, new_model
from helpers.quick_models import assert_same

LINEAR = {"features": "linear"}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, "yes", "no").tolist()


def ids_of(rows):
    return tuple(map(str, rows))


def test_a_stream_predicts_and_learns_as_a_model_that_is_told_the_same(rows):
    X, labels = rows
    state, model = StreamState(LINEAR), new_model(LINEAR)
    model.observe(X[:2], ids=ids_of(range(2)))
    state.apply(Ask(0.0, ids_of(range(2)), X[:2]))
    for t in range(2, 100):
        (row,) = state.apply(Ask(float(t), (str(t),), X[t : t + 1]))
        late = t - 2
        state.apply(Label(float(t), (str(late),), (labels[late],)))
        if t > 2:
            assert row.answer.label == model.predict(X[t : t + 1])[0]
            assert row.answer.is_answered != model.decide(X[t : t + 1]).mask[0]
            assert row.answer.labels == tuple(model.classes_[model.predict_set(X[t : t + 1])[0]])
        model.observe(X[t : t + 1], ids=[str(t)])
        model.partial_fit(X[late : late + 1], labels[late : late + 1], ids=[str(late)])
    predicted = model.prequential(X[100:150], labels[100:150]).predicted.tolist()
    said = state.apply(Learn(200.0, ids_of(range(100, 150)), X[100:150], tuple(labels[100:150])))
    assert [row.answer.label for row in said] == predicted
    assert_same(state.model, model)
    assert set(state.open_rows) == {"98", "99"}


def test_what_was_said_of_rows_is_what_is_counted(rows):
    X, labels = rows
    state = StreamState(LINEAR)
    said = []
    for t in range(200):
        said += state.apply(Ask(0.0, (str(t),), X[t : t + 1]))
        state.apply(Label(0.0, (str(t),), (labels[t],)))
    given = [(row.answer, label) for row, label in zip(said, labels[:200], strict=True) if row.answer.label is not None]
    total, answered = state.figures.total, [(answer, label) for answer, label in given if answer.is_answered]
    assert (
        total.n_wrong == sum(answer.label != label for answer, label in given) == state.model.error_interval().n_wrong
    )
    assert total.n_answered == len(answered) == state.model.answered_error().n_rows
    wrong_answers = sum(answer.label != label for answer, label in answered)
    assert total.n_wrong_answers == wrong_answers == state.model.answered_error().n_wrong
    assert total.n_covered == sum(label in answer.labels for answer, label in given)


def test_rows_that_expire_change_nothing_but_the_scale_of_columns(rows):
    X, labels = rows
    state, twin = (StreamState(LINEAR | {"scaling": "none"}) for _ in range(2))
    for each in (state, twin):
        each.apply(Learn(0.0, ids_of(range(50)), X[:50], tuple(labels[:50])))
    state.apply(Ask(1.0, ("lost",), X[50:51]))
    state.apply(Expire(2.0, ("lost",)))
    assert state.open_rows == {}
    assert state.model.n_expired_ == 1
    assert np.array_equal(state.model.predict_proba(X), twin.model.predict_proba(X))


def test_a_shadow_learns_the_same_rows_and_is_counted_beside(rows):
    X, labels = rows
    state = StreamState(LINEAR, shadow_parameters=LINEAR | {"order": 0})
    for t in range(100):
        state.apply(Ask(0.0, (str(t),), X[t : t + 1]))
        state.apply(Label(0.0, (str(t),), (labels[t],)))
    state.apply(Learn(0.0, ids_of(range(100, 200)), X[100:200], tuple(labels[100:200])))
    assert state.shadow.n_steps_ == 200
    beside = state.beside_shadow.total
    assert (beside.n_rows, beside.n_wrong) == (199, state.figures.total.n_wrong)
    model, shadow = state.model, state.shadow
    state.promote_shadow()
    assert (state.model, state.shadow) == (shadow, model)
    assert state.parameters == LINEAR | {"order": 0}
    assert state.beside_shadow.total.n_rows == 0
    state.promote_shadow()
    assert (state.model, state.shadow) == (model, shadow)
    state.drop_shadow()
    with pytest.raises(Problem, match="no shadow"):
        state.promote_shadow()


@pytest.mark.parametrize("label", [1.5, None, 2**63, "x" * 300, "a\0b", 7])
def test_labels_that_cannot_be_learned_are_refused(rows, label):
    X, labels = rows
    state = StreamState(LINEAR)
    state.apply(Learn(0.0, ids_of(range(20)), X[:20], tuple(labels[:20])))
    with pytest.raises(Problem, match="label 1"):
        state.check_labels(["yes", label], 10)


def test_a_model_that_learned_elsewhere_waits_for_the_rows_of_the_stream(rows):
    X, labels = rows
    state = StreamState(LINEAR)
    state.apply(Learn(0.0, ids_of(range(20)), X[:20], tuple(labels[:20])))
    state.apply(Ask(0.0, ("a", "b"), X[20:22]))
    other = new_model(LINEAR | {"order": 0}).partial_fit(X[100:200], labels[100:200]).observe(X[:1], ids=["elsewhere"])
    state.replace_model(other)
    assert state.model.is_waiting(["a", "b", "elsewhere"]).tolist() == [True, True, False]
    state.apply(Label(0.0, ("b",), (labels[21],)))
    assert state.model.n_steps_ == 101
    assert new_model(state.parameters).order == 0
    with pytest.raises(Problem, match="has labels such as"):
        state.replace_model(new_model(LINEAR).partial_fit(X[:4], [0, 1, 0, 1]))


def test_labels_that_are_no_classes_are_refused(rows):
    X, labels = rows
    state = StreamState(LINEAR)
    state.apply(Learn(0.0, ids_of(range(20)), X[:20], tuple(labels[:20])))
    state.check_labels([f"label {t}" for t in range(8)], 10)
    with pytest.raises(Problem, match="would be 11 different labels"):
        state.check_labels([f"label {t}" for t in range(9)], 10)
