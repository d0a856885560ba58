"""Rows and labels from Kafka: each is used once, whatever happens meanwhile."""

import json
import threading
import time
from types import SimpleNamespace

import pytest
from sqlalchemy import insert, select

from driftline.serve.kafka.settings import KafkaSettings, Topics
from driftline.serve.settings import Limits
from driftline.serve.tables import KAFKA_HELD_LABELS, KAFKA_POSITIONS, ROWS
from helpers.served_streams import LINEAR, do, running_service
from helpers.state_contents import contents

pytest.importorskip("confluent_kafka", reason="needs confluent-kafka")
from confluent_kafka import OFFSET_BEGINNING

from driftline.serve.kafka import held_labels, session
from driftline.serve.kafka.clients import Publisher, new_consumer
from driftline.serve.kafka.topic_reader import TopicReader
from helpers.kafka_streams import QUICK, metric, new_topics, reading, running, until


@pytest.fixture
def topics(kafka_cluster, request):
    return new_topics(kafka_cluster, request.node.name.translate(str.maketrans("[]", "--"))[:100])


def ids(n, start=0):
    return [f"row {t}" for t in range(start, start + n)]


def rows(n, start=0):
    return [([t / 10, -t], {"key": row_id}) for t, row_id in enumerate(ids(n, start), start)]


def labels(n, start=0):
    return [{"id": row_id, "label": "yes" if t % 3 else "no"} for t, row_id in enumerate(ids(n, start), start)]


def reasons(messages):
    return sorted((dict(each.headers())["driftline.reason"].decode(), each.value()) for each in messages)


def test_each_row_gets_one_prediction_and_each_label_is_learned_once(kafka_cluster, topics, tmp_path):
    kafka_cluster.send(topics.rows, *rows(5))
    with running(tmp_path, kafka_cluster, topics) as (worker, figures):
        kafka_cluster.send(topics.labels, *labels(5), *labels(5))
        until(lambda: figures.n_read[topics.labels] == 10 and worker.state.figures.total.n_rows == 5)
        kafka_cluster.send(topics.rows, *rows(20))  # the first five once more
        said = {each["id"]: each for each in kafka_cluster.contents(topics.predictions, 25)}
        until(lambda: figures.n_read[topics.rows] == 25)
        known = worker._store.known_rows(worker.stream.id, ids(20))
        assert said.keys() == known.keys()
        assert all(said[row_id]["bound"] == known[row_id].answer.bound for row_id in known)
        assert said["row 3"]["label"] is None
        assert said["row 17"]["label"] in ("yes", "no")
        assert worker.state.figures.total.n_rows == 5
    messages = kafka_cluster.read(topics.predictions)
    assert all(each.key().decode() == json.loads(each.value())["id"] for each in messages)
    assert len({each.value() for each in messages}) == 20
    assert not kafka_cluster.read(topics.rejected)


def test_the_id_of_a_row_is_a_header_or_else_the_key_or_else_the_place(kafka_cluster, topics, tmp_path):
    sent = [
        ([1.0], {"key": "customer 7", "headers": {"id": "order 1"}}),
        ([2.0], {"key": "customer 7", "headers": {"id": "order 2"}}),
        ([3.0], {"key": "order 3"}),
        ([4.0], {"partition": 1}),
    ]
    kafka_cluster.send(topics.rows, *sent)
    place = next(each for each in kafka_cluster.read(topics.rows) if each.key() is None)
    with running(tmp_path, kafka_cluster, topics):
        said = kafka_cluster.read(topics.predictions, 4)
    assert {(each.key(), json.loads(each.value())["id"]) for each in said} == {
        (b"customer 7", "order 1"),
        (b"customer 7", "order 2"),
        (b"order 3", "order 3"),
        (None, f"{topics.rows}-1-{place.offset()}"),
    }


def test_labels_that_overtake_their_rows_are_learned_when_these_come_even_after_a_restart(
    kafka_cluster, topics, tmp_path
):
    kafka_cluster.send(topics.labels, *labels(6))
    with running(tmp_path, kafka_cluster, topics) as (_, figures):
        until(lambda: figures.n_held == 6)
        kafka_cluster.send(topics.labels, *labels(6), labels(1)[0] | {"label": "other"})
        (refused,) = reasons(kafka_cluster.read(topics.rejected, 1))
        assert "has the label 'no' already" in refused[0]
    kafka_cluster.send(topics.rows, *rows(4))
    with running(tmp_path, kafka_cluster, topics) as (worker, figures):
        until(lambda: figures.n_held == 2)
        do(worker, "ask", ["row 4"], [[0.0, 0.0]])  # over HTTP
        until(lambda: figures.n_held == 1)
        assert worker.state.figures.total.n_rows == 5
        with worker._store.engine.connect() as connection:
            assert connection.execute(select(KAFKA_HELD_LABELS.c.id)).scalars().all() == ["row 5"]


def test_a_label_is_given_up_when_its_time_is_over_and_all_rows_have_been_read(kafka_cluster, tmp_path, monkeypatch):
    topics, are_read = new_topics(kafka_cluster, "given-up", hold_labels=0.001), threading.Event()
    monkeypatch.setattr(TopicReader, "is_at_end", lambda *_: are_read.is_set())
    kafka_cluster.send(topics.labels, *labels(2))
    with running(tmp_path, kafka_cluster, topics) as (worker, figures):
        until(lambda: figures.n_held == 2)
        kafka_cluster.send(topics.labels, *labels(1, start=2))
        until(lambda: figures.n_held == 3)
        kafka_cluster.send(topics.rows, *rows(1))
        until(lambda: figures.n_held == 2)
        are_read.set()
        until(lambda: figures.n_held == 0)
        assert worker.state.figures.total.n_rows == 1
    assert reasons(kafka_cluster.read(topics.rejected)) == [
        (f"no row with the id 'row {t}' was predicted", json.dumps(labels(1, t)[0]).encode()) for t in (1, 2)
    ]


def test_a_topic_is_at_its_end_when_all_messages_of_all_partitions_have_been_read(kafka_cluster, topics, monkeypatch):
    monkeypatch.setattr("driftline.serve.kafka.topic_reader.MESSAGES_AT_ONCE", 2)
    positions = SimpleNamespace(start=lambda _: OFFSET_BEGINNING, read={})
    consumer = new_consumer(KafkaSettings(kafka_cluster.servers, {}, properties=QUICK))
    reader = TopicReader(consumer, [topics.rows], positions)
    for start in (0, 9):
        kafka_cluster.send(topics.rows, *[(row, options | {"partition": 2}) for row, options in rows(9, start)])
        n_read = 0
        while n_read < 9:
            n_read += len(reader.read())
            assert not reader.is_at_end(topics.rows) or n_read in (0, 9)
        while not reader.is_at_end(topics.rows):
            assert not reader.read()
    consumer.close()


def test_of_too_many_labels_without_rows_the_oldest_are_given_up(kafka_cluster, topics, tmp_path, monkeypatch):
    for module in (held_labels, session):
        monkeypatch.setattr(module, "MOST_HELD", 4)
    kafka_cluster.send(topics.labels, *labels(10))
    with running(tmp_path, kafka_cluster, topics) as (_, figures):
        given_up = [json.loads(each.value())["id"] for each in kafka_cluster.read(topics.rejected, 6)]
        until(lambda: figures.n_held == 4)
    assert len(set(given_up)) == 6


UNUSABLE = [
    ("rows", b"{", "row: Invalid JSON"),
    ("rows", b"\xff", "row: Invalid JSON"),
    ("rows", b'"text"', "row"),
    ("rows", {"a": [1]}, "row"),
    ("rows", [1.0, 2.0, 3.0], "has 3 values; expected 2"),
    ("rows", ["text", 1.0], "expected a number"),
    ("rows", b"[NaN, 1]", "got NaN"),
    ("rows", ([1.0, 1.0], {"key": b"\xff"}), "not UTF-8"),
    ("rows", ([1.0, 1.0], {"key": "a\nb"}), "id: String should match pattern"),
    ("rows", ([1.0, 1.0], {"key": "row 0"}), "belongs to an earlier row"),
    ("labels", {"id": "row 0"}, "label.label: Field required"),
    ("labels", {"id": "row 0", "label": 1.5}, "label"),
    ("labels", {"id": "row 0", "label": 1}, "expected the same kind of label"),
    ("labels", {"id": "row 1", "label": "no"}, "has the label 'yes' already"),
    ("labels", {"id": "row 2", "label": "n\0"}, "characters"),
]


def test_messages_that_cannot_be_used_are_reported_and_stop_nothing(kafka_cluster, topics, tmp_path, caplog):
    with running_service(tmp_path) as service:
        worker = service.create("a", LINEAR, None, None)
        do(worker, "ask", ids(3), [[t / 10, -t] for t in range(3)])
        do(worker, "label", [("row 1", "yes")])
        for topic, message, _ in UNUSABLE:
            kafka_cluster.send(getattr(topics, topic), message)
        kafka_cluster.send(topics.rows, *rows(20))
        with reading(service, kafka_cluster, topics) as streams:
            kafka_cluster.read(topics.predictions, 20)
            copies = kafka_cluster.read(topics.rejected, len(UNUSABLE))
            kafka_cluster.send(topics.labels, *labels(1), *labels(18, start=2))
            until(lambda: worker.state.figures.total.n_rows == 20)
            count = "driftline_kafka_rejected_messages_total"
            assert sum(metric(streams, count, topic=each) for each in topics.inputs) == len(UNUSABLE)
            assert metric(streams, "driftline_kafka_lag", topic=topics.rows) == 0
    found = {}
    for each in copies:
        headers = {name: value.decode() for name, value in each.headers()}
        place = headers["driftline.topic"], int(headers["driftline.partition"]), int(headers["driftline.offset"])
        found[place] = headers["driftline.reason"], each.key(), each.value()
        assert "-".join(map(str, place)) in caplog.text
    originals = {
        (each.topic(), each.partition(), each.offset()): each
        for topic in topics.inputs
        for each in kafka_cluster.read(topic)
    }
    assert len(found) == len(UNUSABLE)
    for _, message, reason in UNUSABLE:
        value, options = message if isinstance(message, tuple) else (message, {})
        value = value if isinstance(value, bytes) else json.dumps(value).encode()
        same = [place for place, each in found.items() if each[2] == value and reason in each[0]]
        assert any(originals[place].value() == value for place in same), (message, found)
        assert not options or any(found[place][1] == originals[place].key() for place in same)


def test_a_copy_that_is_too_large_is_published_without_its_value(kafka_cluster, topics, tmp_path):
    with running_service(tmp_path) as service:
        service.create("a", LINEAR, None, None)
        kafka_cluster.send(topics.rows, b"x" * 990)
        with reading(service, kafka_cluster, topics, **{"message.max.bytes": "1000"}):
            (copy,) = kafka_cluster.read(topics.rejected, 1)
    assert not copy.value()
    assert dict(copy.headers())["driftline.offset"] == b"0"


def test_after_every_transaction_the_database_has_exactly_what_came_before_its_positions(
    kafka_cluster, topics, tmp_path, monkeypatch
):
    monkeypatch.setattr("driftline.serve.kafka.topic_reader.MESSAGES_AT_ONCE", 7)
    kafka_cluster.send(topics.rows, *[[t / 10] for t in range(40)])  # their ids are their places
    places = [f"{each.topic()}-{each.partition()}-{each.offset()}" for each in kafka_cluster.read(topics.rows)]
    kafka_cluster.send(topics.labels, *[{"id": place, "label": "yes"} for place in sorted(places)])
    label_ids = {
        (each.partition(), each.offset()): json.loads(each.value())["id"] for each in kafka_cluster.read(topics.labels)
    }
    seen = []

    def check(store):
        with store.engine.connect() as connection:
            read = connection.execute(select(KAFKA_POSITIONS)).all()
            known = connection.execute(select(ROWS.c.id, ROWS.c.labelled)).all()
            held = connection.execute(select(KAFKA_HELD_LABELS.c.id)).scalars().all()
        of_rows = {f"{each.topic}-{each.partition}-{o}" for each in read for o in range(each.read)}
        of_labels = {
            label_ids[each.partition, o] for each in read if each.topic == topics.labels for o in range(each.read)
        }
        assert {row.id for row in known} == {place for place in places if place in of_rows}
        assert {row.id for row in known if row.labelled is not None} | set(held) == of_labels
        assert all(each.published <= each.read for each in read)
        seen.append((len(known), len(held)))

    with running_service(tmp_path) as service:
        service.create("a", LINEAR, None, None)
        write = service.store.write

        def write_and_check(changes):
            write(changes)
            try:
                check(service.store)
            except AssertionError as error:
                seen.append(error)

        service.store.write = write_and_check
        with reading(service, kafka_cluster, topics) as streams:
            until(lambda: service.workers[0].state.figures.total.n_rows == 40 and streams.figures["a"].n_held == 0)
    assert not [each for each in seen if isinstance(each, AssertionError)]
    assert len(set(seen)) > 5


def test_what_was_stored_and_not_published_is_published_after_a_restart(kafka_cluster, topics, tmp_path, monkeypatch):
    monkeypatch.setattr("driftline.serve.kafka.streams.RETRY_SECONDS", 0.01)
    kafka_cluster.send(topics.rows, *rows(9), b"{")
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "send", lambda *_: (_ for _ in ()).throw(session.EndedError))  # as if killed
        with running(tmp_path, kafka_cluster, topics) as (worker, _):
            until(lambda: len(worker.state.open_rows) == 9)
            before = do(worker, "read", contents)
    assert not kafka_cluster.read(topics.predictions)
    with running(tmp_path, kafka_cluster, topics) as (worker, _):
        assert {each["id"] for each in kafka_cluster.contents(topics.predictions, 9)} == set(ids(9))
        kafka_cluster.read(topics.rejected, 1)
        assert do(worker, "read", contents) == before


def test_a_server_that_was_stopped_in_order_publishes_nothing_twice(kafka_cluster, topics, tmp_path, monkeypatch):
    monkeypatch.setattr("driftline.serve.kafka.topic_reader.MESSAGES_AT_ONCE", 5)
    read = TopicReader.read
    kafka_cluster.send(topics.rows, *rows(12))
    n_published, n_starts = 0, 0
    while n_published < 12:
        with running_service(tmp_path) as service:
            if not service.workers:
                service.create("a", LINEAR, None, None)
            with reading(service, kafka_cluster, topics) as streams, monkeypatch.context() as patch:

                def read_and_stop(reader):
                    messages = read(reader)
                    if messages:
                        streams._is_closing.set()
                    return messages

                patch.setattr(TopicReader, "read", read_and_stop)
                until(lambda: not streams._threads[0].is_alive())
                n_published += streams.figures["a"].n_published[topics.predictions]
        n_starts += 1
    assert n_starts > 1
    said = [each["id"] for each in kafka_cluster.contents(topics.predictions)]
    assert sorted(said) == sorted(ids(12))


def test_rows_wait_while_too_many_wait_for_labels_and_labels_are_still_read(kafka_cluster, topics, tmp_path):
    kafka_cluster.send(topics.rows, *rows(15))
    with running(tmp_path, kafka_cluster, topics, limits=Limits(open_rows=4)) as (worker, _):
        first = {each["id"] for each in kafka_cluster.contents(topics.predictions, 4)}
        assert len(first) == 4
        kafka_cluster.send(topics.labels, *labels(15))
        until(lambda: worker.state.figures.total.n_rows == 15)
    assert {each["id"] for each in kafka_cluster.contents(topics.predictions)} == set(ids(15))
    assert not kafka_cluster.read(topics.rejected)


def test_reading_waits_while_the_queue_of_the_stream_is_full_and_while_the_stream_is_paused(
    kafka_cluster, topics, tmp_path, caplog
):
    with running_service(tmp_path, limits=Limits(waiting_requests=1)) as service:
        worker, go_on, has_begun = service.create("a", LINEAR, None, None), threading.Event(), threading.Event()

        def block(_, future):
            has_begun.set()
            go_on.wait()
            future.set_result(None)

        worker.submit(block)
        has_begun.wait()
        filler = worker.submit(lambda _, future: future.set_result(None))
        kafka_cluster.send(topics.rows, *rows(3))
        with reading(service, kafka_cluster, topics) as streams:
            until(lambda: streams.figures["a"].n_read[topics.rows] > 0)
            assert not worker.state.open_rows
            go_on.set()
            filler.result(60)
            until(lambda: len(worker.state.open_rows) == 3)
            do(worker, "pause", is_paused=True)
            kafka_cluster.send(topics.rows, *rows(3, start=3))
            time.sleep(0.5)  # enough to take them, if that were not forbidden
            assert len(worker.state.open_rows) == 3
            do(worker, "pause", is_paused=False)
            until(lambda: len(worker.state.open_rows) == 6)
    assert not kafka_cluster.read(topics.rejected)
    assert "begins again" not in caplog.text


def test_a_stream_and_its_topics_may_come_later_and_a_new_stream_reads_them_from_the_beginning(
    kafka_cluster, tmp_path, caplog
):
    topics = Topics(rows="later-rows", predictions="later-predictions")
    with running_service(tmp_path) as service, reading(service, kafka_cluster, topics) as streams:
        until(lambda: "there is no stream a" in caplog.text)
        service.create("a", LINEAR, None, None)
        until(lambda: "partitions of later-rows cannot be found out" in caplog.text)
        kafka_cluster.create_topics("later-rows", "later-predictions")
        kafka_cluster.send("later-rows", *rows(3))
        kafka_cluster.read("later-predictions", 3)
        service.delete("a")
        service.create("a", LINEAR, None, None)
        kafka_cluster.read("later-predictions", 6)
        assert streams.figures["a"].n_rejected.total() == 0


def test_reading_goes_on_when_the_broker_is_back(kafka_cluster, topics, tmp_path, caplog):
    with running(tmp_path, kafka_cluster, topics) as (worker, _):
        kafka_cluster.send(topics.rows, *rows(3))
        until(lambda: len(worker.state.open_rows) == 3)
        kafka_cluster.stop_broker()
        until(lambda: "it is tried again and again" in caplog.text)
        do(worker, "ask", ["over HTTP"], [[0.0, 0.0]])
        kafka_cluster.start_broker()
        kafka_cluster.send(topics.rows, *rows(3, start=3))
        said = kafka_cluster.contents(topics.predictions, 6)
        assert sorted(each["id"] for each in said) == ids(6)


def test_a_consumer_that_joins_the_group_and_leaves_takes_nothing_away(kafka_cluster, topics, tmp_path):
    with running(tmp_path, kafka_cluster, topics) as (worker, _):
        kafka_cluster.send(topics.rows, *rows(4))
        with kafka_cluster.other_consumer("driftline", topics.inputs):
            kafka_cluster.send(topics.rows, *rows(4, start=4))
            kafka_cluster.send(topics.labels, *labels(8))
            until(lambda: worker.state.figures.total.n_rows == 8)
        kafka_cluster.send(topics.rows, *rows(4, start=8))
        until(lambda: len(worker.state.open_rows) == 4)
    said = kafka_cluster.contents(topics.predictions)
    assert sorted(each["id"] for each in said) == sorted(ids(12))


def test_messages_that_were_deleted_before_they_were_read_are_reported(kafka_cluster, topics, tmp_path, caplog):
    kafka_cluster.send(topics.rows, *[(row, options | {"partition": 0}) for row, options in rows(4)])
    with running_service(tmp_path) as service:
        worker = service.create("a", LINEAR, None, None)
        place = {"stream": worker.stream.id, "topic": topics.rows, "partition": 0}
        with service.store.engine.begin() as connection:
            connection.execute(insert(KAFKA_POSITIONS).values(**place, read=900, published=900))
        with reading(service, kafka_cluster, topics):
            until(lambda: len(worker.state.open_rows) == 4)
        with service.store.engine.connect() as connection:
            read = connection.execute(select(KAFKA_POSITIONS).where(KAFKA_POSITIONS.c.partition == 0)).one()
        assert read.read == read.published == 4
    assert f"messages of {topics.rows}, partition 0, were deleted from offset 900 on" in caplog.text
