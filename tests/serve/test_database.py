"""The database: what is written once, by one server alone, and how its tables come about."""

import random
import secrets
import threading

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, func, insert, inspect, select, update
from sqlalchemy.exc import OperationalError

from driftline.errors import BusyError, CheckpointError, ConfigError
from driftline.serve import tables, write_session
from driftline.serve.app import create_app
from driftline.serve.database import open_engine, without_password
from driftline.serve.settings import ServerSettings
from driftline.serve.store import Changes, Store
from helpers.served_streams import LINEAR, do, random_operations, running_service
from helpers.state_contents import contents


def count(store, table):
    """Return the number of rows of a table."""
    with store.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def break_commits(store, seed):
    """Let every second transaction fail as if the connection broke, half of them after it was committed."""
    dialect, rng = store.engine.dialect, random.Random(seed)
    do_commit, n_broken = dialect.do_commit, [0, 0]
    error = dialect.dbapi.OperationalError("the connection broke")

    def commit(connection):
        fate = rng.randrange(4)
        if fate == 0:
            n_broken[0] += 1
            raise error
        do_commit(connection)
        if fate == 1:
            n_broken[1] += 1
            raise error

    dialect.do_commit = commit
    return n_broken


def test_what_was_committed_when_the_connection_broke_is_not_written_again(tmp_path, database, monkeypatch):
    monkeypatch.setattr("driftline.serve.writer.RETRY_SECONDS", 0.001)
    monkeypatch.setattr("driftline.serve.worker.CHECKPOINT_ROWS", 30)
    with running_service(tmp_path / "data", database=database) as service:
        worker = service.create("a", LINEAR, None, None)
        n_broken = break_commits(service.store, 0)
        for method, arguments in random_operations(np.random.default_rng(0), 60):
            do(worker, method, *arguments)
        alarm = {"stream": worker.stream.id, "time": 0.0, "kind": "alarm", "content": "{}"}
        for _ in range(10):
            stored = threading.Event()
            service.writer.put(Changes(events=[alarm]), stored.set)
            assert stored.wait(60)
        assert min(n_broken) > 5
        assert count(service.store, tables.EVENTS) == 10
        expected = do(worker, "read", contents)
    store = Store(database)
    assert contents(store.load_state(store.streams()[0])) == expected
    store.close()


def test_a_stream_whose_creation_was_not_answered_can_be_created_and_deleted(tmp_path, database):
    with running_service(tmp_path / "data", database=database) as service:
        dialect = service.store.engine.dialect
        do_commit = dialect.do_commit

        def commit_then_fail(connection):
            do_commit(connection)
            raise dialect.dbapi.OperationalError("the connection broke")

        dialect.do_commit = commit_then_fail
        with pytest.raises(OperationalError):
            service.create("a", LINEAR, None, None)
        dialect.do_commit = do_commit
        assert count(service.store, tables.STREAMS) == 1
        worker = service.create("a", {}, None, 5.0)
        assert service.store.streams() == [worker.stream]
        service.delete("a")
        assert count(service.store, tables.STREAMS) == 0


def test_a_second_server_on_the_same_database_is_refused(tmp_path, database, monkeypatch):
    monkeypatch.setattr(write_session, "LOCK_SECONDS", 0.0)
    with running_service(tmp_path / "data", database=database) as service:
        with pytest.raises(BusyError, match="another server is using"):
            running_service(tmp_path / "other data", database=database).__enter__()
        assert service.create("a", LINEAR, None, None)
    with running_service(tmp_path / "other data", database=database) as service:
        assert len(service.workers) == 1


def test_a_server_whose_database_was_taken_over_writes_nothing(tmp_path, database):
    with running_service(tmp_path / "data", database=database) as service:
        worker = service.create("a", LINEAR, None, None)
        do(worker, "ask", ["1"], [[0.5]])
        with service.store.engine.begin() as connection:
            before = dict(connection.execute(select(tables.SERVER)).mappings().one())
            connection.execute(update(tables.SERVER).values(token="of another server"))
        task = worker.submit(lambda each, future: each.ask(["2"], [[0.5]], future))
        with pytest.raises(TimeoutError):
            task.result(0.2)
        with pytest.raises(BusyError, match="taken over"):
            service.create("b", LINEAR, None, None)
        assert (count(service.store, tables.ROWS), count(service.store, tables.STREAMS)) == (1, 1)
        with service.store.engine.begin() as connection:
            connection.execute(update(tables.SERVER).values(before))
        assert task.result(60)[0][0] == "2"


def test_reads_that_fail_are_answered_with_503_and_change_nothing(tmp_path, database):
    app = create_app(ServerSettings(tmp_path / "data", database=database))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": LINEAR})
        client.post("/v1/streams/a/learn", json={"rows": [[0], [1]], "labels": ["no", "yes"], "ids": ["0", "1"]})
        before = client.get("/v1/streams/a").json()
        requests = [
            ("POST", "/v1/streams", {"name": "b"}),
            ("POST", "/v1/streams/a/predict", {"rows": [[0]], "ids": ["2"]}),
            ("POST", "/v1/streams/a/label", {"labels": [{"id": "0", "label": "no"}]}),
            ("POST", "/v1/streams/a/learn", {"rows": [[0]], "labels": ["no"], "ids": ["3"]}),
            ("GET", "/v1/streams/a/records", None),
        ]

        def fail(*_):
            raise OperationalError("SELECT", {}, Exception("the database is gone"))

        engine = app.state.service.store.engine
        event.listen(engine, "before_cursor_execute", fail)
        for method, path, body in requests:
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:driftline:storage-unavailable"), path
        event.remove(engine, "before_cursor_execute", fail)
        after = client.get("/v1/streams/a").json()
        assert after == before
        answers = [client.request(method, path, json=body) for method, path, body in requests]
        assert [answer.status_code for answer in answers] == [201, 200, 200, 200, 200]


def test_null_characters_are_no_reason_to_fail(tmp_path, database):
    app = create_app(ServerSettings(tmp_path / "data", database=database))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": LINEAR})
        requests = [
            ("POST", "/v1/keys", {"name": "a\0b", "scopes": {"*": "admin"}}),
            ("DELETE", "/v1/keys/a%00b", None),
            ("GET", "/v1/streams/a%00b", None),
            ("POST", "/v1/streams/a/learn", {"rows": [{"a\0b": "\0"}], "labels": ["a\0b"], "ids": ["1"]}),
            ("POST", "/v1/streams/a/learn", {"rows": [{"a\0b": "\0"}], "labels": ["a"], "ids": ["1\0"]}),
            ("POST", "/v1/streams/a/learn", {"rows": [{"a\0b": "\0"}], "labels": ["a"], "ids": ["1"]}),
        ]
        for method, path, body in requests:
            assert client.request(method, path, json=body).status_code < 500, path


def test_values_come_back_as_they_were_written(tmp_path, database):
    label, content, large = "a\u2028é\U0001f600'\"\\", secrets.token_bytes(20_000_000), 2**31 + 5
    with running_service(tmp_path / "data", database=database) as service:
        worker = service.create("a", {"features": "linear"}, None, 1e9)
        do(worker, "learn", ["\u00e9'\"\\\U0001f600"], [[1e-300, None, -0.1]], [label])
        with service.store.engine.connect() as connection:
            stored = dict(connection.execute(select(tables.ROWS)).mappings().one())
        changes = Changes(
            asked=[stored | {"id": "large", "asked": 2**62, "label": None, "labelled": None}],
            events=[{"stream": worker.stream.id, "time": 1e9 + 0.1, "kind": "alarm", "content": '{"a": "\\u0000"}'}],
            checkpoints=[
                {
                    "stream": worker.stream.id,
                    "n_operations": large,
                    "created": 0.1,
                    "figures": "[]",
                    "settings": "{}",
                    "model": content,
                    "shadow": None,
                }
            ],
        )
        stored_now = threading.Event()
        service.writer.put(changes, stored_now.set)
        assert stored_now.wait(60)
        known = service.store.known_rows(worker.stream.id, ["\u00e9'\"\\\U0001f600"])
        assert next(iter(known.values())).label == label
        (alarm,) = service.store.events(worker.stream.id, 0, 10)
        assert (alarm["time"], alarm["content"]) == (1e9 + 0.1, {"a": "\0"})
        with service.store.engine.begin() as connection:
            query = select(tables.CHECKPOINTS.c.model).where(tables.CHECKPOINTS.c.n_operations == large)
            assert connection.execute(query).scalar_one() == content
            found = connection.execute(select(tables.ROWS.c.asked, tables.ROWS.c.x).order_by(tables.ROWS.c.asked)).all()
            assert [(row.asked, row.x) for row in found] == [(0, stored["x"]), (2**62, stored["x"])]
            connection.execute(tables.CHECKPOINTS.delete())
            connection.execute(tables.ROWS.delete().where(tables.ROWS.c.id == "large"))


# Tables -------------------------------------------------------------------------------------------------


@pytest.fixture
def engine(database, tmp_path):
    (tmp_path / "database").mkdir(exist_ok=True)
    engine = open_engine(database)
    yield engine
    engine.dispose()


def test_an_empty_database_gets_the_tables_once(engine, database):
    for _ in range(2):
        Store(database).close()
        assert set(inspect(engine).get_table_names()) == set(tables.METADATA.tables)


@pytest.mark.parametrize("n_steps", range(1, len(tables.MIGRATIONS)))
def test_tables_of_an_earlier_version_are_brought_up_to_date(engine, database, n_steps, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(tables, "MIGRATIONS", tables.MIGRATIONS[:n_steps])
        tables.migrate(engine)
    stream = {"name": "old", "settings": '{"parameters": {}}', "created": 1.0, "is_paused": False}
    with engine.begin() as connection:
        connection.execute(insert(tables.STREAMS).values(stream))
    store = Store(database)
    assert [each.name for each in store.streams()] == ["old"]
    assert set(inspect(engine).get_table_names()) == set(tables.METADATA.tables)
    store.close()


def test_tables_of_a_later_version_are_refused(engine, database):
    tables.migrate(engine)
    with engine.begin() as connection:
        connection.execute(update(tables.VERSION).values(version=1000))
    with pytest.raises(CheckpointError, match=r"version 1000 .* upgrade driftline"):
        Store(database)


def test_a_migration_that_fails_leaves_nothing(engine, monkeypatch):
    def failing(connection):
        tables.METADATA.create_all(connection)
        connection.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")

    with monkeypatch.context() as patched:
        patched.setattr(tables, "MIGRATIONS", (*tables.MIGRATIONS[:1], failing))
        with pytest.raises(Exception, match="no_such_table"):
            tables.migrate(engine)
    assert inspect(engine).get_table_names() == []
    tables.migrate(engine)


# Addresses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["mysql://a:secret@b/c", "sqlite://", "nonsense secret", "postgresql+pg8000://a:secret@b/c"]
)
def test_addresses_that_cannot_be_used_are_refused_without_their_password(url):
    with pytest.raises(ConfigError, match="expected postgresql://") as refused:
        open_engine(url)
    assert "secret" not in str(refused.value)


def test_a_database_that_is_out_of_reach_is_named_without_its_password():
    pytest.importorskip("psycopg", reason="needs psycopg")
    url = "postgres://me:secret@127.0.0.1:1/driftline"
    with pytest.raises(CheckpointError, match=r"me:\*\*\*@127\.0\.0\.1:1/driftline.* cannot be used") as refused:
        Store(url)
    assert "secret" not in str(refused.value)
    assert without_password(url).startswith("postgresql+psycopg://me:***@")
