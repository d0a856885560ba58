"""What becomes of rows and labels that come twice, late, too late, or contradict each other."""

import threading
import time

import numpy as np
import pytest

from driftline.serve.problems import Problem
from driftline.serve.status import status_of
from driftline.serve.stream_state import model_to_bytes
from helpers.served_streams import LINEAR, do, running_service


@pytest.fixture
def service(tmp_path):
    with running_service(tmp_path) as service:
        yield service


@pytest.fixture
def worker(service):
    worker = service.create("a", LINEAR, None, None)
    do(worker, "learn", ["first", "second"], [[0.0], [1.0]], ["no", "yes"])
    return worker


def outcomes(answer):
    return [(each.outcome, each.known) for each in answer]


def test_the_same_question_gets_the_same_answer_and_is_counted_once(worker):
    (first,) = do(worker, "ask", ["1"], [[0.7]])
    do(worker, "learn", None, [[0.6]], ["no"])
    assert do(worker, "ask", ["1"], [[0.7]]) == [first]
    assert do(worker, "label", [("1", "yes")])[0].outcome == "learned"
    assert do(worker, "ask", ["1"], [[0.7]]) == [first]
    assert worker.state.model.n_steps_ == 4
    with pytest.raises(Problem, match="belongs to an earlier row"):
        do(worker, "ask", ["1"], [[0.8]])
    with pytest.raises(Problem, match="occurs twice"):
        do(worker, "ask", ["2", "2"], [[0.8], [0.8]])


def test_a_label_is_learned_once_and_cannot_be_changed(worker):
    do(worker, "ask", ["1", "2", "3"], [[0.7], [0.2], [0.3]])
    labels = [
        ("2", "no"),
        ("1", "yes"),
        ("2", "no"),
        ("1", "no"),
        ("unknown", "no"),
        ("first", "yes"),
        ("second", "yes"),
    ]
    assert outcomes(do(worker, "label", labels)) == [
        ("learned", None),
        ("learned", None),
        ("repeated", None),
        ("conflict", "yes"),
        ("unknown", None),
        ("conflict", "no"),
        ("repeated", None),
    ]
    before = do(worker, "read", lambda state: model_to_bytes(state.model))
    assert outcomes(do(worker, "label", [("2", "no"), ("1", "no")])) == [("repeated", None), ("conflict", "yes")]
    assert do(worker, "read", lambda state: model_to_bytes(state.model)) == before


def test_a_label_is_known_before_it_is_on_disk(worker, service, monkeypatch):
    may_write, write = threading.Event(), service.store.write
    do(worker, "ask", ["1"], [[0.7]])
    monkeypatch.setattr(service.store, "write", lambda changes: may_write.wait(60) and write(changes))
    tasks = [
        worker.submit(lambda each, future, label=label: each.label([("1", label)], future))
        for label in ("yes", "yes", "no")
    ]
    tasks.append(worker.submit(lambda each, future: each.ask(["new"], [[0.1]], future)))
    tasks.append(worker.submit(lambda each, future: each.label([("new", "no")], future)))
    with pytest.raises(TimeoutError):
        tasks[1].result(0.2)
    may_write.set()
    found = [tasks[k].result(60)[0].outcome for k in (0, 1, 2, 4)]
    assert found == ["learned", "repeated", "conflict", "learned"]


@pytest.mark.parametrize("method", ["label", "ask", "learn"])
def test_what_reaches_the_disk_while_it_is_looked_for_is_found(worker, service, monkeypatch, method):
    may_write, write, find = threading.Event(), service.store.write, service.store.known_rows
    do(worker, "ask", ["1"], [[0.7]])
    monkeypatch.setattr(service.store, "write", lambda changes: may_write.wait(60) and write(changes))
    first = worker.submit(lambda each, future: each.label([("1", "yes")], future))

    def found_after_writing(*arguments):
        may_write.set()
        first.result(60)
        return find(*arguments)

    monkeypatch.setattr(service.store, "known_rows", found_after_writing)
    arguments = {
        "label": ([("1", "yes"), ("other", "yes")],),
        "ask": (["1", "other"], [[0.7], [0.1]]),
        "learn": (["1", "other"], [[0.7], [0.1]], ["yes", "no"]),
    }
    answer = do(worker, method, *arguments[method])
    if method == "ask":
        assert [row_id for row_id, _ in answer] == ["1", "other"]
        assert worker.state.model.n_steps_ == 3
    else:
        assert answer[0].outcome == "repeated"


def test_rows_that_come_twice_with_their_labels_are_learned_once(worker):
    again = do(worker, "learn", ["first", "third", "second"], [[0.0], [2.0], [1.0]], ["no", "yes", "no"])
    assert outcomes(again) == [("repeated", None), ("learned", None), ("conflict", "yes")]
    assert worker.state.model.n_steps_ == 3
    do(worker, "ask", ["4"], [[0.7]])
    with pytest.raises(Problem, match="waits for its label"):
        do(worker, "learn", ["4"], [[0.7]], ["yes"])


def test_rows_expire_by_age_and_their_labels_are_refused(worker, monkeypatch):
    do(worker, "ask", ["old"], [[0.7]])
    now = time.time()
    monkeypatch.setattr("driftline.serve.worker.time.time", lambda: now + 40 * 86_400)
    do(worker, "ask", ["new"], [[0.7]])
    assert do(worker, "expire") == 1
    assert outcomes(do(worker, "label", [("old", "yes"), ("new", "yes")])) == [("expired", None), ("learned", None)]


def test_time_does_not_go_backwards_with_the_clock(worker, monkeypatch):
    do(worker, "ask", ["1"], [[0.7]])
    before = worker.state.open_rows["1"].time
    monkeypatch.setattr("driftline.serve.worker.time.time", lambda: before - 1e6)
    do(worker, "ask", ["2"], [[0.7]])
    assert worker.state.open_rows["2"].time == before
    assert do(worker, "expire") == 0


def test_rows_that_wait_are_limited_and_refused_rows_leave_no_trace(tmp_path):
    from driftline.serve.settings import Limits  # noqa: PLC0415

    with running_service(tmp_path, limits=Limits(open_rows=2)) as service:
        worker = service.create("a", LINEAR, None, None)
        with pytest.raises(Problem, match="at most 2 may") as refused:
            do(worker, "ask", None, [[0.0], [1.0], [2.0]])
        assert refused.value.status == 429
        assert worker.schema is None
        assert len(do(worker, "ask", None, [{"a": 0.0}, {"a": 1.0}])) == 2
        with pytest.raises(Problem, match="expected the same kind of label"):
            do(
                worker,
                "label",
                [(row_id, label) for row_id, label in zip(worker.state.open_rows, ["a", 1], strict=True)],
            )
        assert len(worker.state.open_rows) == 2


def test_an_alarm_is_an_event(worker, service):
    X = [[float(t % 2)] for t in range(600)]
    do(worker, "learn", None, X, ["yes" if x[0] else "no" for x in X])
    do(worker, "learn", None, X, np.where(np.random.default_rng(0).random(600) < 0.5, "yes", "no").tolist())
    (event,) = [each for each in service.store.events(worker.stream.id, 0, 10) if each["kind"] == "alarm"]
    assert 600 <= event["content"]["raised_at"] < 800
    assert worker.is_alarmed
    status = status_of(worker.state, worker.names, is_paused=False)
    assert status["state"] == "alarm"
    assert status["alarm"] == event["content"] | {key: status["alarm"][key] for key in ("n_rows", "n_wrong", "moved")}
    assert {each["column"] for each in status["alarm"]["moved"]} <= {"x0"}


def test_slow_learning_of_one_stream_does_not_hold_up_another(service, worker):
    wide = service.create("wide", {}, None, None)
    X = np.random.default_rng(0).normal(size=(1000, 30)).round(3).tolist()
    labels = [["a", "b", "c", "d", "e"][t % 5] for t in range(1000)]
    do(wide, "learn", None, X[:20], labels[:20])
    slow = wide.submit(lambda each, future: each.learn(None, X, labels, future))
    n_answers = 0
    while not slow.done():
        do(worker, "ask", None, [[0.5]])
        n_answers += 1
    assert slow.result()[0].outcome == "learned"
    assert n_answers >= 10


def test_requests_that_cannot_wait_are_refused(tmp_path):
    from driftline.serve.settings import Limits  # noqa: PLC0415

    with running_service(tmp_path, limits=Limits(waiting_requests=2)) as service:
        worker, may_go_on = service.create("a", LINEAR, None, None), threading.Event()
        blocker = worker.submit(lambda each, future: future.set_result(may_go_on.wait(60)))
        while worker.n_waiting_tasks:
            time.sleep(0.01)
        waiting = [worker.submit(lambda each, future: each.ask(None, [[0.5]], future)) for _ in range(2)]
        with pytest.raises(Problem, match="2 requests wait") as refused:
            do(worker, "ask", None, [[0.5]])
        assert refused.value.status == 429
        may_go_on.set()
        assert blocker.result(60)
        assert [len(task.result(60)) for task in waiting] == [1, 1]
