"""Ctrl-C at any moment: exit code 130, one line, and no traceback."""

import subprocess
import sys

import pytest

INTERRUPTED_AT = """
import signal, sys

moment = sys.argv.pop(1)

class InterruptAtImport:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, InterruptAtImport())
from driftline.cli import main
main()
"""


def run_interrupted_at(module):
    run = ["run", "my.csv", "--label", "class", "--model", "dwm"]
    words = [sys.executable, "-c", INTERRUPTED_AT, module, *run]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("module", ["driftline.errors", "typer", "driftline.cli.options", "driftline.cli.run", "numpy"])
def test_an_interrupt_during_start_up_exits_with_130(folder, module):
    left = run_interrupted_at(module)
    assert (left.returncode, left.stdout) == (130, "")
    assert left.stderr in ("", "driftline: interrupted\n")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_that_a_library_turns_into_another_error_exits_with_130(folder):
    left = run_interrupted_at("numba._devicearray")  # which numba reports as an ImportError
    assert (left.returncode, left.stdout) == (130, "")
    assert left.stderr.endswith("driftline: interrupted\n")


def test_an_interrupted_command_exits_with_130(folder, command, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("driftline.cli.run.create_model", interrupted)
    assert command("run", "my.csv", "--label", "class").code == 130


def test_an_unexpected_error_is_not_hidden(folder, command, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("driftline.cli.run.create_model", broken)
    with pytest.raises(ZeroDivisionError):
        command("run", "my.csv", "--label", "class")
