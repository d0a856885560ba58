"""A CSV file with numbers, categories, times and labels, of a stream in which one class moves."""

from pathlib import Path

import numpy as np

from driftline.streams import MovingClass


def write_rows(path, n_rows=300, seed=0, first=0):
    """Write `n_rows` rows of the stream, starting at the row `first`."""
    X, y = MovingClass().sample(first + n_rows, seed=seed)
    rng = np.random.default_rng(seed)
    lines = ["x,colour,y,when,class"]
    for t in range(first, first + n_rows):
        colour = "red" if X[t, 0] + rng.normal() > 0 else "blue"
        lines.append(f"{X[t, 0]:.4f},{colour},{X[t, 1]:.4f},{60 * t},{'moving' if y[t] == 0 else 'still'}")
    Path(path).write_text("\n".join(lines) + "\n")
