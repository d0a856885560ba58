"""Counts of values in bins that are chosen from the first values of a column in a class."""

import math

import numpy as np

from driftline._jit import kernel
from driftline.types import Indices, Labels, Matrix, Vector

N_EARLY = 64
"""Number of first values from which the edges of bins are chosen."""
N_OUTER = 24
"""Edges on each side of the first values, for values that come to lie elsewhere."""
N_INNER = 15
"""Edges among the first values, at equal shares of them."""
N_EDGES = N_INNER + 2 * N_OUTER
OUTER_STEP = 1.0 / 8.0
"""Distance of the first outer edge from the outermost inner one, in distances of the outermost inner ones."""
OUTER_GROWTH = 1.12
"""Ratio of two consecutive distances between outer edges."""
POSITIVE_RATIO = 0.7
"""Ratio of two consecutive edges below values that are all positive, or above values that are all negative."""
FIRST_STEP, CONSTANT_GROWTH = 1e-6, 3.0
"""The same as the two before, where all first values are equal: the step is relative to the value."""


@kernel
def choose_edges(values: Vector) -> Vector:
    """Return 63 edges of bins for a column, given its first values in order.

    15 of them divide these values in equal shares. On each side are 24 more, at growing distances. Below positive
    values that are near 0, as above negative ones, the edges approach 0 instead.
    """
    edges = np.empty(N_EDGES)
    n = values.size
    for i in range(N_INNER):
        edges[N_OUTER + i] = values[min((i + 1) * n // (N_INNER + 1), n - 1)]
    low, high = edges[N_OUTER], edges[N_OUTER + N_INNER - 1]
    width = high - low if high > low else values[n - 1] - values[0]
    step, growth = width * OUTER_STEP, OUTER_GROWTH
    if not (step > 0.0 and math.isfinite(step)):
        step, growth = max(abs(low), 1.0) * FIRST_STEP, CONSTANT_GROWTH
    reach = step * (growth**N_OUTER - 1.0) / (growth - 1.0)
    shrinks_below, shrinks_above = low > 0.0 and low < reach, high < 0.0 and -high < reach
    distance = 0.0
    for i in range(N_OUTER):
        distance += step * growth**i
        edges[N_OUTER - 1 - i] = low * POSITIVE_RATIO ** (i + 1) if shrinks_below else low - distance
        edges[N_OUTER + N_INNER + i] = high * POSITIVE_RATIO ** (i + 1) if shrinks_above else high + distance
    return edges


@kernel
def bin_of(edges: Vector, value: float) -> int:
    """Return the number of edges below a value."""
    first, end = 0, edges.size
    while first < end:
        middle = (first + end) // 2
        if edges[middle] < value:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def count_early_values(
    c: int,
    j: int,
    n_early: Indices,
    early: Vector,
    early_windows: Indices,
    edges: Vector,
    counts: Vector,
    lowest: Vector,
    highest: Vector,
) -> None:
    """Choose the edges for column j in class c from its first values, and count these values."""
    n, n_bins = n_early[c, j], counts.shape[3]
    chosen = choose_edges(np.sort(early[c, j, :n]))
    thinning = (N_EDGES + 1) // n_bins
    edges[c, j] = chosen[thinning - 1 :: thinning]
    for i in range(n):
        value = early[c, j, i]
        b = bin_of(edges[c, j], value)
        counts[early_windows[c, j, i], c, j, b] += 1
        lowest[c, j, b] = min(lowest[c, j, b], value)
        highest[c, j, b] = max(highest[c, j, b], value)


@kernel
def count_values(
    rows: Matrix,
    places: Labels,
    windows: Labels,
    n_early: Indices,
    early: Vector,
    early_windows: Indices,
    edges: Vector,
    counts: Vector,
    lowest: Vector,
    highest: Vector,
) -> None:
    """Count the values of rows in the bins of their classes and windows; missing values are not counted.

    `places` are the positions of the classes of the rows, and `windows` those of their windows. The first values of a
    column in a class are kept in `early` until there are `N_EARLY`, and counted then. `lowest` and `highest` are the
    smallest and the largest value in each bin.
    """
    for t in range(rows.shape[0]):
        c, w = places[t], windows[t]
        for j in range(rows.shape[1]):
            value = rows[t, j]
            if math.isnan(value):
                continue
            n = n_early[c, j]
            if n < N_EARLY:
                early[c, j, n] = value
                early_windows[c, j, n] = w
                n_early[c, j] = n + 1
                if n + 1 == N_EARLY:
                    count_early_values(c, j, n_early, early, early_windows, edges, counts, lowest, highest)
                continue
            b = bin_of(edges[c, j], value)
            counts[w, c, j, b] += 1
            if value < lowest[c, j, b]:
                lowest[c, j, b] = value
            if value > highest[c, j, b]:
                highest[c, j, b] = value


@kernel
def count_waiting_values(
    n_early: Indices,
    early: Vector,
    early_windows: Indices,
    edges: Vector,
    counts: Vector,
    lowest: Vector,
    highest: Vector,
) -> None:
    """Count the values of all columns in classes of which fewer than `N_EARLY` were known so far."""
    for c in range(n_early.shape[0]):
        for j in range(n_early.shape[1]):
            if 0 < n_early[c, j] < N_EARLY:
                count_early_values(c, j, n_early, early, early_windows, edges, counts, lowest, highest)
