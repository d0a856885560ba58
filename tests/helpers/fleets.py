"""Rows for fleets, and the separate models that fleets are compared with."""

import numpy as np

from driftline import AMRC

CLASSES = ["fine", "hot", "worn"]


def rows_of(rng, n, n_keys, p=3, n_classes=3):
    """Return rows with missing values, labels that depend on the key, and keys."""
    keys = rng.integers(n_keys, size=n)
    X = rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) * (1 + keys % 3) > 0.3).astype(int) + (rng.random(n) < 0.2) * (n_classes - 2)
    return X, np.array(CLASSES[:n_classes])[y], keys


def state_of(model):
    """Return the arrays of a model but those of rows that wait."""
    return {name: array for name, array in model._learner.state().items() if not name.startswith("pending")}


def assert_same_model(model, other):
    """Assert that two models have the same arrays, bit for bit."""
    state, expected = state_of(model), state_of(other)
    assert state.keys() == expected.keys()
    for name, array in state.items():
        assert array.tobytes() == expected[name].tobytes(), name


def learn_separately(models, X, y, keys, classes, **parameters):
    """Let a model of each key learn the rows one by one; return their predictions."""
    said = []
    for x, label, key in zip(X, y, keys.tolist(), strict=True):
        model = models.setdefault(key, AMRC(memory="light", **parameters))
        said.append(model.prequential(x[None], [label], classes=None if hasattr(model, "_learner") else classes))
    return said
