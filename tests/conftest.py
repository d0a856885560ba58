import gc
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from driftline import AMRC, PaperAMRC, baselines
from driftline.evaluation import evaluate
from driftline.streams import ArrayStream
from driftline.streams.catalogue import describe
from helpers.quick_models import KINDS, small_stream

settings.register_profile("thorough", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=40)
settings.load_profile("quick")  # make test-all chooses the other one


def use_amrc():
    AMRC().partial_fit(*small_stream()).predict(small_stream()[0])


def use_other_methods():
    PaperAMRC().partial_fit(*small_stream()).predict(small_stream()[0])
    for name in baselines.__all__:
        evaluate(getattr(baselines, name)(), ArrayStream(*small_stream()), progress=False)


def pytest_sessionstart():
    """Compile the kernels of some methods in each of the first two processes; the others find them in numba's cache.

    Otherwise all processes would begin with the same kernels, and in a fresh clone compile them at the same time. They
    begin with tests when the last of them is done; AMRC takes about as long as all other methods.
    """
    gc.set_threshold(10_000)  # the compiler keeps so many objects that looking for garbage takes a tenth of the time
    use = {"gw0": use_amrc, "gw1": use_other_methods}.get(os.environ.get("PYTEST_XDIST_WORKER", ""))
    if use is not None:
        use()


@pytest.fixture(scope="session", params=KINDS.values(), ids=KINDS)
def make(request):
    """Return a function that makes an estimator: each kind in turn."""
    return request.param


@pytest.fixture(scope="module")
def browser():
    """Return the browser chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright; pip install playwright")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs the browser chromium")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


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
def interruptible():
    """Let Ctrl-C raise KeyboardInterrupt, also in tests that run in the background, where the signal is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
