"""What the methods to compare with have from the parts that they share."""

import signal

import numpy as np
import pytest

from driftline import AMRC, CheckpointError, ConfigError, PaperAMRC, baselines
from driftline.baselines import AdaRaker, Forgetron, Majority
from helpers.quick_models import assert_same, baseline, small_stream


@pytest.mark.parametrize("name", baselines.__all__)
def test_grouping_rows_into_blocks_changes_no_bit(name):
    """Budgets fill up, NOGD changes over, experts of DWM come and go, a class joins, and values are missing."""
    X, y = small_stream(seed=1, n_steps=400, n_classes=3)
    X += np.linspace(0, 4, 400)[:, None]
    X[::37, 1] = np.nan
    y[:150] %= 2
    whole = baseline(name)
    expected = whole.prequential(X, y, classes=[0, 1]).predicted
    rng = np.random.default_rng(0)
    for places in (np.arange(1, 400), np.unique(rng.integers(1, 400, 20))):
        model = baseline(name)
        parts = [model.prequential(X[r], y[r], classes=[0, 1]) for r in np.split(np.arange(400), places)[:1]]
        parts += [model.prequential(X[r], y[r]) for r in np.split(np.arange(400), places)[1:]]
        assert np.array_equal(np.concatenate([part.predicted for part in parts]), expected)
        assert_same(model, whole)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("at", [3, 30])
def test_an_interruption_waits_until_a_block_is_learned(monkeypatch, at):
    X, y = small_stream(n_steps=60, n_classes=3)
    y[:30] %= 2
    model = Forgetron().partial_fit(X[:at], y[:at], classes=[0, 1])
    method = type(model._learner._method)
    learned = method.advance

    def interrupted(self, Z, labels):
        signal.raise_signal(signal.SIGINT)
        return learned(self, Z, labels)

    monkeypatch.setattr(method, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[at:], y[at:])
    monkeypatch.undo()
    assert at < model.n_steps_ < 60
    assert_same(model, Forgetron().partial_fit(X[: model.n_steps_], y[: model.n_steps_], classes=[0, 1]))


def test_an_interrupted_fit_leaves_the_fitted_model(monkeypatch):
    X, y = small_stream()
    model, other = Majority().fit(X, y), Majority().fit(X, y)

    def interrupted(self, Z, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model._learner._method), "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], y)
    assert_same(model, other)
    assert model.n_features_in_ == 3


def test_a_file_of_another_kind_is_refused_with_its_kind(tmp_path):
    X, y = small_stream()
    Forgetron().fit(X, y).save(tmp_path / "model")
    for kind in (AMRC, PaperAMRC, AdaRaker):
        with pytest.raises(
            CheckpointError, match=r"contains a model of the class Forgetron: load it with Forgetron\.load"
        ):
            kind.load(tmp_path / "model")


def test_classes_cannot_be_changed_from_outside():
    X, y = small_stream()
    model = Majority().fit(X, y)
    model.classes_[:] = 7
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        ("RBP", "scale", "Auto", r"scale must be a number between .* got 'Auto' \(or 'auto'\)"),
        ("FOGD", "scale", 1e200, "scale must be a number between"),
        ("Projectron", "tolerance", -1.0, r"tolerance must be a positive number; got -1.0 \(or None\)"),
        ("NORMA", "nu", 1.5, r"nu must be a number between 0.0 and 1.0, or 0.0; got 1.5 \(or None\)"),
        ("RBP", "budget", 10**30, "budget must be a whole number up to 2147483647"),
        ("DWM", "beta", 0.0, "beta must be a number between 0.0 and 1.0"),
        ("WindowedMajority", "window", 0, "window must be a whole number from 1 up"),
    ],
)
def test_parameters_that_cannot_work_are_refused(name, parameter, value, message):
    X, y = small_stream()
    with pytest.raises(ConfigError, match=message):
        getattr(baselines, name)(**{parameter: value}).fit(X, y)
