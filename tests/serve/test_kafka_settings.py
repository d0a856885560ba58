"""The file that --kafka names."""

import sys

import pytest

from driftline.errors import ConfigError, MissingExtraError
from driftline.serve.app import create_app
from driftline.serve.kafka.settings import EXAMPLE, KafkaSettings, Topics, read_kafka_settings
from driftline.serve.settings import ServerSettings


def read(folder, text):
    (folder / "kafka.toml").write_text(text, encoding="utf-8")
    return read_kafka_settings(folder / "kafka.toml")


def test_the_example_in_error_messages_can_be_used(tmp_path):
    topics = Topics("payments-rows", "payments-labels", "payments-predictions")
    assert read(tmp_path, "\n".join(EXAMPLE)) == KafkaSettings("localhost:9092", {"payments": topics})


def test_all_keys_are_read_and_names_of_properties_need_no_quotes(tmp_path):
    found = read(
        tmp_path,
        """
        servers = "one:9092,two:9092"
        group = "scores"
        [streams.a]
        rows = "r"
        rejected = "x"
        hold_labels = 60
        [streams."b.c"]
        labels = "l"
        [properties]
        security.protocol = "SASL_SSL"
        "sasl.username" = "driftline"
        enable.ssl.certificate.verification = false
        fetch.wait.max.ms = 10
        """,
    )
    assert found.servers == "one:9092,two:9092"
    assert found.group == "scores"
    assert found.streams == {"a": Topics("r", rejected="x", hold_labels=60), "b.c": Topics(labels="l")}
    assert found.properties == {
        "security.protocol": "SASL_SSL",
        "sasl.username": "driftline",
        "enable.ssl.certificate.verification": "false",
        "fetch.wait.max.ms": "10",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("servers", "is not in TOML"),
        ('[streams.a]\nrows = "r"', "servers must be a text; got None"),
        ('servers = "s"', "at least one stream"),
        ('servers = "s"\nstreams = 1', "streams must be a table"),
        ('servers = "s"\n[streams.a]', "streams.a must have rows, labels or both"),
        ('servers = "s"\n[streams.a]\nrows = "r"\nlabels = "r"', "different topics"),
        ('servers = "s"\n[streams.a]\nrows = ""', "streams.a.rows must be a text; got ''"),
        ('servers = "s"\n[streams.a]\nrow = "r"', "streams.a.row is unknown; the keys are rows, labels"),
        ('servers = "s"\nserver = "r"', "server is unknown"),
        ('servers = "s"\n[streams.a]\nrows = "r"\nhold_labels = 0', "hold_labels must be a positive number; got 0"),
        ('servers = "s"\n[streams.a]\nrows = "r"\n[streams.b]\nrows = "q"\nrejected = "r"', "'r' is read as well"),
        ('servers = "s"\n[streams.a]\nrows = "r"\n[properties]\ngroup.id = "g"', "group.id cannot be set"),
        ('servers = "s"\n[streams.a]\nrows = "r"\n[properties]\na = [1]', "properties.a must be a text"),
    ],
)
def test_errors_name_the_file_and_the_key_and_show_an_example(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert "kafka.toml" in str(error.value)
    assert all(line in str(error.value) for line in EXAMPLE)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot open .*missing.toml.*No such file"):
        read_kafka_settings(tmp_path / "missing.toml")


def test_properties_that_librdkafka_does_not_know_are_refused_before_the_server_starts(tmp_path):
    pytest.importorskip("confluent_kafka", reason="needs confluent-kafka")
    kafka = KafkaSettings("localhost:9", {"a": Topics("r")}, properties={"no.such.property": "1"})
    with pytest.raises(ConfigError, match=r"no\.such\.property"):
        create_app(ServerSettings(tmp_path, kafka=kafka))


def test_without_its_library_the_extra_is_named(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("driftline.serve.kafka.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'driftline\[kafka\]'"):
        create_app(ServerSettings(tmp_path, kafka=KafkaSettings("localhost:9", {"a": Topics("r")})))
