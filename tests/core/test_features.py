import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftline.core.features import FeatureMap, FourierMap, LinearMap
from helpers.strategies import moderate, seeds

tables = arrays(float, st.tuples(st.integers(1, 5), st.just(3)), elements=moderate)


@given(tables)
def test_linear_features_are_the_columns(X):
    assert np.array_equal(LinearMap().transform(X), X)
    assert np.array_equal(LinearMap(intercept=True).transform(X), np.column_stack([np.ones(len(X)), X]))


@given(tables, seeds, st.floats(0.01, 10))
def test_fourier_features_have_length_one(X, seed, scale):
    psi = FourierMap(n_components=20, scale=scale, seed=seed)
    psi.start(3)
    features = psi.transform(X)
    assert features.shape == (len(X), 40)
    assert np.allclose(np.linalg.norm(features, axis=1), 1)


def test_fourier_features_as_printed_are_not_divided():
    X = np.random.default_rng(0).normal(size=(3, 2))
    maps = [FourierMap(n_components=9, scale=1.0, seed=0, divided=divided) for divided in (True, False)]
    for psi in maps:
        psi.start(2)
    assert np.allclose(maps[1].transform(X), 3 * maps[0].transform(X))


def test_fourier_features_approximate_the_gaussian_kernel():
    X = np.random.default_rng(0).normal(size=(30, 4))
    psi = FourierMap(n_components=20_000, scale=0.7, seed=1)
    psi.start(4)
    features = psi.transform(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    assert np.abs(features @ features.T - np.exp(-(0.7**2) * squared / 2)).max() < 0.03


def test_fourier_features_depend_on_the_seed_alone():
    X = np.random.default_rng(0).normal(size=(3, 2))

    def features(seed):
        psi = FourierMap(n_components=5, scale=1.0, seed=seed)
        psi.start(2)
        return psi.transform(X)

    assert np.array_equal(features(1), features(1))
    assert not np.array_equal(features(1), features(2))


def test_the_maps_keep_to_the_protocol():
    assert isinstance(LinearMap(), FeatureMap)
    assert isinstance(FourierMap(n_components=1, scale=1.0, seed=0), FeatureMap)
