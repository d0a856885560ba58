"""The state that is read from disk is the state that was in memory, bit for bit, whatever happened in between."""

import shutil
import threading

import numpy as np
import pytest
from sqlalchemy.exc import OperationalError

from driftline.serve.database import sqlite_folder
from driftline.serve.problems import Problem
from driftline.serve.settings import Limits
from driftline.serve.store import Store
from driftline.serve.worker import Worker
from helpers.served_streams import LINEAR, do, random_operations, running_service
from helpers.state_contents import contents


def copied(database, name):
    """Return the address of a copy of a database of SQLite; that of another one, which is read as it is."""
    folder = sqlite_folder(database)
    if folder is None:
        return database
    shutil.copytree(folder, folder.parent / name)
    return f"sqlite:///{folder.parent / name / 'driftline.db'}"


def oldest_times(worker):
    """Return when the rows that wait were predicted."""
    return [*(row.time for row in worker.state.open_rows.values()), *[0.0] * 4]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_a_copy_of_the_database_at_any_moment_leads_to_the_state_of_that_moment(tmp_path, database, seed, monkeypatch):
    monkeypatch.setattr("driftline.serve.worker.CHECKPOINT_ROWS", 40)
    rng = np.random.default_rng(seed)
    with running_service(tmp_path / "data", database=database) as service:
        worker = service.create("a", LINEAR, None, None)
        for k, (method, arguments) in enumerate(random_operations(rng, 150)):
            do(worker, method, *arguments)
            if k % 30 == 17:
                do(worker, "give_up_before", oldest_times(worker)[3])
            if k % 25 == 0:
                expected = do(worker, "read", contents)
                copy = Store(copied(database, f"copy {k}"))
                assert contents(copy.load_state(copy.streams()[0])) == expected
                copy.close()
        last = do(worker, "read", contents)
    with running_service(tmp_path / "other data", database=database) as service:
        worker = service.worker("a")
        assert do(worker, "read", contents) == last
        assert [column["name"] for column in worker.stream.settings["columns"]] == ["x0", "x1", "x2"]


def test_nothing_is_answered_while_the_database_is_gone_and_nothing_is_lost(tmp_path, database, monkeypatch):
    monkeypatch.setattr("driftline.serve.writer.RETRY_SECONDS", 0.01)
    with running_service(tmp_path, database=database) as service:
        worker = service.create("a", LINEAR, None, None)
        do(worker, "learn", None, [[0.0], [1.0]], ["no", "yes"])
        write, is_gone = service.store.write, True

        def failing(changes):
            if is_gone:
                raise OperationalError("insert", {}, Exception("database or disk is full"))
            write(changes)

        monkeypatch.setattr(service.store, "write", failing)
        tasks = [worker.submit(lambda each, future, t=t: each.ask([str(t)], [[float(t)]], future)) for t in range(5)]
        tasks.append(worker.submit(lambda each, future: each.label([("3", "yes")], future)))
        with pytest.raises(TimeoutError):
            tasks[0].result(0.3)
        assert service.writer.failing_since is not None
        is_gone = False
        assert [task.result(60)[0][0] for task in tasks[:5]] == ["0", "1", "2", "3", "4"]
        assert tasks[5].result(60)[0].outcome == "learned"
        assert service.writer.failing_since is None
        expected = do(worker, "read", contents)
    with running_service(tmp_path, database=database) as service:
        assert do(service.worker("a"), "read", contents) == expected


def test_rows_that_wait_for_the_database_are_limited_and_those_that_are_refused_leave_no_trace(tmp_path, monkeypatch):
    monkeypatch.setattr("driftline.serve.writer.RETRY_SECONDS", 0.01)
    with running_service(tmp_path, limits=Limits(unwritten_changes=3)) as service:
        worker, write, may_write = service.create("a", LINEAR, None, None), service.store.write, threading.Event()
        monkeypatch.setattr(service.store, "write", lambda changes: may_write.wait(60) and write(changes))
        X = [[float(t)] for t in range(4)]
        waiting = worker.submit(lambda each, future: each.learn(None, X, ["no", "yes"] * 2, future))
        for method, arguments in (("ask", (None, X)), ("learn", (None, X, ["yes"] * 4))):
            with pytest.raises(Problem, match="8 changes wait for the database") as refused:
                do(worker, method, *arguments)
            assert refused.value.status == 503
        assert worker.state.n_operations == 1
        may_write.set()
        assert [outcome.outcome for outcome in waiting.result(60)] == ["learned"] * 4
        assert len(do(worker, "ask", None, X)) == 4


def test_a_request_that_fails_leaves_the_stream_as_it_was(tmp_path, database, monkeypatch):
    with running_service(tmp_path, database=database) as service:
        worker = service.create("a", LINEAR, None, None)
        do(worker, "learn", None, [[0.0], [1.0]], ["no", "yes"])
        before = do(worker, "read", contents)
        with monkeypatch.context() as patched:
            patched.setattr(type(worker.state), "_count", None)
            for _ in range(2):
                with pytest.raises(TypeError):
                    do(worker, "learn", None, [[0.5]], ["yes"])
        assert do(worker, "read", contents) == before
        assert do(worker, "learn", None, [[0.5]], ["yes"])[0].outcome == "learned"


def test_deleted_streams_leave_nothing(tmp_path, database):
    with running_service(tmp_path, database=database) as service:
        worker = service.create("a", LINEAR, None, None)
        do(worker, "ask", ["1"], [[0.5]])
        service.delete("a")
        assert service.store.streams() == []
        worker = service.create("a", LINEAR, None, None)
        assert do(worker, "label", [("1", "yes")])[0].outcome == "unknown"
        assert isinstance(worker, Worker)
