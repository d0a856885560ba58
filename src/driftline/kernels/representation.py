"""Raw rows made into features, one at a time, so that it does not matter how rows are grouped."""

import math

import numpy as np

from driftline._jit import kernel
from driftline.kernels.column_scales import MAX_DEVIATIONS, MEMORY_VALUES, note_value
from driftline.types import Matrix, Singles, Vector

EARLY_VALUES = 10
"""So many values of a column are kept until its outliers can be told; then its standard deviation can be trusted."""
OUTLIER_MADS = 100.0
"""An early value is an outlier if it is so many median absolute deviations from the median."""
STD_PER_MAD = 1.4826
"""Standard deviation of normal values over their median absolute deviation."""
BINARY_WEIGHT = 0.5
"""Weight of a column of zeros and ones, where a column of numbers has 1."""
MAX_MAGNITUDE = 1e15
"""Values that are not standardised are clipped here: the squares of larger ones overflow in single precision."""
CONSTANT_FEATURE = 0.5
"""Value of the constant feature."""


@kernel
def column_weights(is_binary: Vector, n_first: int) -> Vector:
    """Return the factors of the standardised columns, with mean square 1: `BINARY_WEIGHT` as much for binary columns.

    A standardised column of 0 and 1 has a jump of at least two deviations where one of numbers moves by one. Columns
    that were added to the `n_first` of the start share the weight of those, so that rows keep their length.
    """
    weights = 1.0 - (1.0 - BINARY_WEIGHT) * is_binary
    return weights / math.sqrt(np.sum(weights * weights) / n_first)


@kernel
def fill_and_scale(
    X: Matrix,
    count: Vector,
    mean: Vector,
    squares: Vector,
    is_binary: Vector,
    early: Matrix,
    recent: Matrix,
    recent_figures: Matrix,
    n_first: int,
    standardises: bool,
    updates: bool,
) -> tuple[Matrix, int]:
    """Return the rows with missing values filled and columns scaled and clipped, and how many values were missing.

    Each row is scaled by statistics that include it, so that it is finite from the first row on. If `updates`, they
    are kept for the next row, in place; else each row is scaled as if it were the next one, and 0 is returned as the
    number of missing values.
    """
    n, p = X.shape
    Z = np.empty((n, p))
    n_missing = 0
    weights = column_weights(is_binary, n_first)
    for t in range(n):
        for j in range(p):
            x = X[t, j]
            if np.isnan(x):
                x = mean[j] if count[j] > 0.0 else 0.0
            Z[t, j] = min(max(x, -MAX_MAGNITUDE), MAX_MAGNITUDE)
            if standardises:
                shift = x - mean[j]
                deviation = shift * count[j] / (count[j] + 1.0)
                variance = (squares[j] + shift * deviation) / (count[j] + 1.0)
                z = deviation / math.sqrt(variance) if variance > 0.0 else 0.0
                Z[t, j] = weights[j] * min(max(z, -MAX_DEVIATIONS), MAX_DEVIATIONS)
        if updates:
            n_missing += update_statistics(X, t, count, mean, squares, is_binary, early, recent, recent_figures)
            if mark_numeric_columns(X, t, is_binary):
                weights = column_weights(is_binary, n_first)
    return Z, n_missing


@kernel
def update_statistics(
    X: Matrix,
    t: int,
    count: Vector,
    mean: Vector,
    squares: Vector,
    is_binary: Vector,
    early: Matrix,
    recent: Matrix,
    recent_figures: Matrix,
) -> int:
    """Update count, mean and sum of squared deviations of each column by row t; return how many values are missing.

    Numbers are clipped here too, so that an outlier does not spoil the scale; and after many rows, old ones are
    forgotten. The first numbers are kept in `early` until there are enough of them to tell which are outliers. A
    column whose recent numbers do not fit its statistics restarts (see `column_scales`).
    """
    missing = 0
    for j in range(X.shape[1]):
        x = X[t, j]
        if np.isnan(x):
            missing += 1
            continue
        if count[j] >= EARLY_VALUES and is_binary[j] == 0.0 and squares[j] > 0.0:
            farthest = MAX_DEVIATIONS * math.sqrt(squares[j] / count[j])
            x = min(max(x, mean[j] - farthest), mean[j] + farthest)
        if count[j] < EARLY_VALUES:
            early[int(count[j]), j] = x
        if count[j] >= MEMORY_VALUES:
            squares[j] *= 1.0 - 1.0 / MEMORY_VALUES
        else:
            count[j] += 1.0
        shift = x - mean[j]
        mean[j] += shift / count[j]
        squares[j] += shift * (x - mean[j])
        if count[j] == EARLY_VALUES:
            clip_early_outliers(early, j, mean, squares)
        if is_binary[j] == 0.0:
            note_value(X[t, j], x != X[t, j], j, count, mean, squares, recent, recent_figures)
    return missing


@kernel
def clip_early_outliers(early: Matrix, j: int, mean: Vector, squares: Vector) -> None:
    """Compute mean and squares of column j anew from its early values, clipped, if there is an outlier among them."""
    median = np.median(early[:, j])
    mad = np.median(np.abs(early[:, j] - median))
    if mad > 0.0 and np.max(np.abs(early[:, j] - median)) > OUTLIER_MADS * mad:
        farthest = MAX_DEVIATIONS * STD_PER_MAD * mad
        clipped = np.minimum(np.maximum(early[:, j], median - farthest), median + farthest)
        mean[j] = np.mean(clipped)
        squares[j] = np.sum((clipped - mean[j]) ** 2)


@kernel
def mark_numeric_columns(X: Matrix, t: int, is_binary: Vector) -> bool:
    """Set `is_binary` to 0 for columns whose value in row t is neither 0 nor 1; return whether any was set."""
    is_new = False
    for j in range(X.shape[1]):
        x = X[t, j]
        if is_binary[j] == 1.0 and not (np.isnan(x) or x * (x - 1.0) == 0.0):
            is_binary[j] = 0.0
            is_new = True
    return is_new


@kernel
def represent(Z: Matrix, directions: Matrix, n_first: int) -> Singles:
    """Return ψ = [1/2, z/√p, cos(uᵢᵀz)/√D, sin(uᵢᵀz)/√D] for each row z, with D directions uᵢ (there may be none).

    p = `n_first` is the number of columns at the start.
    """
    n, p = Z.shape
    Psi = np.empty((n, 1 + p + 2 * directions.shape[0]), np.float32)
    scale = 1.0 / math.sqrt(n_first)
    for t in range(n):
        Psi[t, 0] = CONSTANT_FEATURE
        for j in range(p):
            Psi[t, 1 + j] = Z[t, j] * scale
    set_fourier_features(Psi, directions, n_first)
    return Psi


@kernel
def set_fourier_features(Psi: Singles, directions: Matrix, n_first: int) -> None:
    """Set the Fourier features of each row from its linear ones, in single precision, so that only those are saved."""
    n_directions, p = directions.shape
    root = math.sqrt(n_first)
    share = 1.0 / math.sqrt(max(n_directions, 1))
    for t in range(len(Psi)):
        for i in range(n_directions):
            angle = 0.0
            for j in range(p):
                angle += directions[i, j] * float(Psi[t, 1 + j])
            Psi[t, 1 + p + i] = math.cos(root * angle) * share
            Psi[t, 1 + p + n_directions + i] = math.sin(root * angle) * share
