"""Counts of values at nodes that are chosen from the first values of a column in a class."""

import math

import numpy as np

from driftline._jit import kernel
from driftline.types import Indices, Labels, Matrix, Singles, Vector

N_EARLY = 512
"""Number of first values from which the nodes are chosen; many, in case neighbouring rows are alike."""
N_OUTER = 24
"""Nodes on each side of the first values, for values that come to lie elsewhere."""
N_INNER = 15
"""Nodes among the first values, at equal shares of them."""
N_NODES = N_INNER + 2 * N_OUTER
OUTER_STEP = 1.0 / 8.0
"""Distance of the first outer node from the outermost inner one, in distances of the outermost inner ones."""
OUTER_GROWTH = 1.12
"""Ratio of two consecutive distances between outer nodes."""
ZERO_RATIO = 0.55
"""Ratio of two consecutive nodes that approach 0."""
NEGATIVE_GROWTH = 1.35
"""Ratio of two consecutive distances on the other side of 0."""
FIRST_STEP, CONSTANT_GROWTH = 1e-6, 3.0
"""The first distance, relative to the value, and that ratio where all first values are equal."""


@kernel
def fill_outer_nodes(start: float, step: float, growth: float, outer: Vector) -> None:
    """Write the nodes beyond `start`, from the nearest on, for values far from 0 or on both sides of it."""
    distance = 0.0
    for i in range(N_OUTER):
        distance += step * growth**i
        outer[i] = start + distance


@kernel
def fill_nodes_towards_zero(start: float, step: float, outer: Vector) -> None:
    """Write the nodes below a positive `start`: half of them approach 0, then follow 0 and negative ones."""
    half, distance = N_OUTER // 2, 0.0
    for i in range(half):
        outer[i] = start * ZERO_RATIO ** (i + 1)
        outer[half + i] = -distance
        distance += step * NEGATIVE_GROWTH**i


@kernel
def choose_nodes(values: Vector) -> Vector:
    """Return 63 nodes for a column, given its first values in order.

    15 of them are among these values, at equal shares. On each side are 24 more, at growing distances. Where values are
    near 0 and all of one sign, such as amounts, half of the nodes towards 0 divide what is left of that side.
    """
    nodes, n = np.empty(N_NODES), values.size
    for i in range(N_INNER):
        nodes[N_OUTER + i] = values[min((i + 1) * n // (N_INNER + 1), n - 1)]
    low, high = nodes[N_OUTER], nodes[N_OUTER + N_INNER - 1]
    step = (high - low if high > low else values[n - 1] - values[0]) * OUTER_STEP
    growth = OUTER_GROWTH
    if not (step > 0.0 and math.isfinite(step)):
        step, growth = max(abs(low), 1.0) * FIRST_STEP, CONSTANT_GROWTH
    reach = step * (growth**N_OUTER - 1.0) / (growth - 1.0)
    below, above = np.empty(N_OUTER), np.empty(N_OUTER)
    if values[0] > 0.0 and 0.0 < low < reach:
        fill_nodes_towards_zero(low, step, below)
    else:
        fill_outer_nodes(-low, step, growth, below)
        below = -below
    if values[n - 1] < 0.0 and -reach < high < 0.0:
        fill_nodes_towards_zero(-high, step, above)
        above = -above
    else:
        fill_outer_nodes(high, step, growth, above)
    nodes[:N_OUTER] = below[::-1]
    nodes[N_OUTER + N_INNER :] = above
    return nodes


@kernel
def bin_of(nodes: Vector, value: float) -> int:
    """Return the number of nodes below a value."""
    first, end = 0, nodes.size
    while first < end:
        middle = (first + end) // 2
        if nodes[middle] < value:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def count_value(value: float, nodes: Vector, counts: Vector, lowest: Vector, highest: Vector) -> None:
    """Count a value at the nodes on both sides, with weights that add up to 1 and whose mean node is the value."""
    b = bin_of(nodes, value)
    lowest[b] = min(lowest[b], value)
    highest[b] = max(highest[b], value)
    if b == 0:
        counts[0] += 1.0
    elif b == nodes.size:
        counts[b - 1] += 1.0
    else:
        weight = (value - nodes[b - 1]) / (nodes[b] - nodes[b - 1])
        counts[b - 1] += 1.0 - weight
        counts[b] += weight


@kernel
def count_early_values(
    c: int,
    j: int,
    n_early: Indices,
    early: Vector,
    early_windows: Indices,
    nodes: Vector,
    counts: Singles,
    lowest: Vector,
    highest: Vector,
) -> None:
    """Choose the nodes for column j in class c from its first values, and count these values."""
    n = n_early[c, j]
    chosen = choose_nodes(np.sort(early[c, j, :n]))
    thinning = (N_NODES + 1) // (nodes.shape[2] + 1)
    nodes[c, j] = chosen[thinning - 1 :: thinning]
    for i in range(n):
        count_value(early[c, j, i], nodes[c, j], counts[early_windows[c, j, i], c, j], lowest[c, j], highest[c, j])


@kernel
def count_values(
    rows: Matrix,
    places: Labels,
    windows: Labels,
    n_early: Indices,
    early: Vector,
    early_windows: Indices,
    nodes: Vector,
    counts: Singles,
    lowest: Vector,
    highest: Vector,
) -> None:
    """Count the values of rows at the nodes of their classes and windows; missing values are not counted.

    `places` are the positions of the classes of the rows, and `windows` those of their windows. The first values of a
    column in a class are kept in `early` until there are `N_EARLY`, and counted then. `lowest` and `highest` are the
    smallest and the largest value in each bin between nodes.
    """
    for t in range(rows.shape[0]):
        c, w = places[t], windows[t]
        for j in range(rows.shape[1]):
            value = rows[t, j]
            if math.isnan(value):
                continue
            n = n_early[c, j]
            if n == N_EARLY:
                count_value(value, nodes[c, j], counts[w, c, j], lowest[c, j], highest[c, j])
                continue
            early[c, j, n] = value
            early_windows[c, j, n] = w
            n_early[c, j] = n + 1
            if n + 1 == N_EARLY:
                count_early_values(c, j, n_early, early, early_windows, nodes, counts, lowest, highest)


@kernel
def count_waiting_values(
    n_early: Indices,
    early: Vector,
    early_windows: Indices,
    nodes: Vector,
    counts: Singles,
    lowest: Vector,
    highest: Vector,
) -> None:
    """Count the values of all columns in classes of which fewer than `N_EARLY` were known so far."""
    for c in range(n_early.shape[0]):
        for j in range(n_early.shape[1]):
            if 0 < n_early[c, j] < N_EARLY:
                count_early_values(c, j, n_early, early, early_windows, nodes, counts, lowest, highest)
