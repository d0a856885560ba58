"""Missing values are replaced by running means for classifiers that cannot take them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftline.adapters.imputed import ImputedClassifier

values = st.one_of(st.just(np.nan), st.floats(-100, 100))


class Recorder:
    """A classifier that keeps the rows that it was given."""

    def __init__(self):
        self.rows = []

    def partial_fit(self, X, y):
        self.rows += X.tolist()

    def predict(self, X):
        return X[:, 0]


@given(arrays(np.float64, (12, 2), elements=values), st.integers(1, 12))
def test_each_missing_value_is_the_mean_of_the_known_ones_before(X, n_rows):
    model = ImputedClassifier(Recorder())
    for first in range(0, 12, n_rows):
        model.partial_fit(X[first : first + n_rows], np.zeros(len(X[first : first + n_rows])))
    for t, row in enumerate(model.classifier.rows):
        for j, value in enumerate(row):
            known = X[:t, j][~np.isnan(X[:t, j])]
            mean = known.mean() if known.size else 0.0
            assert np.isclose(value, mean if np.isnan(X[t, j]) else X[t, j])
    assert model.n_imputed_ == np.isnan(X).sum()
    known = X[:, 0][~np.isnan(X[:, 0])]
    assert np.isclose(model.predict(np.array([[np.nan, 1.0]]))[0], known.mean() if known.size else 0.0)
