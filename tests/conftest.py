import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from driftline.streams.catalogue import describe
from helpers.quick_models import KINDS

settings.register_profile("driftline", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("driftline")


@pytest.fixture(scope="session", params=KINDS.values(), ids=KINDS)
def make(request):
    """Return a function that makes an estimator: each kind in turn."""
    return request.param


@pytest.fixture
def real_file():
    """Return a function that finds a file in $DRIFTLINE_DATA, or skips, saying so."""
    folder = os.environ.get("DRIFTLINE_DATA")

    def find(name):
        path = Path(folder or "") / name
        if not folder or not path.exists():
            pytest.skip(f"needs {name} in the folder that DRIFTLINE_DATA names")
        return path

    return find


@pytest.fixture
def real_arrays(real_file):
    """Return a function that reads the arrays of a published stream as they are stored."""

    def read(name):
        with np.load(real_file(describe(name).file)) as data:
            return data["X"], data["y"]

    return read


@pytest.fixture
def real_stream(real_arrays):
    """Return a function that reads rows and labels of a published stream."""

    def read(name):
        X, y = real_arrays(name)
        return X.astype(float), y.astype(int)

    return read
