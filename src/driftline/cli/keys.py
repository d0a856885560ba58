"""What the commands of ``driftline keys`` do."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from driftline.cli.output import print_line
from driftline.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from driftline.serve.keys import KeyRing


def create_key(name: str, scopes: Sequence[str], data: Path, database: str | None) -> None:
    """Create a key and print it."""
    found = dict(scope.rpartition("=")[::2] for scope in scopes)
    if "" in found:
        raise ConfigError(f"--scope must be STREAM=ROLE, such as payments=write; got {' '.join(scopes)}")
    _use(data, database, lambda ring: print_line(ring.create(name, found)[1]))


def show_keys(data: Path, database: str | None) -> None:
    """Print the keys, a line for each."""

    def show(ring: "KeyRing") -> None:
        if not ring.keys:
            print_line("there are no keys")
        for key in ring.keys:
            scopes = " ".join(f"{stream}={role}" for stream, role in key.scopes.items())
            print_line(f"{key.id}  {datetime.fromtimestamp(key.created, UTC):%Y-%m-%d}  {key.name}  {scopes}")

    _use(data, database, show)


def revoke_key(key: str, data: Path, database: str | None) -> None:
    """Revoke a key."""
    key_id = key.partition(".")[0]
    _use(data, database, lambda ring: ring.revoke(key_id))
    print_line(f"revoked {key_id}")


def _use(data: Path, database: str | None, call: "Callable[[KeyRing], object]") -> None:
    """Call a function with the keys in a database, or in that of a folder."""
    try:
        from driftline.serve.database import sqlite_folder  # noqa: PLC0415
        from driftline.serve.keys import KeyRing  # noqa: PLC0415  # an extra may be missing
        from driftline.serve.problems import Problem  # noqa: PLC0415
        from driftline.serve.settings import ServerSettings  # noqa: PLC0415
        from driftline.serve.store import Store  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("driftline"):
            raise
        raise MissingExtraError(f"keys need {error.name}; pip install 'driftline[serve]'") from error
    url = ServerSettings(data, database=database).url
    if (folder := sqlite_folder(url)) is not None:
        folder.mkdir(parents=True, exist_ok=True)
    store = Store(url)
    try:
        call(KeyRing(store))
    except Problem as problem:
        raise ConfigError(problem.detail) from problem
    finally:
        store.close()
