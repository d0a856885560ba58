"""Runs: their keys and results, and how they are done, continued, repeated and left to others."""

import time
from types import SimpleNamespace

import pytest

from driftline.evaluation import evaluate
from driftline.evaluation.run_checkpoint import locked_folder
from driftline.experiments import ResultStore, RunExecutor
from driftline.experiments.experiment_runs import StreamRun
from driftline.experiments.run_executor import active_runs


def outcome_of(run, store, **options):
    executor = RunExecutor(store, progress=False, **options)
    return executor.outcomes("table1", [run], executor.progress_bar("", 1))[run.key]


def test_active_runs_are_named_with_their_rows(tmp_path):
    store, runs = (
        ResultStore(tmp_path),
        [StreamRun("evaluation", name, "chess", {}, None, False) for name in ("rbp", "dwm", "nogd")],
    )
    for run in runs[:2]:
        (store.unfinished_folder(run) / "records").mkdir(parents=True)
    (store.unfinished_folder(runs[0]) / "records" / f"{0:012}-{1500:012}.parquet").touch()
    assert active_runs(runs, store, since=0.0) == ["rbp on chess, row 1,500", "dwm on chess"]
    assert active_runs(runs, store, since=time.time() + 10.0) == []  # left by runs that were killed
    (store.unfinished_folder(runs[0]) / "records" / f"{1600:012}-{1700:012}.parquet").touch()  # while parts are merged
    assert active_runs(runs, store, since=0.0) == ["dwm on chess"]


def test_an_interrupted_evaluation_gives_no_result(small_streams, monkeypatch):
    run = StreamRun("evaluation", "majority", "chess", {}, None, ranges=None)
    evaluation = SimpleNamespace(finished=False)
    monkeypatch.setattr("driftline.experiments.experiment_runs.evaluate", lambda *_, **__: evaluation)
    with pytest.raises(KeyboardInterrupt):
        run.perform(None)


def test_a_run_whose_state_is_damaged_starts_again(tmp_path, small_streams):
    store, run = ResultStore(tmp_path), StreamRun("evaluation", "majority", "chess", {}, 30, ranges=None)
    store.unfinished_folder(run).mkdir(parents=True)
    (store.unfinished_folder(run) / "run.ckpt").write_bytes(b"no checkpoint")
    (store.unfinished_folder(run) / "records").mkdir()
    (store.unfinished_folder(run) / "records" / f"{0:012}-{20:012}.parquet").write_bytes(b"no records")
    outcome = outcome_of(run, store)
    assert outcome.result["n_rows"] == 30


def test_the_state_of_a_run_of_another_process_is_not_touched(tmp_path, small_streams):
    store, run = ResultStore(tmp_path), StreamRun("evaluation", "majority", "chess", {}, 30, ranges=None)
    with locked_folder(store.unfinished_folder(run)):
        (store.unfinished_folder(run) / "checkpoint").write_bytes(b"hours of work")
        outcome = outcome_of(run, store)
        assert outcome.result is None
        assert outcome.reason.startswith("another run is using")
        assert (store.unfinished_folder(run) / "checkpoint").read_bytes() == b"hours of work"
        assert outcome_of(run, store, resume=False).reason == outcome.reason
        assert (store.unfinished_folder(run) / "checkpoint").read_bytes() == b"hours of work"


def test_without_resume_no_run_is_continued(tmp_path, monkeypatch):
    store, found = ResultStore(tmp_path), []
    run = StreamRun("evaluation", "majority", "chess", {}, 30, ranges=None)
    store.unfinished_folder(run).mkdir(parents=True)
    (store.unfinished_folder(run) / "left").touch()
    monkeypatch.setattr(StreamRun, "perform", lambda _, folder: found.append(list(folder.iterdir())) or {"error": 0.5})
    outcome_of(run, store, resume=False)
    assert found == [[]]


def test_steps_are_timed_after_a_warm_up(small_streams, monkeypatch):
    limits = []
    monkeypatch.setattr(
        "driftline.experiments.experiment_runs.evaluate",
        lambda *a, limit, **k: limits.append(limit) or evaluate(*a, limit=limit, **k),
    )
    result = StreamRun("timing", "majority", "chess", {}, 40, ranges=None).perform(None)
    assert limits == [50, 40]
    assert result["n_rows"] == 40
    assert result["milliseconds"] > 0


def test_cumulative_errors_have_an_entry_for_every_row(small_streams):
    result = StreamRun("course", "majority", "chess", {}, 30, ranges=None).perform(None)
    assert result["n_rows"] == len(result["error"]) == 30


def test_different_runs_have_different_keys():
    run = StreamRun("evaluation", "rbp", "chess", {"scale": 1.0}, None, ranges="column")
    others = [
        StreamRun("scale", "rbp", "chess", {"scale": 1.0}, None, ranges="column"),
        StreamRun("evaluation", "norma", "chess", {"scale": 1.0}, None, ranges="column"),
        StreamRun("evaluation", "rbp", "german", {"scale": 1.0}, None, ranges="column"),
        StreamRun("evaluation", "rbp", "chess", {"scale": 2.0}, None, ranges="column"),
        StreamRun("evaluation", "rbp", "chess", {"scale": 1.0}, 10, ranges="column"),
        StreamRun("evaluation", "rbp", "chess", {"scale": 1.0}, None, ranges="array"),
        StreamRun("evaluation", "rbp", "chess", {"scale": 1.0}, None, ranges=None),
    ]
    assert len({run.key, *(other.key for other in others)}) == 8
    assert (
        StreamRun("scale", "rbp", "chess", {"b": 1, "a": 2}, 3, None).key
        == StreamRun("scale", "rbp", "chess", {"a": 2, "b": 1}, 3, None).key
    )
