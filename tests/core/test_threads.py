"""Threads that share a model: some predict while one learns, and those that learn wait for one another."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from driftline import AMRC
from driftline.core.state import independent_copy
from helpers.other_thread import other_thread
from helpers.quick_models import assert_same, small_stream

SCRIPT = Path(__file__).parents[1] / "helpers" / "predict_in_threads.py"
PATIENCE_SECONDS = 60


@pytest.mark.parametrize("n_rounds", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_predictions_in_threads_are_those_of_the_model_before_or_after_a_row(n_rounds):
    """In another process, because mistakes of this kind can end the interpreter."""
    command = [sys.executable, "-X", "faulthandler", SCRIPT, str(n_rounds)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 100 * n_rounds


class PausedLearning:
    """Makes a thread wait in the middle of a batch, with some of its parts learned, until `resume` is set."""

    def __init__(self, monkeypatch, model):
        self.is_paused, self.resume = threading.Event(), threading.Event()
        learner = type(model._learner)
        learn_rows = learner._learn_rows

        def paused(*arguments):
            self.is_paused.set()
            assert self.resume.wait(PATIENCE_SECONDS)
            return learn_rows(*arguments)

        monkeypatch.setattr(learner, "_learn_rows", paused)


def teach_in_thread(model, X, y):
    thread = threading.Thread(target=model.partial_fit, args=(X, y))
    thread.start()
    return thread


@pytest.mark.parametrize("labels", [[0, 1], [7]], ids=["known classes", "a new class"])
def test_reading_does_not_wait_for_the_end_of_a_batch_if_there_is_a_copy(monkeypatch, labels):
    X, y = small_stream()
    model = AMRC(features="linear").partial_fit(X, y)

    def results():
        table = model.drift(), model.members_, model.assess(X, y).probabilities
        bounds = model.error_bound_, model.rate_bound_, model.model_bound_, model.mistake_bound(), model.n_void_
        return model.predict(X), model.predict_proba(X), *table, *bounds, model.classes_, model.n_steps_

    with other_thread():
        before = results()
    paused = PausedLearning(monkeypatch, model)
    thread = teach_in_thread(model, X[: len(labels)], labels)
    assert paused.is_paused.wait(PATIENCE_SECONDS)
    np.testing.assert_equal(results(), before)
    paused.resume.set()
    thread.join()
    assert model.n_steps_ == len(y) + len(labels)
    assert model.predict_proba(X).shape[1] == len(model.classes_) == len({*y, *labels})


def test_a_program_with_one_thread_makes_no_copies(monkeypatch):
    X, y = small_stream()
    model = AMRC(features="linear").partial_fit(X, y)
    expected = model.predict_proba(X)
    with monkeypatch.context() as patched, other_thread():
        copies = []
        patched.setattr(type(model._learner), "snapshot", lambda learner: copies.append(1) or independent_copy(learner))
        assert np.array_equal(model.predict_proba(X), expected)
        assert len(copies) == 1
        model.partial_fit(X[:1], y[:1]).partial_fit(X[1:2], y[1:2])
        assert len(copies) == 1
        model.predict(X)
        model.predict(X)
        assert len(copies) == 2
    with monkeypatch.context() as patched:
        patched.setattr(threading, "active_count", lambda: 1)  # a test process may have threads of its own
        patched.setattr(type(model._learner), "snapshot", None)
        model.partial_fit(X[:1], y[:1]).predict(X)


def test_threads_that_learn_wait_for_one_another(monkeypatch):
    X, y = small_stream(n_steps=90)
    model, twin = (AMRC(features="linear").partial_fit(X[:30], y[:30]) for _ in range(2))
    paused = PausedLearning(monkeypatch, model)
    first = teach_in_thread(model, X[30:60], y[30:60])
    assert paused.is_paused.wait(PATIENCE_SECONDS)
    second = teach_in_thread(model, X[60:], y[60:])
    second.join(0.05)
    assert second.is_alive()
    paused.resume.set()
    for thread in (first, second):
        thread.join()
    assert_same(model, twin.partial_fit(X[30:], y[30:]))


def test_a_model_is_saved_as_it_is_after_the_rows_that_a_thread_is_learning(monkeypatch, tmp_path):
    X, y = small_stream()
    model = AMRC(features="linear").partial_fit(X[:30], y[:30])
    paused = PausedLearning(monkeypatch, model)
    learning = teach_in_thread(model, X[30:], y[30:])
    assert paused.is_paused.wait(PATIENCE_SECONDS)
    saving = threading.Thread(target=model.save, args=(tmp_path / "model",))
    saving.start()
    paused.resume.set()
    for thread in (learning, saving):
        thread.join()
    assert_same(AMRC.load(tmp_path / "model"), model)


def test_a_thread_that_has_a_model_for_itself_makes_no_copies_and_others_wait_for_it(monkeypatch):
    X, y = small_stream(n_steps=60)
    model, twin = (AMRC(features="linear").partial_fit(X[:20], y[:20]) for _ in range(2))
    with monkeypatch.context() as patched, other_thread(), model.exclusive():
        patched.setattr(type(model._learner), "snapshot", None)
        other = teach_in_thread(model, X[40:], y[40:])
        for t in range(20, 40):
            model.predict_proba(X[t : t + 1])
            model.partial_fit(X[t : t + 1], y[t : t + 1])
        assert model.n_steps_ == 40
        assert other.is_alive()
    other.join()
    assert_same(model, twin.partial_fit(X[20:], y[20:]))
