"""Atomic writes: complete files, and what killed writers leave behind."""

import os
import signal
import subprocess
import sys

import pytest

from driftline.utils.atomic_write import remove_leftovers, replacing

KILLED = """
import os, signal, sys
from driftline.utils.atomic_write import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder):
    return sorted(os.listdir(folder))


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_the_next_save_removes_what_a_killed_one_has_left(tmp_path):
    path = tmp_path / "model.driftline"
    path.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["model.driftline"]


def test_files_of_others_are_not_removed(tmp_path):
    others = [
        ".other.driftline.0123456789abcdef",
        ".model.driftline.0123456789abcde",
        ".model.driftline.notes",
        ".modelXdriftline.0123456789abcdef",
        "model.driftline.0123456789abcdef",
    ]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".model.driftline.0123456789abcdef").mkdir()
    with replacing(tmp_path / "model.driftline") as file:
        file.write(b"new")
    assert names(tmp_path) == sorted([*others, ".model.driftline.0123456789abcdef", "model.driftline"])


@pytest.mark.skipif(os.name == "nt", reason="there, an open file cannot be replaced")
def test_a_file_that_is_being_written_is_not_removed(tmp_path):
    path = tmp_path / "model.driftline"
    with replacing(path) as slow:
        slow.write(b"slow")
        with replacing(path) as quick:
            quick.write(b"quick")
        remove_leftovers(tmp_path, ".*")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert names(tmp_path) == ["model.driftline"]


def test_a_failed_save_leaves_nothing(tmp_path):
    def fail():
        with replacing(tmp_path / "model.driftline") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(tmp_path) == []


def test_a_new_file_that_was_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    """Another process may remove it in the moment before it is locked."""
    removed = []

    def exists(name):
        if not removed and os.path.basename(name).startswith(".model"):
            removed.append(name)
            os.unlink(name)
        return os.path.lexists(name)

    monkeypatch.setattr("os.path.exists", exists)
    with replacing(tmp_path / "model.driftline") as file:
        file.write(b"new")
    assert (tmp_path / "model.driftline").read_bytes() == b"new"
