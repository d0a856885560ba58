"""Runs done, several at a time, with progress; what fails says why."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, parallel_config

from driftline._progress import ProgressBar
from driftline.errors import ConfigError, DriftlineError
from driftline.experiments.runs import Run
from driftline.experiments.store import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: a result, or why there is none."""

    result: dict[str, Any] | None
    reason: str = ""


def carry_out(
    runs: Iterable[Run], store: Store, *, jobs: int, backend: str, description: str, progress: bool
) -> dict[str, Outcome]:
    """Return what runs gave, by their keys: from the store, or done now and kept there."""
    wanted = {run.key: run for run in runs}
    outcomes, todo = {}, []
    for run in wanted.values():
        result = store.read(run)
        if result is None:
            todo.append(run)
        else:
            outcomes[run.key] = Outcome(result)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise ConfigError(f"jobs must be a whole number, -1 for as many as there are cores; got {jobs!r}")
    bar = ProgressBar(description, len(wanted), unit="runs", shown=progress)
    try:
        parallel = parallel_config(backend=backend, n_jobs=jobs)
    except ValueError as error:
        raise ConfigError(f"there is no backend {backend!r}: {error}") from error
    with bar, parallel:
        bar.advance(len(outcomes))
        done = Parallel(return_as="generator_unordered")(delayed(_do)(run, store) for run in todo)
        for run, outcome in done:
            outcomes[run.key] = outcome
            bar.advance(1, f"{run.model} on {run.stream}" + (f": {outcome.reason}" if outcome.reason else ""))
    return outcomes


def _do(run: Run, store: Store) -> tuple[Run, Outcome]:
    partial = store.partial(run) if run.work == "evaluation" else None
    try:
        result = run.perform(partial)
    except (DriftlineError, MemoryError, ArithmeticError) as error:
        return run, Outcome(None, str(error).splitlines()[0] if str(error) else type(error).__name__)
    store.write(run, result)
    if partial is not None:
        shutil.rmtree(partial, ignore_errors=True)
    return run, Outcome(result)
