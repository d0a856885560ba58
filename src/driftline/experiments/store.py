"""What runs gave, a file each: what is done once is not done again."""

import hashlib
import json
import os
import platform
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import driftline
from driftline import __version__
from driftline.errors import CheckpointError
from driftline.experiments.runs import Task
from driftline.utils.atomic_write import replacing

PACKAGES = ("numpy", "numba", "scikit-learn")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run gave, and when and with what it was made."""

    result: dict[str, Any]
    made: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of results; each file says what was run, by which version, when, and what it gave.

    A result belongs to a run and to a version of driftline: another version begins anew.

    Attributes
    ----------
    folder : Path
        Where they are.
    """

    folder: Path

    def read(self, run: Task) -> "Kept | None":
        """Return what a run gave; None if it is not there.

        Parameters
        ----------
        run : Task
            The run.

        Returns
        -------
        Kept or None
            The result, and what it was made with.
        """
        path = self.path(run)
        if not path.exists():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            known, made_by, digest = (content[name] for name in ("run", "driftline", "sha256"))
            kept = Kept(dict(content["result"]), dict(content["made"]))
        except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
            raise CheckpointError(f"{path} is no result of a run, or is damaged ({error}); delete it") from error
        if digest != _digest(content):
            raise CheckpointError(f"{path} is damaged: its checksum does not match; delete it")
        if known != run.to_dict() or made_by != __version__:
            return None
        return kept

    def write(self, run: Task, result: dict[str, Any]) -> Kept:
        """Keep what a run gave.

        Parameters
        ----------
        run : Task
            The run.
        result : dict
            Values that JSON knows.

        Returns
        -------
        Kept
            The same, with what it was made with.
        """
        made = {
            "date": str(date.today()),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "source": source_digest(),
            **{package: version(package) for package in PACKAGES},
        }
        content = {"run": run.to_dict(), "driftline": __version__, "made": made, "result": result}
        content["sha256"] = _digest(content)
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.path(run)) as file:
            file.write((json.dumps(content, indent=1) + "\n").encode())
        return Kept(result, made)

    def path(self, run: Task) -> Path:
        """Return where the result of a run is kept: a name to read, and a key."""
        return self.folder / f"{run.work}-{run.model}-{run.stream}-{run.key}.json"

    def partial(self, run: Task) -> Path:
        """Return a folder for the state of a run that is not done, by this version."""
        return self.folder / "unfinished" / __version__ / f"{run.model}-{run.stream}-{run.key}"


@cache
def source_digest() -> str:
    """Return a digest of the source of driftline, which tells more than its version while that is being worked on."""
    digest = hashlib.sha256()
    for path in sorted(Path(driftline.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _digest(content: dict[str, Any]) -> str:
    """Return a digest of all that a file says but for the digest."""
    said = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
