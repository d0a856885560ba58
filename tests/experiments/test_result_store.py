"""Kept results: nothing is lost, damage is found, and every result names the code that made it."""

import json
import subprocess
import sys

import pytest

from driftline import CheckpointError
from driftline.experiments import ResultStore
from driftline.experiments.experiment_runs import StreamRun

WRITER = """
import os, sys
from pathlib import Path
from driftline.experiments import ResultStore
from driftline.experiments.experiment_runs import StreamRun

store, first, n = ResultStore(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
if sys.argv[4] == "dies":
    os.replace = lambda *_: os._exit(9)
print("ready", flush=True)
sys.stdin.readline()
for n_rows in range(first, first + n):
    store.write("table1", StreamRun("evaluation", "majority", "chess", {}, n_rows, None), {"error": n_rows}, "c0de")
"""


def run_of(n_rows):
    return StreamRun("evaluation", "majority", "chess", {}, n_rows, ranges=None)


def write_in_other_processes(folder, *firsts, n, dies=False):
    """Write n results in a process for each first number of rows, all at the same time; return the exit codes."""
    command = [sys.executable, "-c", WRITER, str(folder)]
    last = [str(n), "dies" if dies else "lives"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, str(first), *last], **pipes) for first in firsts]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
    return [writer.returncode for writer in writers]


def test_a_result_is_kept_with_its_run_versions_and_code(tmp_path, kept):
    store, run = ResultStore(tmp_path / "results"), run_of(10)
    assert store.read(run) is None
    written = store.write("table1", run, {"error": 0.5}, "c0de")
    assert store.read(run) == written
    assert written.result == {"error": 0.5}
    assert written.made["code"] == "c0de"
    (content,) = kept(store)
    assert content["run"] == run.to_dict()
    assert {"date", "python", "numpy"} <= content["made"].keys()
    assert [path.name for path in store.folder.glob("*.jsonl")] == ["table1.jsonl"]


def test_a_new_result_replaces_the_earlier_one_in_its_file(tmp_path, kept):
    store = ResultStore(tmp_path)
    store.write("table1", run_of(10), {"error": 0.5}, "old")
    store.write("table1", run_of(20), {"error": 0.6}, "old")
    store.write("table3", run_of(10), {"error": 0.4}, "new")  # another experiment uses the same run
    assert (store.read(run_of(10)).result, store.read(run_of(10)).made["code"]) == ({"error": 0.4}, "new")
    assert len(kept(store)) == 2
    assert not store.path("table3").exists()


def test_the_order_of_the_lines_does_not_depend_on_the_order_of_the_runs(tmp_path):
    one, other = ResultStore(tmp_path / "one"), ResultStore(tmp_path / "other")
    for n_rows in (10, 20, 30):
        one.write("table1", run_of(n_rows), {"error": 0.5}, "c0de")
        other.write("table1", run_of(40 - n_rows), {"error": 0.5}, "c0de")
    assert one.path("table1").read_bytes() == other.path("table1").read_bytes()


def test_two_processes_that_write_at_the_same_time_lose_nothing(tmp_path):
    store = ResultStore(tmp_path)
    assert write_in_other_processes(tmp_path, 0, 100, n=20) == [0, 0]
    for n_rows in (*range(20), *range(100, 120)):
        assert store.read(run_of(n_rows)).result == {"error": n_rows}


def test_a_process_that_is_killed_while_it_writes_leaves_the_file_as_it_was(tmp_path):
    store = ResultStore(tmp_path)
    store.write("table1", run_of(1), {"error": 1}, "c0de")
    before = store.path("table1").read_bytes()
    assert write_in_other_processes(tmp_path, 2, n=1, dies=True) == [9]
    assert store.path("table1").read_bytes() == before
    assert store.read(run_of(1)).result == {"error": 1}
    store.write("table1", run_of(3), {"error": 3}, "c0de")  # neither its lock nor its half-written file remains
    assert store.read(run_of(3)).result == {"error": 3}
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "table1.jsonl"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.replace(b'"error": 2', b'"error": 9'), "line 2 of .*its checksum does not match"),
        (lambda line: line[:40], "line 2 of .*is not the result of a run, or is damaged"),
        (lambda line: b"\xff" + line, "line 2 of .*is not the result of a run, or is damaged"),
        (lambda _: b"[]", "line 2 of .*is not the result of a run, or is damaged"),
    ],
)
def test_a_damaged_line_is_named_and_stays_in_the_file(tmp_path, change, message):
    store = ResultStore(tmp_path)
    for n_rows in (1, 2, 3):
        store.write("table1", run_of(n_rows), {"error": n_rows}, "c0de")
    lines = store.path("table1").read_bytes().splitlines()
    damaged = change(lines[1])
    store.path("table1").write_bytes(b"\n".join([lines[0], damaged, lines[2], b""]))
    with pytest.raises(CheckpointError, match=message):
        store.read(run_of(1))
    store.write("table1", run_of(4), {"error": 4}, "c0de")
    assert {lines[0], damaged, lines[2]} < set(store.path("table1").read_bytes().splitlines())


def test_unfinished_runs_of_other_code_are_not_continued(tmp_path, monkeypatch):
    store, run = ResultStore(tmp_path), run_of(1)
    folder = store.unfinished_folder(run)
    monkeypatch.setattr("driftline.experiments.result_store.code_digest", lambda _: "other")
    assert store.unfinished_folder(run) != folder


def test_a_line_can_be_read_by_other_programs(tmp_path):
    store = ResultStore(tmp_path)
    store.write("table1", run_of(1), {"error": 0.25}, "c0de")
    content = json.loads(store.path("table1").read_text(encoding="ascii"))
    assert (content["run"]["model"], content["result"]) == ("majority", {"error": 0.25})
