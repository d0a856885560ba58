"""Load randomly altered model files in a child process that is watched, and use those that load.

`python -m helpers.fuzz_models --files 100000` makes so many files, whose checksums match, and fails if a file ends the
process, raises an error that is not driftline's own, takes too long, or loads as a model that gives a number outside
its range. Each file depends on the seed and its number alone: `--first N --files 1` makes it again.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from driftline import AMRC, CheckpointError, PaperAMRC, baselines
from driftline.guarantees import Guarantees
from driftline.registry import load_model
from driftline.types import Status
from helpers.model_files import read_model_file
from helpers.model_mutations import mutate
from helpers.quick_models import small_stream

try:
    import resource
except ModuleNotFoundError:  # Windows has no limits of this kind
    resource = None

MAX_SECONDS = 120
"""A file that takes longer than this is a failure."""
MAX_MEMORY = 8 * 2**30
"""Limit on the memory of the child, so that a file that makes it allocate without limit fails."""
TOLERANCE = 1e-6
"""Rounding that sums of probabilities may have."""


def small_baseline(name):
    model = getattr(baselines, name)()
    return model.set_params(**{key: SMALL[key] for key in SMALL.keys() & model.get_params().keys()})


QUICK = {"n_iterations": 20, "n_subgradients": 8, "label_window": 30}
SMALL = {"budget": 5, "n_components": 3, "window": 4, "max_experts": 4, "period": 10}
BY_CLASS = Guarantees(({0: 0.1, 1: 0.3}, 0.2), (0.9, 0.6), tolerated=0.5, per_class=True, allows_empty=False)
KINDS_OF_MODELS = {
    "amrc": lambda: AMRC(features="linear"),
    "amrc-by-class": lambda: AMRC(features="linear", guarantees=BY_CLASS),
    "amrc-labels": lambda: AMRC(features="linear", label_memory=True),
    "amrc-costs": lambda: AMRC(features="linear", costs={0: {1: 5}}, class_weight="balanced"),
    "amrc-fourier": lambda: AMRC(n_components=3, deterministic=False),
    "paper": lambda: PaperAMRC(n_components=3, scaling="running", **QUICK),
    "paper-file": lambda: PaperAMRC(features="linear", scaling="file", order=2, label_variance="sample", **QUICK),
    "paper-widened": lambda: PaperAMRC(features="linear", scaling="none", widened=True, unobserved="hold", **QUICK),
    "paper-exact": lambda: PaperAMRC(features="linear", solver="exact", n_subgradients=4, scaling="running"),
    **{name: partial(small_baseline, name) for name in baselines.__all__},
}


def begun_models():
    """Return models of all kinds that have learned a few rows."""
    X, y = small_stream(n_classes=3)
    models = {name: make() for name, make in KINDS_OF_MODELS.items()}
    for name, model in models.items():
        model.partial_fit(X, y, timestamps=np.arange(60.0) if name in ("amrc", "paper") else None)
    models["amrc"].add_columns(1).observe(np.pad(X[:4], ((0, 0), (0, 1)), constant_values=np.nan))
    models["amrc-labels"].observe(X[:4])
    models["amrc-by-class"].observe(X[:4], ids=["a", "b", 3, 4.5])
    return models


def check_model(model):
    """Use a model in every way, and assert that all numbers it gives are in their ranges."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, model.n_features_in_)) * np.array([1, 1, 3, 1e10, 0, 1])[:, None]
    X[5, 0] = np.nan
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        import pandas as pd  # noqa: PLC0415

        X = pd.DataFrame(X, columns=names)
    check_figures(model, X)
    known = model.classes_
    learned = known[rng.integers(len(known), size=6)]
    predictions = model.prequential(X, learned, timestamps=next_times(model, 6))
    assert np.isin(predictions.predicted, known).all()
    check_figures(model, X)
    if isinstance(model, AMRC):
        model.observe(X)
        model.partial_fit(X, learned, timestamps=next_times(model, 6))
        check_figures(model, X)
        model.drift()
    new = known[:1] + "!" if known.dtype.kind == "U" else np.array([12345.0])
    if known.dtype.kind in "Uif":
        model.partial_fit(X[:1], new, timestamps=next_times(model, 1))
        check_figures(model, X)


def next_times(model, n):
    return None if model._last_time is None else model._last_time + np.arange(n)


def check_figures(model, X):
    assert np.isin(model.predict(X), model.classes_).all()
    assert 0 <= model.n_steps_ <= 2**60, model.n_steps_
    assert model.n_missing_ >= 0
    c = len(model.classes_)
    if not isinstance(model, AMRC | PaperAMRC):
        return
    h = model.predict_proba(X)
    assert h.shape == (len(X), c)
    assert ((h >= 0) & (h <= 1)).all(), h
    assert np.allclose(h.sum(axis=1), 1, rtol=0, atol=TOLERANCE), h
    status = model.bound_status_
    if status is Status.OK:
        assert -TOLERANCE <= model.error_bound_ <= 1 - 1 / c + TOLERANCE, model.error_bound_
    assert 0 <= model.calibrated_bound_ <= 1, model.calibrated_bound_
    assert 0 <= model.mistake_bound() <= model.n_steps_ or isinstance(model, PaperAMRC), model.mistake_bound()
    if isinstance(model, AMRC):
        assert status is not Status.EMPTY  # it is loose if the altered figures say that the rule is worse than guessing
        assert 0 <= model.rate_bound_ <= 1, model.rate_bound_
        assert 0 <= model.model_bound_ <= 1, model.model_bound_
        members = model.members_
        assert ((members["weight"] >= 0) & (members["weight"] <= 1)).all()
        assert ((members["bound"] >= 0) & (members["bound"] <= 1)).all()
        check_guarantees(model, X)


def check_guarantees(model, X):
    """Assert that all that is said of rows and of the past is in its range, and that it can be said."""
    guarantees = model._learner.tracker.guarantees
    for array in (model.predict_confidence(X), model.predict_bound(X)):
        assert ((array >= 0) & (array <= 1)).all(), array
    for error in guarantees.errors:
        decided = model.decide(X, error)
        assert np.isin(decided.data, model.classes_).all()
        check_interval(model.answered_error(error))
    for coverage in guarantees.coverages:
        sets = model.predict_set(X, coverage)
        assert sets.shape == (len(X), len(model.classes_))
        assert guarantees.allows_empty or sets.any(axis=1).all()
    check_interval(model.error_interval())
    check_interval(model.error_interval(last=100))
    for label in model.classes_.tolist():
        check_interval(model.error_interval(label=label))
        check_interval(model.error_interval(predicted=label))
    if model.alarm_ is not None:
        assert 0 <= model.alarm_.error <= 1, model.alarm_


def check_interval(interval):
    assert 0 <= interval.n_wrong <= interval.n_rows, interval
    assert 0 <= interval.low <= interval.high <= 1, interval


def run_child(seed, first, n_files, folder):
    """Make and load files; write the number of each file before it, and count what became of them."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    warnings.simplefilter("ignore")
    originals = {}
    for name, model in begun_models().items():
        path = folder / f"{name}.driftline"
        model.save(path)
        originals[name] = read_model_file(path)
        check_model(load_model(path))
    names = sorted(originals)
    print(json.dumps({"ready": names}), flush=True)
    path, again = folder / "altered.driftline", folder / "again.driftline"
    for number in range(first, first + n_files):
        rng = np.random.default_rng([seed, number])
        name = names[rng.integers(len(names))]
        if resource is not None:
            signal.alarm(MAX_SECONDS)  # which ends the process
        print(json.dumps({"file": number, "model": name}), flush=True)
        mutate(rng, *originals[name], path)
        try:
            model = load_model(path)
        except CheckpointError as error:
            print(json.dumps({"refused": str(error)[:300]}), flush=True)
            continue
        check_model(model)
        model.save(again)
        try:
            load_model(again)
        except CheckpointError as error:
            print(json.dumps({"refused_again": str(error)[:300]}), flush=True)
        print(json.dumps({"loaded": True}), flush=True)


def fuzz(n_files, seed=0, first=0, report=lambda counts: None):
    """Run the child over the files, again after each failure; return the counts and the failures."""
    counts, failures = Counter(), []
    end = first + n_files
    while first < end and len(failures) < 20:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "helpers.fuzz_models", "--child", folder, "--seed", str(seed)]
            command += ["--first", str(first), "--files", str(end - first)]
            first = watch(command, first, counts, failures, report)
    return counts, failures


def watch(command, first, counts, failures, report):
    """Count what a child says until it ends; return the number of the file to go on with."""
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=Path(__file__).parent.parent
        )
        current = {"file": first - 1}
        for line in child.stdout:
            said = json.loads(line)
            if "file" in said:
                current = said
                counts["files"] += 1
            counts.update({key for key in ("refused", "loaded", "refused_again") if key in said})
            if counts["files"] % 1000 == 0 and "file" in said:
                report(counts)
        code = child.wait()
        if code != 0:
            errors.seek(0)
            failures.append(current | {"exit": code, "error": errors.read()[-1500:]})
    if code != 0 and current["file"] < first:
        raise RuntimeError(f"no file was made or loaded: {failures[-1]['error']}")
    return current["file"] + 1 if code != 0 else sys.maxsize


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--child", type=Path)
    given = parser.parse_args()
    if given.child:
        import faulthandler  # noqa: PLC0415

        faulthandler.enable()
        run_child(given.seed, given.first, given.files, given.child)
        return
    start = time.monotonic()

    def report(counts):
        print(f"{time.monotonic() - start:7.0f} s  {dict(counts)}", flush=True)

    counts, failures = fuzz(given.files, given.seed, given.first, report)
    report(counts)
    for failure in failures:
        lines = failure.pop("error").strip().splitlines()
        print(failure, *lines[-8:], sep="\n    ")
    print(f"{counts['files']} files: {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
