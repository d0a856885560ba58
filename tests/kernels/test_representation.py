import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.core.columns import RunningColumns
from driftline.kernels.column_scales import MAX_DEVIATIONS
from driftline.kernels.representation import represent
from helpers.strategies import seeds


@given(seeds, st.integers(1, 4), st.integers(0, 5))
def test_features_equal_their_formula(seed, p, n_directions):
    rng = np.random.default_rng(seed)
    Z, U = rng.normal(size=(6, p)), rng.normal(size=(n_directions, p))
    angles = Z @ U.T
    share = np.sqrt(max(n_directions, 1))
    expected = np.hstack([np.full((6, 1), 0.5), Z / np.sqrt(p), np.cos(angles) / share, np.sin(angles) / share])
    Psi = represent(Z, U, p)
    assert Psi.dtype == np.float32
    assert np.allclose(Psi, expected, atol=1e-6)


def scaled(X):
    """The rows by the formulas, one after the other."""
    p = X.shape[1]
    count, mean, squares, numbers, rows = np.zeros(p), np.zeros(p), np.zeros(p), np.zeros(p, bool), []
    for t, x in enumerate(X):
        filled = np.where(np.isnan(x), np.where(count > 0, mean, 0.0), x)
        deviation = (filled - mean) * count / (count + 1)
        variance = (squares + (filled - mean) * deviation) / (count + 1)
        z = np.clip(
            np.where(variance > 0, deviation / np.sqrt(np.where(variance > 0, variance, 1)), 0),
            -MAX_DEVIATIONS,
            MAX_DEVIATIONS,
        )
        weights = np.where(numbers, 1.0, 0.5)
        rows.append(z * weights / np.sqrt(np.mean(weights**2)))
        limit = MAX_DEVIATIONS * np.sqrt(squares / np.maximum(count, 1))
        is_cut = (count >= 10) & numbers & (squares > 0)
        cut = np.where(is_cut, np.clip(x, mean - limit, mean + limit), x)
        known = ~np.isnan(x)
        count = count + known
        shift = np.where(known, cut - mean, 0.0)
        mean = mean + shift / np.maximum(count, 1)
        squares = squares + np.where(known, shift * (cut - mean), 0.0)
        numbers |= known & (x != 0) & (x != 1)
        for j in np.flatnonzero(known & (count == 10)):
            first = X[: t + 1, j][~np.isnan(X[: t + 1, j])]
            away = np.abs(first - np.median(first))
            if 0 < 100 * np.median(away) < away.max():
                reach = MAX_DEVIATIONS * 1.4826 * np.median(away)
                first = np.clip(first, np.median(first) - reach, np.median(first) + reach)
                mean[j], squares[j] = first.mean(), 10 * first.var()
    return np.array(rows)


@given(seeds)
def test_rows_are_filled_scaled_and_cut_off_as_their_formulas_say(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) * 10.0 ** rng.integers(-3, 4, 4)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = 7.0
    X[:, 3] = rng.integers(0, 2, 60)
    X[30, 0] = 1e9
    X[rng.integers(0, 15), 1] = rng.choice([1e9, -1e9, 0.5])
    made = RunningColumns(4, standardises=True)
    parts = np.concatenate([made.update(X[:17]), made.update(X[17:])])
    assert np.allclose(parts, scaled(X), rtol=1e-9, atol=1e-12)
    assert made.n_missing == np.isnan(X).sum()


@given(seeds)
def test_columns_that_are_not_scaled_are_filled_only(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    Z = RunningColumns(3, standardises=False).update(X)
    assert np.array_equal(Z[~np.isnan(X)], X[~np.isnan(X)])
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("at", [0, 3, 9, 10, 100])
@pytest.mark.parametrize("wild", [1e3, -9999.0, 1e30])
def test_a_wild_value_does_not_ruin_the_scale(wild, at):
    X = np.random.default_rng(0).normal(size=(500, 1))
    calm, shaken = (RunningColumns(1, standardises=True) for _ in range(2))
    calm.update(X)
    X[at] = wild
    shaken.update(X)
    rows = np.array([[-1.0], [0.0], [1.0]])
    assert np.allclose(shaken.prepare(rows), calm.prepare(rows), atol=0.1)


def test_a_column_that_changes_its_unit_is_followed():
    rng = np.random.default_rng(0)
    columns = RunningColumns(1, standardises=True)
    columns.update(rng.normal(size=(1000, 1)))
    columns.update(1000.0 * rng.normal(size=(4000, 1)))
    later = columns.prepare(1000.0 * rng.normal(size=(500, 1)))
    assert 0.5 < later.std() < 2.0


@given(seeds)
def test_preparing_rows_does_not_take_them_in(seed):
    X = np.random.default_rng(seed).normal(size=(10, 2))
    made = RunningColumns(2, standardises=True)
    made.update(X)
    one_by_one = np.concatenate([made.prepare(x[None]) for x in X])
    assert np.array_equal(made.prepare(X), one_by_one)
    assert np.array_equal(made.update(X[:1]), one_by_one[:1])
