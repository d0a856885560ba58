"""The command line as a user has it: arguments in, exit code, standard output and standard error out."""

import io
import signal
import sys
from collections import namedtuple

import pytest

from driftline.cli import main
from helpers.csv_stream import write_rows

Left = namedtuple("Left", "code out err")


@pytest.fixture
def command(monkeypatch, capfd):
    """Run `driftline` with some arguments, and perhaps something on the standard input."""

    def run(*arguments, stdin=None):
        monkeypatch.setattr(sys, "argv", ["driftline", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        with pytest.raises(SystemExit) as left:
            main()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return Left(left.value.code or 0, out, err)

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of one's own with a stream, some new rows, and nothing else known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DRIFTLINE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    write_rows("my.csv")
    write_rows("new.csv", 20, first=300)
    return tmp_path


@pytest.fixture
def model(folder, command):
    """A model of that stream."""
    assert command("run", "my.csv", "--label", "class", "--model", "amrc-linear", "--save", "my.driftline").code == 0
    return folder / "my.driftline"
