"""Runs done, several at a time, with progress; what fails says why."""

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
from driftline.experiments.runs import Task
from driftline.experiments.store import Store
from driftline.streams.catalogue import describe, names
from driftline.utils.progress import ProgressBar

SECONDS = 1.0
"""Between two looks at what is under way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: a result and what it was made with, or why there is none."""

    result: dict[str, Any] | None
    reason: str = ""
    made: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Workers:
    """How runs are done.

    Attributes
    ----------
    store : Store
        Where results are, and are kept.
    jobs : int
        How many processes work at the same time; -1 for as many as there are cores.
    backend : str
        That of joblib; "dask" and "ray" reach a cluster.
    resume : bool
        Whether what is in the store counts; without it all is run anew.
    run : bool
        Whether to run what is not there; without it, that is said of it.
    progress : bool
        Whether to show a progress bar on the standard error.
    """

    store: Store
    jobs: int = 1
    backend: str = "loky"
    resume: bool = True
    run: bool = True
    progress: bool = True

    def bar(self, description: str, n_runs: int) -> ProgressBar:
        """Return a bar for so many runs."""
        return ProgressBar(description, n_runs, unit="runs", shown=self.progress and self.run)

    def carry_out(self, runs: Iterable[Task], bar: ProgressBar) -> dict[str, Outcome]:
        """Return what runs gave, by their keys: from the store, or done now and kept there.

        Parameters
        ----------
        runs : iterable of Task
            The runs; the same may come several times, and is done once.
        bar : ProgressBar
            Advanced by one for each.

        Returns
        -------
        dict of str to Outcome
            What came of each.
        """
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise ConfigError(f"jobs must be a whole number, -1 for as many as there are cores; got {self.jobs!r}")
        wanted = {run.key: run for run in runs}
        kept = {key: self.store.read(run) for key, run in wanted.items()} if self.resume else {}
        outcomes = {key: Outcome(one.result, made=one.made) for key, one in kept.items() if one is not None}
        todo = [run for key, run in wanted.items() if key not in outcomes]
        if not self.run:
            return outcomes | {run.key: Outcome(None, _absence(run)) for run in todo}
        bar.advance(len(outcomes))
        if todo:
            outcomes |= self._done(todo, bar)
        return outcomes

    def _done(self, todo: list[Task], bar: ProgressBar) -> dict[str, Outcome]:
        """Run them all."""
        arrow()  # evaluations keep records
        outcomes = {}
        if not self.resume:
            for run in todo:
                _clear(self.store.partial(run))
        with Watch(bar, todo, self.store), _joblib(self.backend, self.jobs) as parallel:
            for run, outcome in parallel(delayed(_do)(run, self.store) for run in todo):
                outcomes[run.key] = outcome
                bar.advance(1, f"{run.model} on {run.stream}" + (f": {outcome.reason}" if outcome.reason else ""))
        return outcomes


@contextmanager
def _joblib(backend: str, jobs: int) -> Iterator[Parallel]:
    """Give what runs several tasks at a time, on this machine or on a cluster."""
    if backend in CLUSTERS:
        CLUSTERS[backend]()
    try:
        context = parallel_config(backend=backend, n_jobs=jobs)
    except ValueError as error:
        raise ConfigError(f"there is no backend {backend!r}: {error}") from error
    with context:
        try:
            parallel = Parallel(return_as="generator_unordered")
        except ValueError:  # not every backend hands results over as they come
            parallel = Parallel()
        yield parallel


@cache
def _reach_dask() -> None:
    try:
        from distributed import Client  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError("the backend dask needs its scheduler; pip install distributed") from error
    Client()  # that of DASK_SCHEDULER_ADDRESS, else one on this machine


@cache
def _reach_ray() -> None:
    try:
        from ray.util.joblib import register_ray  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError("the backend ray needs ray; pip install ray") from error
    register_ray()  # the cluster is that of RAY_ADDRESS


CLUSTERS = {"dask": _reach_dask, "ray": _reach_ray}


class Watch:
    """Says beside a bar which runs are under way, and how far those are that keep records."""

    def __init__(self, bar: ProgressBar, runs: Sequence[Task], store: Store) -> None:
        self._bar, self._runs, self._store = bar, runs, store
        self._begun = time.time()
        self._ended = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(SECONDS):
            note = ", ".join(under_way(self._runs, self._store, self._begun))
            if note:
                self._bar.advance(0, note)


def under_way(runs: Iterable[Task], store: Store, since: float) -> list[str]:
    """Return the runs that have gone on since some time and not ended, each with the rows that it has done."""
    said = []
    for run in runs:
        folder = store.partial(run)
        try:
            if max(path.stat().st_mtime for path in (folder, *folder.glob("records"))) >= since:
                parts = list_record_files(folder / "records")
                said.append(f"{run.model} on {run.stream}" + (f", row {parts[-1].end:,}" if parts else ""))
        except (OSError, CheckpointError):  # it has just ended, or is about to merge parts
            continue
    return said


def _absence(run: Task) -> str:
    """Say why a run was not done."""
    at_hand = run.stream not in names() or describe(run.stream).measured is not None
    return "not run yet" if at_hand else "the file was not at hand"


def _do(run: Task, store: Store) -> tuple[Task, Outcome]:
    """Do a run and keep its result; whatever goes wrong with it, the others go on."""
    partial = store.partial(run)
    try:
        result = _performed(run, partial)
        kept = store.write(run, result)
    except Exception as error:  # that of any classifier
        if partial.is_dir() and not any(partial.iterdir()):
            partial.rmdir()
        kind, text = type(error).__name__, str(error).partition("\n")[0]
        return run, Outcome(None, text if isinstance(error, DriftlineError) else f"{kind}: {text}" if text else kind)
    shutil.rmtree(partial, ignore_errors=True)
    return run, Outcome(kept.result, made=kept.made)


def _clear(partial: Path) -> None:
    """Remove what there is of a run, unless another process is doing it."""
    if partial.exists():
        with suppress(BusyError), locked_folder(partial):
            shutil.rmtree(partial)


def _performed(run: Task, partial: Any) -> dict[str, Any]:
    """Go on with a run, or begin it anew where that cannot be."""
    partial.mkdir(parents=True, exist_ok=True)
    try:
        return run.perform(partial)
    except BusyError:  # with the same run, for another table; what it has done must not be cleared away
        raise
    except CheckpointError:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        return run.perform(partial)
