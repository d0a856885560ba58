"""Results of runs, kept in one file per experiment, so that no run is repeated without need."""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from driftline import __version__
from driftline.errors import CheckpointError
from driftline.experiments.code_digest import code_digest
from driftline.experiments.experiment_runs import ExperimentRun, run_key
from driftline.utils.atomic_write import remove_leftovers, replacing

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PACKAGES = ("numpy", "numba", "scikit-learn")
"""Packages whose versions are recorded with a result."""
LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class KeptResult:
    """The result of a run, and what made it.

    Attributes
    ----------
    result : dict
        What the run returned.
    made : dict
        Date, versions, machine, and as "code" the digest of the code that made it. Results that were kept before
        digests were recorded have no "code".
    """

    result: dict[str, Any]
    made: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResultStore:
    """A folder with a file of results for each experiment.

    A file is JSON lines, one run per line: the run, the version of driftline, what made the result, the result, and a
    checksum. A run that several experiments use is in the file of the experiment that ran it first. A result that
    other code made is kept until the run is repeated; it is stale (see `code_digest.is_stale`).

    Attributes
    ----------
    folder : Path
        The folder; it is created when the first result is written.
    """

    folder: Path

    def read(self, run: ExperimentRun) -> KeptResult | None:
        """Return the result of a run, or None if there is none.

        Parameters
        ----------
        run : ExperimentRun
            The run.

        Returns
        -------
        KeptResult or None
            The result, stale or not.
        """
        for path in self._files():
            stat = path.stat()
            found = _read_results(path, (stat.st_ino, stat.st_mtime_ns, stat.st_size)).get(run.key)
            if found is not None:
                return found
        return None

    def write(self, experiment: str, run: ExperimentRun, result: dict[str, Any], code: str) -> KeptResult:
        """Keep the result of a run, in place of an earlier one.

        Other processes may write at the same time: each waits for its turn. A process that is killed leaves the file as
        it was before or as it is afterwards.

        Parameters
        ----------
        experiment : str
            Name of the experiment; it names the file, unless another file has a result of this run already.
        run : ExperimentRun
            The run.
        result : dict
            Values that can be written as JSON.
        code : str
            Digest of the code that made it.

        Returns
        -------
        KeptResult
            The result with what made it.
        """
        made = {
            "date": str(date.today()),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "code": code,
            **{package: version(package) for package in PACKAGES},
        }
        content = {"run": run.to_dict(), "driftline": __version__, "made": made, "result": result}
        content["sha256"] = _checksum(content)
        self.folder.mkdir(parents=True, exist_ok=True)
        with _locked(self.folder / LOCK):
            remove_leftovers(self.folder, r"[\w-]+\.jsonl")
            own = self.path(experiment)
            lines_by_file = {path: _lines_by_key(path) for path in self._files()} | ({} if own.exists() else {own: {}})
            target = next((path for path, lines in lines_by_file.items() if run.key in lines), own)
            lines = lines_by_file[target] | {run.key: json.dumps(content).encode()}
            with replacing(target) as file:
                file.write(b"".join(line + b"\n" for line in sorted(lines.values())))
        return _kept_result(content)

    def path(self, experiment: str) -> Path:
        """Return the file of an experiment's results."""
        return self.folder / f"{experiment}.jsonl"

    def unfinished_folder(self, run: ExperimentRun) -> Path:
        """Return the folder for the state of a run that is not finished; other code has another folder."""
        return self.folder / "unfinished" / code_digest(run.model) / f"{run.model}-{run.stream}-{run.key}"

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other process is in this block; the lock ends with the process that holds it."""
    with open(path, "ab") as lock:
        if sys.platform == "win32":
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _lines_by_key(path: Path) -> dict[str | bytes, bytes]:
    """Return the lines of a file by the key of their run; a damaged line, which stays in the file, by itself."""
    lines: dict[str | bytes, bytes] = {}
    for line in path.read_bytes().splitlines():
        try:
            lines[run_key(json.loads(line)["run"])] = line
        except (ValueError, KeyError, TypeError, RecursionError):
            lines[line] = line
    return lines


@lru_cache(maxsize=16)
def _read_results(path: Path, stamp: tuple[int, int, int]) -> dict[str, KeptResult]:
    """Return the results in a file, by the key of their run; `stamp` changes whenever the file is replaced."""
    results = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        where = f"line {number} of {path}"
        try:
            content = json.loads(line)
            key, expected = run_key(content["run"]), content["sha256"]
            results[key] = _kept_result(content)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CheckpointError(f"{where} is not the result of a run, or is damaged ({error}); delete it") from error
        if expected != _checksum(content):
            raise CheckpointError(f"{where} is damaged: its checksum does not match; delete it")
    return results


def _kept_result(content: dict[str, Any]) -> KeptResult:
    return KeptResult(dict(content["result"]), {"driftline": content["driftline"], **content["made"]})


def _checksum(content: dict[str, Any]) -> str:
    """Return the checksum of a line's content, without the checksum itself."""
    covered = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()
