"""Runs done, several at a time, with progress; what fails says why."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from joblib import Parallel, delayed, parallel_config

from driftline._progress import ProgressBar
from driftline.errors import ConfigError, DriftlineError
from driftline.evaluation.records import list_parts
from driftline.experiments.runs import Task
from driftline.experiments.store import Store
from driftline.streams.catalogue import describe, names

SECONDS = 1.0
"""Between two looks at what is under way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: a result and what it was made with, or why there is none."""

    result: dict[str, Any] | None
    reason: str = ""
    made: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workers:
    """How runs are done.

    Attributes
    ----------
    store : Store
        Where results are, and are kept.
    jobs : int
        How many processes work at the same time; -1 for as many as there are cores.
    backend : str
        That of joblib; "dask" and "ray" reach a cluster where they are registered.
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

    def carry_out(self, runs: Iterable[Task], description: str) -> dict[str, Outcome]:
        """Return what runs gave, by their keys: from the store, or done now and kept there.

        Parameters
        ----------
        runs : iterable of Task
            The runs; the same may come several times, and is done once.
        description : str
            What they are for.

        Returns
        -------
        dict of str to Outcome
            What came of each.
        """
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise ConfigError(f"jobs must be a whole number, -1 for as many as there are cores; got {self.jobs!r}")
        wanted = {run.key: run for run in runs}
        outcomes, todo = {}, []
        for run in wanted.values():
            kept = self.store.read(run) if self.resume else None
            if kept is None:
                todo.append(run)
            else:
                outcomes[run.key] = Outcome(kept.result, made=kept.made)
        if not self.run:
            return outcomes | {run.key: Outcome(None, _absence(run)) for run in todo}
        if not self.resume:
            for run in todo:
                shutil.rmtree(self.store.partial(run), ignore_errors=True)
        try:
            parallel = parallel_config(backend=self.backend, n_jobs=self.jobs)
        except ValueError as error:
            raise ConfigError(f"there is no backend {self.backend!r}: {error}") from error
        bar = ProgressBar(description, len(wanted), unit="runs", shown=self.progress)
        with bar, Watch(bar, todo, self.store), parallel:
            bar.advance(len(outcomes))
            done = Parallel(return_as="generator_unordered")(delayed(_do)(run, self.store) for run in todo)
            for run, outcome in done:
                outcomes[run.key] = outcome
                bar.advance(1, f"{run.model} on {run.stream}" + (f": {outcome.reason}" if outcome.reason else ""))
        return outcomes


class Watch:
    """Says beside a bar which runs are under way, and how far those are that keep records."""

    def __init__(self, bar: ProgressBar, runs: Sequence[Task], store: Store) -> None:
        self._bar, self._runs, self._store = bar, runs, store
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
            note = ", ".join(under_way(self._runs, self._store))
            if note:
                self._bar.advance(0, note)


def under_way(runs: Iterable[Task], store: Store) -> list[str]:
    """Return the runs that have begun and not ended, each with the rows that it has done."""
    said = []
    for run in runs:
        folder = store.partial(run)
        if folder.is_dir():
            parts = list_parts(folder / "records")
            said.append(f"{run.model} on {run.stream}" + (f", row {parts[-1].end:,}" if parts else ""))
    return said


def _absence(run: Task) -> str:
    """Say why a run was not done."""
    at_hand = run.stream not in names() or describe(run.stream).measured is not None
    return "not run yet" if at_hand else "the file was not at hand"


def _do(run: Task, store: Store) -> tuple[Task, Outcome]:
    partial = store.partial(run)
    partial.mkdir(parents=True, exist_ok=True)
    try:
        result = run.perform(partial)
    except (DriftlineError, MemoryError, ArithmeticError) as error:
        if not any(partial.iterdir()):
            partial.rmdir()
        return run, Outcome(None, str(error).splitlines()[0] if str(error) else type(error).__name__)
    kept = store.write(run, result)
    shutil.rmtree(partial, ignore_errors=True)
    return run, Outcome(kept.result, made=kept.made)
