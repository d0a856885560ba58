import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftline.core.columns import Columns
from helpers.strategies import moderate

tables = arrays(float, st.tuples(st.integers(2, 12), st.just(3)), elements=moderate)
holed = arrays(float, st.tuples(st.integers(2, 12), st.just(3)), elements=st.one_of(moderate, st.just(np.nan)))


def after(X, scaling):
    columns = Columns(scaling)
    columns.start(X)
    for x in X[:-1]:
        columns.observe(x)
    return columns


@given(tables)
def test_running_scaling_uses_the_statistics_up_to_and_with_the_row(X):
    deviation = X.std(axis=0)
    steady = deviation < 1e-6  # constant up to rounding
    expected = (X[-1] - X.mean(axis=0)) / np.where(steady, 1, deviation)
    z = after(X, "running").prepare(X[-1:])[0]
    assert np.allclose(z[~steady], expected[~steady], atol=1e-6)
    assert np.all(np.abs(z) <= np.sqrt(len(X)) + 1e-6)


@given(tables)
def test_file_scaling_maps_the_range_of_the_first_block_to_the_unit_interval(X):
    Z = after(X, "file").prepare(X)
    span = np.ptp(X, axis=0)
    assert np.allclose(Z[:, span > 0], ((X - X.min(axis=0)) / np.where(span > 0, span, 1))[:, span > 0])
    assert np.array_equal(Z[:, span == 0], X[:, span == 0])


@given(holed)
def test_a_missing_value_is_the_mean_of_its_column_so_far(X):
    columns = after(X, "none")
    filled = columns.prepare(X[-1:])[0]
    for j in range(3):
        known = X[:-1, j][~np.isnan(X[:-1, j])]
        expected = X[-1, j] if not np.isnan(X[-1, j]) else (known.mean() if known.size else 0.0)
        assert np.isclose(filled[j], expected, atol=1e-9)
    assert columns.n_missing == np.isnan(X[:-1]).sum()


@given(holed, st.sampled_from(["running", "file", "none"]))
def test_prepared_rows_are_finite(X, scaling):
    assert np.all(np.isfinite(after(X, scaling).prepare(X)))


@given(tables)
def test_preparing_changes_nothing(X):
    columns = after(X, "running")
    before = {name: array.copy() for name, array in columns.state().items()}
    columns.prepare(X)
    assert all(np.array_equal(before[name], array) for name, array in columns.state().items())
