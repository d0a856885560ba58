"""The AMRC of MRCpy on a published stream: its error, and the time of a step.

    DRIFTLINE_DATA=FOLDER python benchmarks/mrcpy_amrc.py weather [N_ROWS]

MRCpy 3.0.0 fails at its first fit with scikit-learn 1.6 or newer, which driftline needs. Therefore this script needs
a separate environment, `pip install MRCpy 'scikit-learn<1.6'`, and imports nothing of driftline. Columns are scaled to
[0, 1] by the range of the whole file, as in the authors' experiments.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from MRCpy import AMRC


def main(name: str, n_rows: int | None) -> None:
    """Predict each row, then learn it; print the error and the time."""
    with np.load(Path(os.environ["DRIFTLINE_DATA"]) / f"{name}.npz") as data:
        X, y = data["X"].astype(float), data["y"].astype(int)
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    X, y = X[:n_rows], y[:n_rows]
    model = AMRC(n_classes=int(y.max()) + 1, random_state=0)
    mistakes, start = 0, time.perf_counter()
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        mistakes += t == 0 or int(np.ravel(model.predict(x))[0]) != label
        model.fit(x, label)
    seconds = time.perf_counter() - start
    print(f"{name}: {len(y):,} rows, error {mistakes / len(y):.2%}, {1e3 * seconds / len(y):.1f} ms per step")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
