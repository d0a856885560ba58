import pytest

from helpers.kill_server import kill_repeatedly


@pytest.mark.parametrize("n_kills", [1, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_server_goes_on_with_all_that_was_answered_bit_for_bit(tmp_path, n_kills):
    assert kill_repeatedly(tmp_path, n_kills) > 20


@pytest.mark.slow
def test_a_killed_server_goes_on_with_all_that_postgresql_has(tmp_path, postgresql):
    assert kill_repeatedly(tmp_path, 20, database=postgresql.new_database()) > 20
