import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.features import Columns, RunningColumns
from driftline.kernels.representation import FARTHEST, represent
from strategies import seeds


@given(seeds, st.integers(1, 4), st.integers(0, 5))
def test_features_equal_their_formula(seed, p, n_directions):
    rng = np.random.default_rng(seed)
    Z, U = rng.normal(size=(6, p)), rng.normal(size=(n_directions, p))
    angles = Z @ U.T
    share = np.sqrt(max(n_directions, 1))
    expected = np.hstack([np.full((6, 1), 0.5), Z / np.sqrt(p), np.cos(angles) / share, np.sin(angles) / share])
    Psi = represent(Z, U)
    assert Psi.dtype == np.float32
    assert np.allclose(Psi, expected, atol=1e-6)


@given(seeds, st.booleans())
def test_rows_are_filled_and_scaled_as_columns_are_one_by_one(seed, standardises):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) * 10.0 ** rng.integers(-3, 4, 4)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = 7.0
    X[:, 3] = rng.integers(0, 2, 40)
    twin, made = Columns("running" if standardises else "none"), RunningColumns(4, standardises=standardises)
    twin.start(X)
    expected = []
    for t, x in enumerate(X):
        row, seen = twin.prepare(x[None])[0], X[:t]
        weights = np.where(np.all(np.isnan(seen) | (seen == 0) | (seen == 1), axis=0), 0.5, 1.0)
        weights /= np.sqrt(np.mean(weights**2))
        expected.append(weights * np.clip(row, -FARTHEST, FARTHEST) if standardises else row)
        twin.observe(x)
    parts = np.concatenate([made.advance(X[:17]), made.advance(X[17:])])
    assert np.allclose(parts, np.array(expected), rtol=1e-12, atol=0)
    assert made.n_missing == twin.n_missing


@given(seeds)
def test_preparing_rows_does_not_take_them_in(seed):
    X = np.random.default_rng(seed).normal(size=(10, 2))
    made = RunningColumns(2, standardises=True)
    made.advance(X)
    one_by_one = np.concatenate([made.prepare(x[None]) for x in X])
    assert np.array_equal(made.prepare(X), one_by_one)
    assert np.array_equal(made.advance(X[:1]), one_by_one[:1])
