"""Raw rows made into features, one at a time, so that it does not matter how rows are grouped."""

import math

import numpy as np

from driftline._jit import kernel
from driftline.types import Matrix, Singles, Vector

FARTHEST = 4.0
"""Standardised values are cut off at so many deviations."""
TRUSTED, LONGEST = 10, 10_000.0
"""After how many values their deviation is trusted, and after how many old ones fade."""
WILD = 100.0
"""Of the first values, how many median deviations from their median one must be to count as wild."""
DEVIATION = 1.4826
"""The standard deviation of normal values, in median deviations."""
BINARY = 0.5
"""Weight of a column of 0 and 1 beside one of numbers."""
FARTHEST_SINGLE = 1e15
"""Others are cut off here: in single precision, squares of larger numbers have no room."""
CONSTANT = 0.5
"""The constant feature."""


@kernel
def column_weights(is_binary: Vector, n_begun: int) -> Vector:
    """Return what standardised columns are multiplied by: half as much for those of 0 and 1, with mean square 1.

    A standardised column of 0 and 1 has a jump of at least two deviations where one of numbers moves by one. Columns
    that were added to the `n_begun` of the start share the weight of those, so that rows keep their length.
    """
    weights = 1.0 - (1.0 - BINARY) * is_binary
    return weights / math.sqrt(np.sum(weights * weights) / n_begun)


@kernel
def fill_and_scale(
    X: Matrix,
    count: Vector,
    mean: Vector,
    squares: Vector,
    is_binary: Vector,
    early: Matrix,
    n_begun: int,
    standardises: bool,
    advances: bool,
) -> tuple[Matrix, int]:
    """Return the rows with missing values filled and columns scaled and cut off, and how many were filled.

    Each row is judged by the statistics that include it, so that it is finite from the first row on. If it
    `advances`, these stay for the next row; else every row is judged as the next one.
    """
    n, p = X.shape
    Z = np.empty((n, p))
    n_missing = 0
    weights = column_weights(is_binary, n_begun)
    for t in range(n):
        for j in range(p):
            x = X[t, j]
            if np.isnan(x):
                x = mean[j] if count[j] > 0.0 else 0.0
            Z[t, j] = min(max(x, -FARTHEST_SINGLE), FARTHEST_SINGLE)
            if standardises:
                shift = x - mean[j]
                deviation = shift * count[j] / (count[j] + 1.0)
                variance = (squares[j] + shift * deviation) / (count[j] + 1.0)
                z = deviation / math.sqrt(variance) if variance > 0.0 else 0.0
                Z[t, j] = weights[j] * min(max(z, -FARTHEST), FARTHEST)
        if advances:
            n_missing += take_in(X, t, count, mean, squares, is_binary, early)
            if notice_numbers(X, t, is_binary):
                weights = column_weights(is_binary, n_begun)
    return Z, n_missing


@kernel
def take_in(X: Matrix, t: int, count: Vector, mean: Vector, squares: Vector, is_binary: Vector, early: Matrix) -> int:
    """Take the known values of row t into the statistics of their columns; return how many are missing.

    Numbers are cut off here too, so that a wild one does not ruin the scale; and after many rows, old ones fade.
    The first numbers are kept in `early` until there are enough of them to tell which were wild.
    """
    missing = 0
    for j in range(X.shape[1]):
        x = X[t, j]
        if np.isnan(x):
            missing += 1
            continue
        if count[j] >= TRUSTED and is_binary[j] == 0.0 and squares[j] > 0.0:
            farthest = FARTHEST * math.sqrt(squares[j] / count[j])
            x = min(max(x, mean[j] - farthest), mean[j] + farthest)
        if count[j] < TRUSTED:
            early[int(count[j]), j] = x
        if count[j] >= LONGEST:
            squares[j] *= 1.0 - 1.0 / LONGEST
        else:
            count[j] += 1.0
        shift = x - mean[j]
        mean[j] += shift / count[j]
        squares[j] += shift * (x - mean[j])
        if count[j] == TRUSTED:
            tame(early, j, mean, squares)
    return missing


@kernel
def tame(early: Matrix, j: int, mean: Vector, squares: Vector) -> None:
    """Cut off the first values of a column that are wild, and take the statistics anew, if there are any."""
    middle = np.median(early[:, j])
    deviation = np.median(np.abs(early[:, j] - middle))
    if deviation > 0.0 and np.max(np.abs(early[:, j] - middle)) > WILD * deviation:
        farthest = FARTHEST * DEVIATION * deviation
        kept = np.minimum(np.maximum(early[:, j], middle - farthest), middle + farthest)
        mean[j] = np.mean(kept)
        squares[j] = np.sum((kept - mean[j]) ** 2)


@kernel
def notice_numbers(X: Matrix, t: int, is_binary: Vector) -> bool:
    """Note which columns have a value in row t that is neither 0 nor 1; return whether there is a new one."""
    is_new = False
    for j in range(X.shape[1]):
        x = X[t, j]
        if is_binary[j] == 1.0 and not (np.isnan(x) or x * (x - 1.0) == 0.0):
            is_binary[j] = 0.0
            is_new = True
    return is_new


@kernel
def represent(Z: Matrix, directions: Matrix, n_begun: int) -> Singles:
    """Return ψ = [1/2, z/√p, cos(uᵢᵀz)/√D, sin(uᵢᵀz)/√D] for each row, p columns at the start; D can be 0."""
    n, p = Z.shape
    n_directions = directions.shape[0]
    Psi = np.empty((n, 1 + p + 2 * n_directions), np.float32)
    scale = 1.0 / math.sqrt(n_begun)
    share = 1.0 / math.sqrt(max(n_directions, 1))
    for t in range(n):
        Psi[t, 0] = CONSTANT
        for j in range(p):
            Psi[t, 1 + j] = Z[t, j] * scale
        for i in range(n_directions):
            angle = 0.0
            for j in range(p):
                angle += directions[i, j] * Z[t, j]
            Psi[t, 1 + p + i] = math.cos(angle) * share
            Psi[t, 1 + p + n_directions + i] = math.sin(angle) * share
    return Psi
