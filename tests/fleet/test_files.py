"""A saved fleet goes on as if it had never stopped, and damaged files are refused."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import CheckpointError, ConfigError
from driftline.fleet import AMRCFleet
from driftline.fleet.files import opened_fleet, write_fleet
from driftline.fleet.stream_bytes import DIGEST_BYTES
from driftline.guarantees import Guarantees
from driftline.kernels.fleet import COUNT
from driftline.kernels.packing import START
from helpers.fleets import CLASSES, assert_same_model, rows_of


@pytest.mark.parametrize("start", ["pooled", "blank"])
def test_a_saved_fleet_goes_on_bit_for_bit(tmp_path, start):
    rng = np.random.default_rng(0)
    fleet = AMRCFleet(3, CLASSES, start=start, features="linear", guarantees=Guarantees(errors=(0.2, 0.1)))
    fleet.step(*rows_of(rng, 300, 40))
    fleet.observe(rows_of(rng, 2, 1)[0], ["a", 7], ["x", "x"])
    fleet.save(tmp_path / "all.fleet")
    again = AMRCFleet.load(tmp_path / "all.fleet")
    assert again.keys == fleet.keys
    X, y, keys = rows_of(rng, 100, 60)  # some keys are new
    assert again.step(X, y, keys).probabilities.tobytes() == fleet.step(X, y, keys).probabilities.tobytes()
    assert again.label(["a"], ["x"], y[:1]).all()
    assert fleet.label(["a"], ["x"], y[:1]).all()
    for key in fleet.keys:
        assert_same_model(again.model(key), fleet.model(key))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("fleets") / "all.fleet"
    fleet = AMRCFleet(3, CLASSES, features="linear")
    fleet.step(*rows_of(np.random.default_rng(0), 30, 3))
    fleet.save(path)
    return path


@given(st.data())
def test_a_damaged_file_is_refused(saved, tmp_path_factory, data):
    content = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    cut = data.draw(st.booleans())
    content[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("damaged") / "all.fleet"
    path.write_bytes(bytes(content[:place]) if cut else bytes(content))
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        AMRCFleet.load(path)


def test_a_file_of_something_else_is_refused_and_a_missing_one_named(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CheckpointError, match=r"not a saved fleet|ends too early"):
        AMRCFleet.load(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        AMRCFleet.load(tmp_path / "nothing")


@pytest.mark.parametrize("key", [True, float("nan"), None, "k" * 300, "that of the first"])
def test_a_file_with_what_is_no_key_or_with_a_key_twice_is_refused(saved, tmp_path, key):
    with opened_fleet(saved) as file:
        header, states = file.header, list(file.states())
    key = states[1][0] if key == "that of the first" else key
    write_fleet(tmp_path / "odd", header, [*states[:-1], (key, states[-1][1])])
    with pytest.raises(CheckpointError, match=r"odd cannot be loaded: .* is no key, or one that came before"):
        AMRCFleet.load(tmp_path / "odd")


def test_a_file_that_is_trusted_gives_the_same_fleet(saved):
    fleet, other = (AMRCFleet.load(saved, trusted=trusted) for trusted in (False, True))
    assert fleet.keys == other.keys
    assert [fleet.key_state(key) for key in fleet.keys] == [other.key_state(key) for key in other.keys]
    X, _, _ = rows_of(np.random.default_rng(1), 9, 1)
    assert fleet.predict_proba(X, ["new"] * 9).tobytes() == other.predict_proba(X, ["new"] * 9).tobytes()


def test_what_trusted_may_be_is_checked_also_for_a_file_without_keys(tmp_path):
    AMRCFleet(3, CLASSES, features="linear").save(tmp_path / "empty")
    with pytest.raises(ConfigError, match="trusted must be"):
        AMRCFleet.load(tmp_path / "empty", trusted="yes")


def test_only_a_file_that_is_trusted_may_have_values_that_no_model_has(saved, tmp_path):
    with opened_fleet(saved) as file:
        header, states = file.header, list(file.states())
    fleet = AMRCFleet.load(saved)
    key, state = states[-1]
    place = fleet._memory.layout.other_places[COUNT]  # how many values the columns have had
    content = bytearray(state[:-DIGEST_BYTES])
    at = len(content) - fleet._memory.n_bytes + place[START] - fleet._memory.n_head_bytes
    content[at : at + 8] = np.float64(-1.0).tobytes()
    altered = bytes(content) + hashlib.sha256(content).digest()
    write_fleet(tmp_path / "odd", header, [*states[:-1], (key, altered)])
    with pytest.raises(CheckpointError, match="odd cannot be loaded"):
        AMRCFleet.load(tmp_path / "odd")
    assert AMRCFleet.load(tmp_path / "odd", trusted=True).key_state(key) == altered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_columns": 10**9}, "bytes of memory"),
        ({"n_columns": -1}, "header"),
        ({"parameters": {}}, "header"),
        ({"n_keys": 0}, "number of keys"),
        ({"column_names": ["a", "b"]}, "names of 3 columns"),
    ],
)
def test_a_header_that_no_fleet_has_is_refused(saved, tmp_path, change, message):
    with opened_fleet(saved) as file:
        header = file.header | change
    write_fleet(tmp_path / "odd", header, [])
    with pytest.raises(CheckpointError, match=message):
        AMRCFleet.load(tmp_path / "odd")
