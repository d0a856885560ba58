"""The costs of mistakes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.core.costs import Costs, costs_from_json

labels = st.one_of(st.integers(-3, 3), st.text(max_size=2))
mappings = st.dictionaries(labels, st.dictionaries(labels, st.floats(0, 1e6), max_size=3), max_size=3)


@given(mappings, st.lists(labels, unique_by=lambda label: (type(label), label), max_size=4))
def test_pairs_that_are_left_out_cost_one_if_they_differ(given_costs, classes):
    matrix = Costs(given_costs).matrix(classes)
    assert matrix.shape == (len(classes), len(classes))
    for i, true in enumerate(classes):
        for k, predicted in enumerate(classes):
            assert matrix[i, k] == given_costs.get(true, {}).get(predicted, float(true != predicted))


@given(mappings)
def test_costs_return_from_json(given_costs):
    again = costs_from_json(json.loads(json.dumps(Costs(given_costs).to_json())))
    assert Costs(again).to_json() == Costs(given_costs).to_json()


@pytest.mark.parametrize("cost", [-1, math.inf, math.nan, "5", None, True])
def test_a_cost_that_is_no_number_from_0_up_is_named(cost):
    with pytest.raises(ConfigError, match=r"costs\['a'\]\['b'\] must be a positive number, or 0.0"):
        Costs({"a": {"b": cost}})


@pytest.mark.parametrize("costs", [5, [("a", "b", 1)], {"a": 5}, {("a", "b"): 1}])
def test_costs_that_are_no_nested_mapping_are_refused_with_an_example(costs):
    with pytest.raises(ConfigError, match="must be a mapping"):
        Costs(costs)


@pytest.mark.parametrize("values", [5, [1], [["a", "b"]], [[["a"], "b", 1]]])
def test_other_json_values_are_no_costs(values):
    with pytest.raises(ConfigError):
        costs_from_json(values)


def test_labels_of_numpy_are_those_of_python():
    costs = Costs({np.int64(1): {np.int64(0): 5}})
    assert np.array_equal(costs.matrix(np.array([0, 1])), [[0, 1], [5, 0]])
    assert costs.labels == [1, 0]
