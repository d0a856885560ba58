"""Model files of versions 1 and 2, written by code that wrote them, still load and go on as they would have."""

from pathlib import Path

import numpy as np
import pytest

from driftline.core import checkpoint
from driftline.kernels.statements import RowStatements
from driftline.registry import load_model
from driftline.streams import RotatingGaussians
from helpers.model_files import read_model_file

MODELS = Path(__file__).parent / "models"
N_LEARNED = {"amrc": 150, "paper": 120, "paper-widened": 120, "rbp": 120, "dwm": 120}

ADDED = {f"space{i}/members/{name}" for i in (0, 1) for name in ("average_gain", "interval")} | {
    *("n_expired", "pending/ids", "pending/times", "pending/ages", "calibration/window", "calibration/stretches"),
    *("columns/recent", "columns/recent_figures"),
}
"""Arrays that files of version 1 do not have, besides those of the guarantees; files without them still load."""
EXTENDED = {"calibration/sums", "mistake_bound/sums"}
"""Arrays that have another length since."""


def is_of_guarantees(array):
    part, _, name = array.partition("/")
    return part == "guarantees" or (part == "pending" and name in RowStatements._fields)


@pytest.fixture(scope="module")
def expected():
    with np.load(MODELS / "version1-expected.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def rows():
    X, y = RotatingGaussians().sample(240, seed=0)
    return X, np.array(["down", "up"])[y]


def output(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X) == "up"


@pytest.mark.parametrize("name", N_LEARNED)
def test_a_file_of_version_1_loads_and_its_model_learns_on(name, expected, rows):
    X, y = rows
    model = load_model(MODELS / f"version1-{name}.driftline")
    assert model.n_steps_ == N_LEARNED[name]
    assert np.allclose(output(model, X[200:220]), expected[name], rtol=0, atol=1e-6)
    end = 240 if name == "amrc" else 160
    model.partial_fit(X[N_LEARNED[name] : end], y[N_LEARNED[name] : end])
    assert np.allclose(output(model, X[200:220]), expected[f"{name}-later"], rtol=0, atol=1e-6)


def test_rows_that_waited_in_a_file_of_version_1_wait_on(expected, rows):
    X, y = rows
    model = load_model(MODELS / "version1-amrc.driftline")
    assert model.n_waiting_ == 10
    model.partial_fit(X[150:240], y[150:240])
    assert model.n_waiting_ == 0
    bounds = [model.error_bound_, model.rate_bound_, model.mistake_bound()]
    assert np.allclose(bounds, expected["amrc-bounds"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", N_LEARNED)
def test_a_file_saved_now_is_of_version_3_and_has_the_same_arrays(name, tmp_path):
    old = MODELS / f"version1-{name}.driftline"
    load_model(old).save(tmp_path / "again")
    before, after = read_model_file(old)[1], read_model_file(tmp_path / "again")[1]
    before = {checkpoint._name_in_version_2(array): before[array] for array in before}
    assert read_model_file(tmp_path / "again")[0]["version"] == checkpoint.VERSION == 3
    assert set(before) <= {array for array in after if not is_of_guarantees(array)} <= set(before) | ADDED
    for array in set(before) - EXTENDED:
        assert np.array_equal(after[array], before[array], equal_nan=after[array].dtype.kind == "f")
    if "calibration/sums" in before:
        assert np.array_equal(after["calibration/sums"], before["calibration/sums"][:6])
        assert np.array_equal(after["mistake_bound/sums"][:4], before["mistake_bound/sums"])


def test_losses_that_an_old_file_does_not_hold_are_taken_to_be_as_the_bounds(rows):
    X, y = rows
    model = load_model(MODELS / "version1-amrc.driftline")
    bound = model._learner.mistake_bound
    assert bound.total_loss == bound.total_bound + bound.total_excess
    assert bound.holds
    before = bound.total_loss
    losses = 1.0 - model.prequential(X[150:200], y[150:200]).label_probabilities
    assert bound.total_loss == pytest.approx(before + losses.sum(), rel=1e-12)


def test_a_file_of_version_2_loads_with_its_bounds_and_learns_on(rows, tmp_path):
    """The file was written by driftline 0.1.0, after 150 rows."""
    X, y = rows
    model = load_model(MODELS / "version2-amrc.driftline")
    assert bounds_of(model) == pytest.approx([0.1478576232822211, 0.10445719831267741, 55.475193740700014], rel=1e-9)
    model.save(tmp_path / "again")
    for each in (model, load_model(tmp_path / "again")):
        each.partial_fit(X[150:199], y[150:199])
        assert bounds_of(each) == pytest.approx([0.1716248580889791, 0.0786270666611021, 64.64229491620917], rel=1e-6)


def bounds_of(model):
    return [model.error_bound_, model.rate_bound_, model.mistake_bound()]
