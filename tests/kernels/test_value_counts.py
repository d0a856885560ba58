"""Values count at the nodes around them, and the nodes cover what may come."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.kernels.value_counts import N_EARLY, N_NODES, choose_nodes, count_value

values = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40).map(lambda each: np.sort(np.array(each)))


def weights_of(value, nodes):
    """Return the weights of a value at the nodes, in NumPy: those of linear interpolation."""
    return np.array([np.interp(value, nodes, unit) for unit in np.eye(len(nodes))])


@given(values)
def test_nodes_are_in_order_and_reach_beyond_the_first_values(first):
    nodes = choose_nodes(first)
    assert nodes.shape == (N_NODES,)
    assert np.all(np.diff(nodes) >= 0)
    assert nodes[0] < first[len(first) // 2] < nodes[-1]


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30, unique=True), st.floats(-120, 120))
def test_a_value_counts_as_in_linear_interpolation(nodes, value):
    nodes = np.sort(np.array(nodes))
    counts, lowest, highest = np.zeros(len(nodes)), np.full(len(nodes) + 1, np.inf), np.full(len(nodes) + 1, -np.inf)
    count_value(value, nodes, counts, lowest, highest)
    assert np.allclose(counts, weights_of(value, nodes), atol=1e-12)
    assert counts.sum() == 1.0 or np.isclose(counts.sum(), 1.0)
    b = np.searchsorted(nodes, value)
    assert lowest[b] == highest[b] == value
    assert np.isinf(np.delete(lowest, b)).all()


def test_nodes_of_amounts_divide_what_is_left_above_zero():
    nodes = choose_nodes(np.sort(np.random.default_rng(0).lognormal(5.0, 1.5, N_EARLY)))
    assert np.count_nonzero((nodes > 0.0) & (nodes < 10.0)) >= 5
    assert np.count_nonzero(nodes < 0.0) >= 5
