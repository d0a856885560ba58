"""Compiling ahead: afterwards, no process has anything left to compile."""

import os
import subprocess
import sys

import pytest

USE_CLASSIFIERS = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from driftline import AMRC, PaperAMRC
from driftline.fleet import AMRCFleet
from driftline.registry import create, describe, names

rng = np.random.default_rng(1)
for n_classes in (2, 3):
    y = rng.integers(n_classes, size=130)
    X = rng.normal(size=(130, 5)) + y[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    models = [AMRC(), AMRC(features="linear"), AMRC(n_components=2), PaperAMRC(), PaperAMRC(widened=True)]
    for model in models + [create(name) for name in names() if describe(name).is_ours]:
        for start in range(0, 130, 10):
            model.partial_fit(X[start : start + 10], y[start : start + 10], timestamps=np.arange(start, start + 10))
            model.predict(X[:1])
        model.save("model.driftline")
        type(model).load("model.driftline").prequential(X, y, timestamps=np.arange(130, 260))
    for features in ("auto", "linear", "fourier"):
        fleet = AMRCFleet(5, range(n_classes), features=features)
        for start in range(0, 130, 10):
            fleet.step(X[start : start + 10], y[start : start + 10], np.arange(10) % 3)
        fleet.observe(X[:1], [0], ["late"])
        fleet.label([0], ["late"], y[:1])
        fleet.set_key_state(1, fleet.key_state(0)).predict_with_guarantees(X, np.arange(130))
        fleet.model(0).partial_fit(X[:1], y[:1])
kernels = {each for module in list(sys.modules.values()) if module.__name__.startswith("driftline")
           for each in vars(module).values() if isinstance(each, Dispatcher)}
print(sum(sum(each.stats.cache_hits.values()) for each in kernels))
print([each.__name__ for each in kernels if each.stats.cache_misses])
"""


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], env=os.environ | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_after_warm_up_classifiers_compile_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    left = run("-m", "driftline", "warm-up", NUMBA_CACHE_DIR="cache")
    assert left.returncode == 0, left.stderr
    assert str(tmp_path / "cache") in left.stdout
    n_loaded, compiled = run("-c", USE_CLASSIFIERS, NUMBA_CACHE_DIR="cache").stdout.splitlines()
    assert int(n_loaded) > 30
    assert compiled == "[]"


def test_a_cache_that_cannot_be_written_is_a_failure(tmp_path):
    (tmp_path / "cache").touch()
    left = run("-m", "driftline", "warm-up", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (left.returncode, left.stdout) == (1, "")
    (line,) = left.stderr.splitlines()
    assert line.startswith("driftline: compiled kernels cannot be saved: ")
    assert line.endswith("set NUMBA_CACHE_DIR to a folder that can be written")


def test_without_compilation_there_is_nothing_to_warm_up(command, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert command("warm-up") == (2, "", "driftline: NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it\n")


def test_the_folders_of_the_code_are_shown_unless_it_is_quiet(command, monkeypatch):
    monkeypatch.setattr("driftline.cli.warm_up.names", lambda: ("dwm",))
    left = command("warm-up")
    assert left.code == 0
    folders = [line.strip() for line in left.out.splitlines()[1:]]
    assert folders
    assert all(map(os.path.isdir, folders))
    assert command("warm-up", "--quiet") == (0, "", "")
