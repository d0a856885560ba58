r"""Functions f_y(x) = Σᵢ a_yi k(sᵢ, x), one for each class y, on a few supports sᵢ; k(s, x) = exp(-scale²‖s - x‖²/2).

With two classes the coefficients of one are those of the other with the opposite sign, and f = f_1 - f_0 is the
function of the binary form of a method. A step τ towards class y and away from r adds τ/2 to a_y and takes τ/2 from
a_r: it changes the margin f_y - f_r by τ k(x, x) = τ, as it changes y f in the binary form. So the same code serves two
classes and more, and nothing has to be converted when a class is added.
"""

import math

import numpy as np

from driftline._jit import kernel, summing_kernel
from driftline.core.schema import ArraySpec, Schema, whole_numbers
from driftline.core.state import ArrayState
from driftline.types import LARGEST_VALUE, Indices, Labels, Matrix, Vector


@summing_kernel
def squared_distance(A: Matrix, i: int, x: Vector) -> float:
    """Return ‖A_i - x‖²."""
    total = 0.0
    for j in range(x.size):
        total += (A[i, j] - x[j]) ** 2
    return total


@kernel
def gaussian_row(x: Vector, supports: Matrix, size: int, scale: float, row: Vector) -> None:
    """Write k(sᵢ, x) for the first `size` supports to `row`."""
    for i in range(size):
        row[i] = math.exp(-0.5 * scale**2 * squared_distance(supports, i, x))


@kernel
def class_scores(row: Vector, size: int, weights: Matrix, scores: Vector) -> None:
    """Write f_y = Σᵢ a_yi rowᵢ for each class y to `scores`."""
    for y in range(scores.size):
        total = 0.0
        for i in range(size):
            total += weights[y, i] * row[i]
        scores[y] = total


@kernel
def predicted_class(scores: Vector) -> int:
    """Return the class with the largest score; on ties the first, but of two classes the second: f ≥ 0 means +1."""
    if scores.size == 2:
        return 1 if scores[1] >= scores[0] else 0
    return int(np.argmax(scores))


@kernel
def best_other_class(scores: Vector, y: int) -> int:
    """Return the class other than y with the largest score, the first on ties; -1 if there is no other."""
    best = -1
    for r in range(scores.size):
        if r != y and (best < 0 or scores[r] > scores[best]):
            best = r
    return best


@kernel
def predict_rows(Z: Matrix, supports: Matrix, size: int, weights: Matrix, offsets: Vector, scale: float) -> Labels:
    """Return the class with the largest f_y + b_y for each row."""
    predictions = np.empty(len(Z), np.int64)
    row, scores = np.empty(len(supports)), np.empty(len(weights))
    for t in range(len(Z)):
        gaussian_row(Z[t], supports, size, scale, row)
        class_scores(row, size, weights, scores)
        predictions[t] = predicted_class(scores + offsets)
    return predictions


class SupportSet(ArrayState):
    """The supports, their coefficients, and predictions from them.

    Parameters
    ----------
    n_columns : int
        Number of columns of an instance.
    capacity : int
        Largest number of supports.
    scale : float
        Scale of the Gaussian kernel.
    """

    def __init__(self, n_columns: int, capacity: int, scale: float) -> None:
        self._supports = np.zeros((capacity, n_columns))
        self._weights = np.zeros((0, capacity))
        self._count: Indices = np.zeros(1, np.int64)
        """Number of supports added so far, including those that were replaced."""
        self._scale = scale

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return {
            "supports": ArraySpec(self._supports.shape, low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "weights": ArraySpec(self._weights.shape),
            "count": whole_numbers((1,)),
        }

    @property
    def size(self) -> int:
        """Number of supports."""
        return min(int(self._count[0]), len(self._supports))

    def add_classes(self, n: int) -> None:
        """Add n classes with coefficients 0."""
        self._weights = np.pad(self._weights, ((0, n), (0, 0)))

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row."""
        offsets = np.zeros(len(self._weights))
        return predict_rows(Z, self._supports, self.size, self._weights, offsets, self._scale)
