"""Do runs, several at a time, with progress; a run that fails gives the reason instead of a result."""

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from joblib import Parallel, delayed, parallel_config

from driftline.errors import BusyError, CheckpointError, ConfigError, DriftlineError, MissingExtraError
from driftline.evaluation.records import arrow, list_record_files
from driftline.evaluation.run_checkpoint import locked_folder
from driftline.experiments.code_digest import code_digest, is_stale
from driftline.experiments.experiment_runs import ExperimentRun
from driftline.experiments.result_store import KeptResult, ResultStore
from driftline.streams.catalogue import describe, names
from driftline.utils.progress import ProgressBar

DISPLAY_INTERVAL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run gave: a result and what made it, or the reason why there is no result."""

    run: ExperimentRun
    result: dict[str, Any] | None
    reason: str = ""
    made: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunExecutor:
    """How runs are done.

    Attributes
    ----------
    store : ResultStore
        Results that are there already; new results are added.
    jobs : int
        Number of processes; -1 for as many as there are cores.
    backend : str
        Name of a joblib backend; "dask" and "ray" use a cluster.
    resume : bool
        Use the results in the store, and continue runs that were interrupted; if False, every run starts again.
    run : bool
        Do the runs that have no result; if False, the reason is "not run yet".
    rerun_stale : bool
        Repeat the runs whose results in the store are stale; if False, these results are used.
    progress : bool
        Show a progress bar on the standard error.
    """

    store: ResultStore
    jobs: int = 1
    backend: str = "loky"
    resume: bool = True
    run: bool = True
    rerun_stale: bool = False
    progress: bool = True

    def progress_bar(self, description: str, n_runs: int) -> ProgressBar:
        """Return a progress bar for `n_runs` runs."""
        return ProgressBar(description, n_runs, unit="runs", shown=self.progress and self.run)

    def outcomes(self, experiment: str, runs: Iterable[ExperimentRun], bar: ProgressBar) -> dict[str, RunOutcome]:
        """Return the outcomes of runs, by their keys: from the store, or done now and kept there.

        Parameters
        ----------
        experiment : str
            Name of the experiment, in whose file new results are kept.
        runs : iterable of ExperimentRun
            The runs; a run that is listed several times is done once.
        bar : ProgressBar
            Advanced by one for each run.

        Returns
        -------
        dict of str to RunOutcome
            One for each run.
        """
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise ConfigError(f"jobs must be a whole number, -1 for as many as there are cores; got {self.jobs!r}")
        wanted = {run.key: run for run in runs}
        kept = {key: self._usable_result(run) for key, run in wanted.items()} if self.resume else {}
        outcomes = {key: RunOutcome(wanted[key], one.result, made=one.made) for key, one in kept.items() if one}
        missing = [run for key, run in wanted.items() if key not in outcomes]
        if not self.run:
            return outcomes | {run.key: RunOutcome(run, None, _reason_not_run(run)) for run in missing}
        bar.advance(len(outcomes))
        if missing:
            outcomes |= self._run_all(experiment, missing, bar)
        return outcomes

    def _usable_result(self, run: ExperimentRun) -> KeptResult | None:
        kept = self.store.read(run)
        return None if kept is None or (self.rerun_stale and is_stale(run.model, kept.made)) else kept

    def _run_all(self, experiment: str, runs: list[ExperimentRun], bar: ProgressBar) -> dict[str, RunOutcome]:
        arrow()  # evaluations keep records, for which pyarrow must be installed
        outcomes = {}
        if not self.resume:
            for run in runs:
                _remove_unless_busy(self.store.unfinished_folder(run))
        with ActiveRunDisplay(bar, runs, self.store), _joblib(self.backend, self.jobs) as parallel:
            for outcome in parallel(delayed(_run_and_keep)(experiment, run, self.store) for run in runs):
                run, reason = outcome.run, outcome.reason
                outcomes[run.key] = outcome
                bar.advance(1, f"{run.model} on {run.stream}" + (f": {reason}" if reason else ""))
        return outcomes


@contextmanager
def _joblib(backend: str, jobs: int) -> Iterator[Parallel]:
    """Yield a joblib `Parallel` on this machine or on a cluster."""
    if backend in CLUSTERS:
        CLUSTERS[backend]()
    try:
        context = parallel_config(backend=backend, n_jobs=jobs)
    except ValueError as error:
        raise ConfigError(f"there is no backend {backend!r}: {error}") from error
    with context:
        try:
            parallel = Parallel(return_as="generator_unordered")
        except ValueError:  # some backends return all results at the end
            parallel = Parallel()
        yield parallel


@cache
def _connect_dask() -> None:
    try:
        from distributed import Client  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError("the backend dask needs its scheduler; pip install distributed") from error
    Client()  # the cluster at DASK_SCHEDULER_ADDRESS, otherwise a local one


@cache
def _connect_ray() -> None:
    try:
        from ray.util.joblib import register_ray  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError("the backend ray needs ray; pip install ray") from error
    register_ray()  # the cluster at RAY_ADDRESS


CLUSTERS = {"dask": _connect_dask, "ray": _connect_ray}


class ActiveRunDisplay:
    """A thread that shows beside a progress bar which runs are active, with the number of rows done if it is known."""

    def __init__(self, bar: ProgressBar, runs: Sequence[ExperimentRun], store: ResultStore) -> None:
        self._bar, self._runs, self._store = bar, runs, store
        self._started = time.time()
        self._ended = Event()
        self._thread = Thread(target=self._update, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _update(self) -> None:
        while not self._ended.wait(DISPLAY_INTERVAL_SECONDS):
            note = ", ".join(active_runs(self._runs, self._store, self._started))
            if note:
                self._bar.advance(0, note)


def active_runs(runs: Iterable[ExperimentRun], store: ResultStore, since: float) -> list[str]:
    """Return the runs whose state was written after a time and that are not finished, each with its number of rows."""
    active = []
    for run in runs:
        folder = store.unfinished_folder(run)
        try:
            if max(path.stat().st_mtime for path in (folder, *folder.glob("records"))) >= since:
                parts = list_record_files(folder / "records")
                active.append(f"{run.model} on {run.stream}" + (f", row {parts[-1].end:,}" if parts else ""))
        except (OSError, CheckpointError):  # the run has just finished, or is merging its parts
            continue
    return active


def _reason_not_run(run: ExperimentRun) -> str:
    is_available = run.stream not in names() or describe(run.stream).measured is not None
    return "not run yet" if is_available else "the file was not available"


def _run_and_keep(experiment: str, run: ExperimentRun, store: ResultStore) -> RunOutcome:
    """Do a run and keep its result; any error becomes the reason why there is none, so that the other runs go on."""
    code, unfinished = code_digest(run.model), store.unfinished_folder(run)
    try:
        result = _continue_or_restart(run, unfinished)
        kept = store.write(experiment, run, result, code)
    except Exception as error:  # any classifier may raise anything
        if unfinished.is_dir() and not any(unfinished.iterdir()):
            unfinished.rmdir()
        kind, text = type(error).__name__, str(error).partition("\n")[0]
        reason = text if isinstance(error, DriftlineError) else f"{kind}: {text}" if text else kind
        return RunOutcome(run, None, reason)
    shutil.rmtree(unfinished, ignore_errors=True)
    return RunOutcome(run, kept.result, made=kept.made)


def _remove_unless_busy(unfinished: Path) -> None:
    """Remove the state of a run, unless another process is doing this run."""
    if unfinished.exists():
        with suppress(BusyError), locked_folder(unfinished):
            shutil.rmtree(unfinished)


def _continue_or_restart(run: ExperimentRun, unfinished: Path) -> dict[str, Any]:
    """Continue a run from its state, or start it again if the state cannot be used."""
    unfinished.mkdir(parents=True, exist_ok=True)
    try:
        return run.perform(unfinished)
    except BusyError:  # another process does the same run for another experiment: its state must stay
        raise
    except CheckpointError:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        return run.perform(unfinished)
