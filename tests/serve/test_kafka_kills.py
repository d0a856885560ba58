import pytest

pytest.importorskip("confluent_kafka", reason="needs confluent-kafka")
from helpers.kill_kafka_server import kill_repeatedly


@pytest.mark.parametrize("n_kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_server_reads_on_and_predicts_each_row_and_learns_each_label_once(kafka_cluster, tmp_path, n_kills):
    assert kill_repeatedly(kafka_cluster, tmp_path, n_kills) > 20


@pytest.mark.slow
def test_a_killed_server_reads_on_with_postgresql(kafka_cluster, tmp_path, postgresql):
    assert kill_repeatedly(kafka_cluster, tmp_path, 10, database=postgresql.new_database()) > 20
