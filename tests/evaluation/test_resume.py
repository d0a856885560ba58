"""Runs that were killed at random points, and went on."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from constant import Constant
from driftline import CheckpointError
from driftline.evaluation import evaluate, read_records, records, scheduling
from driftline.evaluation.records import TIMINGS, list_record_files
from driftline.evaluation.run_checkpoint import FILE_NAME
from driftline.streams import ArrayStream
from helpers import slow_evaluation
from helpers.quick_models import linear, small_stream

TESTS = Path(__file__).parents[1]


def start(folder, delay):
    """Start a run in a process that can be killed: five milliseconds a row."""
    code = f"from helpers.slow_evaluation import main; main({str(folder)!r}, {delay}, 0.005)"
    paths = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths})


def n_recorded(folder):
    parts = list_record_files(folder / "records")
    return parts[-1].end if parts else 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("n_kills", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_killed_at_random_points_gives_the_records_of_one_that_was_not(tmp_path, n_kills):
    delay = 5
    slow_evaluation.main(tmp_path / "whole", delay, 0.0)
    rng, folder = random.Random(delay), tmp_path / "killed"
    for target in sorted(rng.sample(range(1, 400), n_kills)):
        process = start(folder, delay)
        while n_recorded(folder) < target:
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert read_records(folder).num_rows >= target
    slow_evaluation.main(folder, delay, 0.0)
    whole, killed = (read_records(tmp_path / name).drop_columns(list(TIMINGS)) for name in ("whole", "killed"))
    assert killed.equals(whole)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("step", [31, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_killed_before_or_after_a_write_is_resumed_to_the_same_records(tmp_path, step):
    command = [sys.executable, TESTS / "helpers" / "kill_at_every_write.py", tmp_path, str(step)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 60


def test_a_checkpoint_that_is_damaged_or_foreign_is_refused(tmp_path):
    X, y = small_stream()
    stream = ArrayStream(X, y)

    def resume():
        evaluate(Constant(), stream, checkpoint=tmp_path, resume=True, progress=False)

    resume()
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    for content, message in {
        whole[:-1]: "checksum does not match",
        whole.replace(b'"version": 4', b'"version": 1'): "has version 1 .* resumes version 4 only; resume it with",
        whole.replace(b'"version": 4', b'"version": 9'): "has version 9 .* resumes version 4 only; resume it with",
        whole.replace(b"driftline-run", b"something-else"): "format",
        b"": "not the checkpoint",
        b"\xff\xfe": "not the checkpoint",
    }.items():
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=message):
            resume()
    path.write_bytes(whole)
    resume()


def test_records_that_are_gone_are_noticed(tmp_path):
    X, y = small_stream()
    evaluate(Constant(), ArrayStream(X, y), checkpoint=tmp_path, progress=False)
    for part in (tmp_path / "records").glob("*"):
        part.unlink()
    with pytest.raises(CheckpointError, match="files were removed"):
        evaluate(Constant(), ArrayStream(X, y), checkpoint=tmp_path, resume=True, progress=False)


def test_a_disk_that_is_full_for_a_while_costs_no_record(tmp_path, monkeypatch):
    X, y = small_stream()
    monkeypatch.setattr(scheduling, "SAVE_INTERVAL_SECONDS", 0.0)
    write, calls = records.replacing, 0

    def full(path):
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OSError(28, "No space left on device")
        return write(path)

    monkeypatch.setattr(records, "replacing", full)
    with pytest.raises(OSError, match="No space left"):
        evaluate(Constant(), ArrayStream(X, y), checkpoint=tmp_path, progress=False)
    monkeypatch.setattr(records, "replacing", write)
    evaluate(Constant(), ArrayStream(X, y), checkpoint=tmp_path, resume=True, progress=False)
    assert read_records(tmp_path)["step"].to_pylist() == list(range(60))


def begun_run(folder, n_rows=40, **options):
    stream = ArrayStream(*small_stream())
    evaluate(linear(), stream, limit=n_rows, checkpoint=folder, progress=False, **options)
    return stream


def test_records_that_are_damaged_are_refused_by_name(tmp_path):
    stream = begun_run(tmp_path)
    part = list_record_files(tmp_path / "records")[-1].path
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(CheckpointError, match=f"records in {tmp_path}.* are damaged"):
        evaluate(linear(), stream, checkpoint=tmp_path, resume=True, progress=False)


@pytest.mark.parametrize("limit", [40, None])
def test_another_stream_is_noticed_even_if_nothing_is_left_to_do(tmp_path, limit):
    stream = begun_run(tmp_path)
    X, y = small_stream()
    with pytest.raises(CheckpointError, match="the stream has changed"):
        evaluate(linear(), ArrayStream(X + 1, y), limit=limit, checkpoint=tmp_path, resume=True, progress=False)
    assert evaluate(linear(), stream, limit=40, checkpoint=tmp_path, resume=True, progress=False).summary.n_rows == 40


def test_a_limit_below_what_was_run_is_refused(tmp_path):
    stream = begun_run(tmp_path)
    with pytest.raises(CheckpointError, match="contains a run of 40 rows, and the limit is 39"):
        evaluate(linear(), stream, limit=39, checkpoint=tmp_path, resume=True, progress=False)


def test_delays_that_differ_in_their_last_digit_are_different(tmp_path):
    stream = begun_run(tmp_path, delay=1_000_000)
    with pytest.raises(CheckpointError, match="another delay: '1000000 rows', not '1000001 rows'"):
        evaluate(linear(), stream, delay=1_000_001, checkpoint=tmp_path, resume=True, progress=False)


def test_numbers_of_numpy_can_be_written_down(tmp_path):
    options = {"window": np.int64(20), "delta": np.float32(0.1), "time_unit": np.float32(2.0)}
    stream = begun_run(tmp_path, n_rows=np.int64(30), **options)
    assert evaluate(linear(), stream, checkpoint=tmp_path, resume=True, progress=False, **options).summary.window == 20
