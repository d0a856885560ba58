"""A server of PostgreSQL for tests, in a temporary folder."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine

MISSING = "needs PostgreSQL: initdb and pg_ctl, on the path or below /usr/lib/postgresql"


def binaries():
    """Return the folder of the newest programs of PostgreSQL; None if there are none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("pg_ctl")
    folders += [Path(on_path).resolve().parent] if on_path else []
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


class PostgreSQLServer:
    """A server that can be stopped and started again."""

    def __init__(self, folder):
        self._folder, self._bin, self._n_databases = folder, binaries(), 0
        self._user = {}
        if os.getuid() == 0:  # PostgreSQL does not run as root
            nobody = pwd.getpwnam("nobody")
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port = listener.getsockname()[1]
        self._call("initdb", "--no-sync", "--auth=trust", "--username=tester", "--encoding=UTF8", "--locale=C.UTF-8")

    def _call(self, program, *arguments):
        command = [self._bin / program, "-D", self._folder / "data", *arguments]
        with open(self._folder / "log", "ab") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd=self._folder, **self._user)

    def start(self):
        """Start, and wait until it answers."""
        # all that is lost without fsync is lost with the machine, not with the server
        options = f"-p {self._port} -k '' -c listen_addresses=127.0.0.1 -c fsync=off -c timezone=Pacific/Chatham"
        self._call("pg_ctl", "-w", "-o", options, "-l", self._folder / "server.log", "start")

    def stop(self):
        """Stop at once, without ending what has begun."""
        self._call("pg_ctl", "-w", "-m", "immediate", "stop")

    def new_database(self):
        """Create a database, and return its address."""
        self._n_databases += 1
        name, server = f"test{self._n_databases}", f"postgresql+psycopg://tester@127.0.0.1:{self._port}"
        engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        engine.dispose()
        return f"{server}/{name}"


@contextmanager
def running_postgresql():
    """Start a server; it is stopped and removed at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="driftline-postgresql-"))
    try:
        server = PostgreSQLServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
