"""Streams whose classes follow rules on single columns, and comparisons of models with trees."""

import numpy as np


def rule_stream(n=2000, seed=0):
    """Rows with six columns; label = (x0 < a) xor (x3 > b), and a and b change in the middle."""
    X = np.random.default_rng(seed).uniform(size=(n, 6))
    is_later = np.arange(n) >= n // 2
    a, b = np.where(is_later, 0.7, 0.3), np.where(is_later, 0.2, 0.6)
    return X, ((X[:, 0] < a) ^ (X[:, 3] > b)).astype(int)


def used_arrays(model):
    """Return the arrays of a model, without what trees and rows left in memory that is not in use."""
    arrays = {name: array.copy() for name, array in model._learner.state().items()}
    for name, array in arrays.items():
        part, _, kind = name.rpartition("/")
        if "/forest/" in name and kind in ("column", "threshold", "child", "counts"):
            n_used = arrays[f"{part}/n_leaves" if kind == "counts" else f"{part}/n_nodes"]
            for t, n in enumerate(n_used):
                array[t, n:] = 0
        elif name.endswith("forest/store/rows"):
            array[arrays[f"{part}/n_seen"][0] :] = 0
    return arrays


def assert_same_use(one, other):
    """Assert that two models have the same arrays, bit for bit, as far as they are in use."""
    first, second = used_arrays(one), used_arrays(other)
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name], equal_nan=array.dtype.kind == "f"), name
