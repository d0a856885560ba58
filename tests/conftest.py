import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("driftline", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("driftline")


@pytest.fixture
def real_stream():
    """Return a function that reads a stream of $DRIFTLINE_DATA, or skip, saying so."""
    folder = os.environ.get("DRIFTLINE_DATA")

    def read(name):
        path = Path(folder or "") / f"{name}.npz"
        if not folder or not path.exists():
            pytest.skip(f"needs {name}.npz in the folder that DRIFTLINE_DATA names")
        with np.load(path) as data:
            return data["X"].astype(float), data["y"].astype(int)

    return read
