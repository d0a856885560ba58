"""Classes and columns that cannot be added because memory runs out: the model stays as it was."""

import pickle
from functools import partial
from itertools import count

import numpy as np
import pandas as pd
import pytest

from driftline import AMRC, baselines
from driftline.core.state import independent_copy
from driftline.ensemble.pending_rows import PendingRows
from helpers.other_thread import other_thread
from helpers.quick_models import KINDS, assert_same, baseline, paper, small_stream

ALLOCATIONS = ("append", "array", "concatenate", "empty", "full", "insert", "pad", "stack", "vstack", "zeros")
MODELS = KINDS | {"exact": lambda: paper(solver="exact", n_subgradients=4)}
MODELS |= {name: partial(baseline, name) for name in baselines.__all__}
SLOW = ("widened", "fourier", "exact")


def failing(allocate, n_left):
    """Return a function of NumPy that raises MemoryError when `n_left` more calls of such functions were made."""

    def fail_at_last(*arguments, **options):
        n_left[0] -= 1
        if n_left[0] == 0:
            raise MemoryError("no memory for an array")
        return allocate(*arguments, **options)

    return fail_at_last


def fail_at_every_allocation(model, grow, monkeypatch):
    """Let each of NumPy's allocations in `grow` fail in turn, and check that this never changes the model.

    Returns the number of failures; after them, the model has grown.
    """
    grow(pickle.loads(pickle.dumps(model)))  # compiles what is not compiled yet
    before = pickle.dumps(model)
    bound = getattr(model, "error_bound_", None)
    for n in count(1):
        n_left = [n]
        with monkeypatch.context() as patched:
            for name in ALLOCATIONS:
                patched.setattr(np, name, failing(getattr(np, name), n_left))
            try:
                grow(model)
            except MemoryError:
                pass
            else:
                return n - 1
        assert pickle.dumps(model) == before
        assert getattr(model, "error_bound_", None) == bound
    return None


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in MODELS])
def test_a_class_for_which_there_is_no_memory_changes_nothing(name, monkeypatch):
    X, y = small_stream(n_steps=40)
    model, twin = (MODELS[name]().partial_fit(X[:20], y[:20]) for _ in range(2))

    def learn_new_class(model):
        model.partial_fit(X[20:21], [7])

    assert fail_at_every_allocation(model, learn_new_class, monkeypatch) > 3
    learn_new_class(twin)
    for each in (model, twin):
        each.partial_fit(X[21:], y[21:])
    assert_same(model, twin)


@pytest.mark.parametrize("features", ["linear", pytest.param("fourier", marks=pytest.mark.slow)])
def test_a_class_of_a_row_that_waited_for_its_label_changes_nothing_without_memory(features, monkeypatch):
    X, y = small_stream(n_steps=40)
    model, twin = (KINDS[features]().partial_fit(X[:20], y[:20]).observe(X[20:25]) for _ in range(2))

    def learn_new_class(model):
        model.partial_fit(X[21:22], [7])

    assert fail_at_every_allocation(model, learn_new_class, monkeypatch) > 3
    learn_new_class(twin)
    for each in (model, twin):
        each.partial_fit(X[22:], y[22:])
    assert_same(model, twin)
    assert model.n_waiting_ == twin.n_waiting_ == 1


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_columns_for_which_there_is_no_memory_change_nothing(features, monkeypatch):
    X, y = small_stream(n_steps=40)
    table = pd.DataFrame(np.hstack([X, X]), columns=list("abcdef"))
    model, twin = (
        KINDS[features]().partial_fit(table.iloc[:20, :3], y[:20]).observe(table.iloc[20:25, :3]) for _ in range(2)
    )

    def add_columns(model):
        model.add_columns(["d", "e", "f"])

    assert fail_at_every_allocation(model, add_columns, monkeypatch) > 3
    add_columns(twin)
    for each in (model, twin):
        each.partial_fit(table.iloc[20:], y[20:])
    np.testing.assert_equal(model._learner.state(), twin._learner.state())  # rows that still wait have missing values


def test_a_copy_for_readers_that_cannot_be_made_does_not_disturb_learning(monkeypatch):
    X, y = small_stream()
    model, twin = (AMRC(features="linear").partial_fit(X, y) for _ in range(2))

    def out_of_memory(learner):
        raise MemoryError("no memory for a copy")

    with monkeypatch.context() as patched:
        patched.setattr(type(model._learner), "snapshot", out_of_memory)
        with other_thread(), pytest.raises(MemoryError):
            model.predict(X[:1])
        model.partial_fit(X[:1], [7])  # also tries to make the copy that a reader has asked for
        model.add_columns(1)
    twin.partial_fit(X[:1], [7]).add_columns(1)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert sorted(model.classes_) == [0, 1, 7]


def test_rows_that_cannot_be_kept_leave_the_model_as_it_was(monkeypatch):
    X, y = small_stream()
    model = AMRC(features="linear").partial_fit(X, y)
    before = pickle.dumps(model)

    def out_of_memory(pending, row, keys):
        raise MemoryError("no memory for a row")

    with monkeypatch.context() as patched:
        patched.setattr(PendingRows, "_insert", out_of_memory)
        with pytest.raises(MemoryError):
            model.observe(100.0 * X[:3])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", MODELS)
def test_a_copy_of_a_learner_and_the_original_learn_without_each_other(name):
    X, y = small_stream(n_steps=60)
    model, twin = (MODELS[name]().partial_fit(X[:30], y[:30]) for _ in range(2))
    copied = independent_copy(model._learner)
    model.partial_fit(X[30:], y[30:])
    twin._learner = copied
    twin.partial_fit(X[30:], y[30:])
    assert_same(model, twin)
