"""The labels that a classifier knows."""

import numpy as np
import pytest

from driftline.baselines import Majority
from driftline.errors import DataError


def test_numbers_that_no_type_holds_together_stay_numbers():
    model = Majority().partial_fit([[0.0], [1.0]], np.array([1.0, 2.0]))
    large = np.array([2**53 + 1])  # which floats round to 2**53
    model.partial_fit([[2.0]], large)
    assert model.classes_.dtype == object
    model.partial_fit([[2.0]], large).partial_fit([[0.0]], [1.0])
    assert model.n_steps_ == 5
    assert model.classes_.tolist() == [1.0, 2.0, 2**53 + 1]
    with pytest.raises(DataError, match="use one kind of label throughout"):
        model.partial_fit([[2.0]], ["text"])
