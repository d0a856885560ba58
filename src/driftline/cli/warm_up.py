"""The command ``driftline warm-up``: compile all kernels ahead, so that no later process has to."""

import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from driftline import AMRC
from driftline._jit import folders_in_use, unsaved
from driftline.cli.output import print_line
from driftline.errors import ConfigError, DriftlineError
from driftline.evaluation.logistic_baseline import LogisticBaseline
from driftline.fleet import AMRCFleet
from driftline.kernels.vectors import norm
from driftline.registry import create, describe, names
from driftline.types import LabelArray, Matrix
from driftline.utils.progress import ProgressBar

N_ROWS, N_COLUMNS = 150, 3
"""Size of the stream that the classifiers learn; some use other kernels after 100 rows."""


def warm_up(*, quiet: bool) -> None:
    """Compile and save the kernels that driftline's classifiers need, and print where they are.

    Two processes share the work: few kernels of the default classifiers and of fleets are also those of others.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        raise ConfigError("NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it")
    start = time.perf_counter()
    wanted = [name for name in names() if describe(name).is_ours]
    _check_that_code_can_be_saved()
    with ProgressBar("compiling", len(wanted), unit="classifiers", shown=not quiet) as bar, ExitStack() as stack:
        defaults, others = (stack.enter_context(_compiler()) for _ in range(2))
        left = {(defaults if _is_default(name) else others).submit(_compile, name): name for name in wanted}
        left |= {defaults.submit(_compile_fleets): "fleets", others.submit(_compile_logistic_baseline): "baseline"}
        folders = set(folders_in_use)
        for future in as_completed(left):
            folders |= future.result()
            if left[future] in wanted:
                bar.advance(1, left[future])
    if not quiet:
        print_line(f"{len(wanted)} classifiers are compiled ({time.perf_counter() - start:.0f} s); their code is in")
        for folder in sorted(folders):
            print_line(f"  {folder}")


@contextmanager
def _compiler() -> Iterator[ProcessPoolExecutor]:
    """Yield another process, which is not asked for more if an exception ends the wait for it."""
    # Code that cannot be saved is an error here, so that the warning is not needed.
    executor = ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), initializer=warnings.simplefilter, initargs=("ignore",)
    )
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _check_that_code_can_be_saved() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        norm(np.ones((1, 1)), 0)  # compiled in a second
    _check_saved()


def _is_default(name: str) -> bool:
    return isinstance(create(name), AMRC)


def _compile(name: str) -> set[Path]:
    """Compile the kernels of a classifier; return the folders that they are in."""
    for n_classes in (2, 3):
        _use_all_methods(create(name), n_classes)
        if "label_memory" in describe(name).parameters:
            _use_all_methods(create(name, label_memory=True), n_classes)
        if "costs" in describe(name).parameters:
            _use_all_methods(create(name, costs={}), n_classes)
    _check_saved()
    return folders_in_use


def _compile_fleets() -> set[Path]:
    """Compile the kernels of fleets; return the folders that they are in."""
    for n_classes in (2, 3):
        _use_fleet(n_classes)
    _check_saved()
    return folders_in_use


def _compile_logistic_baseline() -> set[Path]:
    """Compile the logistic regression that every evaluation runs; return the folders that its kernels are in."""
    X, y = _small_stream(2)
    baseline = LogisticBaseline(N_COLUMNS)
    baseline.predict_then_learn(X, y)
    baseline.predict(X[0], y.tolist()[0])
    _check_saved()
    return folders_in_use


def _check_saved() -> None:
    if unsaved:
        raise DriftlineError(
            f"compiled kernels cannot be saved: {unsaved[0]}; set NUMBA_CACHE_DIR to a folder that can be written"
        )


def _use_all_methods(model: Any, n_classes: int) -> None:
    """Call all methods of a classifier that run kernels, so that they are compiled."""
    X, y = _small_stream(n_classes)
    model.partial_fit(X, y).prequential(X, y)
    model.assess(X, y)
    model.predict(X)
    X.flags.writeable = False
    model.predict(X)  # numba compiles kernels for arrays that are read-only separately
    if hasattr(model, "predict_proba"):
        model.predict_proba(X)
    if hasattr(model, "decide"):
        model.decide(X)
        model.error_interval()
    if hasattr(model, "observe"):
        model.observe(X[:2]).partial_fit(X[:2], y[:2])
        model.drift()
        model.add_columns(1).partial_fit(np.pad(X, ((0, 0), (0, 1))), y)


def _use_fleet(n_classes: int) -> None:
    """Call the methods of a fleet that run kernels."""
    X, y = _small_stream(n_classes)
    keys = np.arange(len(X)) % 2
    for features in ("auto", "linear", "fourier"):
        fleet = AMRCFleet(N_COLUMNS, np.arange(n_classes), features=features)
        fleet.step(X, y, keys)
        fleet.observe(X[:2], keys[:2], ["first", "second"])
        fleet.label(keys[:2], ["first", "second"], y[:2])
        fleet.predict(X, keys)
        fleet.set_key_state(0, fleet.key_state(1)).model(0).drift()
        fleet.status()


def _small_stream(n_classes: int) -> tuple[Matrix, LabelArray]:
    """Return some rows with missing values, and labels of which the last class joins late."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_ROWS, N_COLUMNS)), rng.integers(n_classes, size=N_ROWS)
    X[20, 0], y[:40] = np.nan, rng.integers(n_classes - 1, size=40)
    return X + 2.0 * y[:, np.newaxis], y
