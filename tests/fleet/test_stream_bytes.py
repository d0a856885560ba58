"""The state of a key as bytes: complete, checked before it is used, and refused where it does not fit."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import CheckpointError, DataError
from driftline.fleet import AMRCFleet
from driftline.fleet.stream_bytes import DIGEST_BYTES
from driftline.guarantees import Guarantees
from driftline.kernels.ensemble import RECENT_TREES
from driftline.kernels.fleet import STATEMENTS
from driftline.kernels.packing import START, STOP
from driftline.kernels.statements import unpacked
from driftline.kernels.trees import Trees
from helpers.fleets import CLASSES, assert_same_model, rows_of


@pytest.fixture(scope="module")
def fleet():
    X, y, keys = rows_of(np.random.default_rng(0), 600, 2)
    fleet = AMRCFleet(3, CLASSES)
    fleet.step(X, y, keys)
    fleet.observe(X[:3], [0, 0, 1], ["x", 2, 3.5])
    return fleet


@pytest.mark.parametrize("trusted", [False, True])
def test_a_key_goes_on_from_its_bytes_with_the_rows_that_wait(fleet, trusted):
    X, y, _ = rows_of(np.random.default_rng(1), 20, 1)
    other = AMRCFleet(3, CLASSES, start="blank").set_key_state("a", fleet.key_state(0), trusted=trusted)
    assert other.key_state("a") == fleet.key_state(0)
    assert other.label(["a", "a"], ["x", 2], y[:2]).all()
    other.step(X, y, ["a"] * 20)
    model = fleet.model(0).partial_fit(X[:2], y[:2], ids=["x", 2]).partial_fit(X, y)
    assert_same_model(other.model("a"), model)


@given(st.data())
def test_bytes_that_were_altered_are_refused_or_are_those_of_a_model_that_works(fleet, data):
    content = bytearray(fleet.key_state(0)[:-DIGEST_BYTES])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    other = AMRCFleet(3, CLASSES, start="blank")
    X, y, _ = rows_of(np.random.default_rng(1), 5, 1)
    altered = bytes(content)
    for trusted in (False, True):
        with pytest.raises(CheckpointError):
            other.set_key_state("a", altered + fleet.key_state(0)[-DIGEST_BYTES:] + b" ", trusted=trusted)
    try:
        other.set_key_state("a", altered + hashlib.sha256(altered).digest())
    except CheckpointError:
        assert other.keys == []
    else:
        assert np.isfinite(other.step(X, y, ["a"] * 5).probabilities).all()


@pytest.mark.parametrize(
    "parameters", [{"features": "linear"}, {"order": 0}, {"random_state": 1}, {"classes": CLASSES[:2]}]
)
def test_bytes_of_another_fleet_are_refused(fleet, parameters):
    other = AMRCFleet(**{"n_columns": 3, "classes": CLASSES} | parameters)
    for trusted in (False, True):
        with pytest.raises(CheckpointError, match="a fleet with other parameters"):
            other.set_key_state("a", fleet.key_state(0), trusted=trusted)
    assert other.keys == []


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"", CheckpointError, "not the state of a key"),
        (b"driftline stream 2\n" + bytes(100), CheckpointError, "not the state of a key"),
        (bytes(70_000), CheckpointError, "not the state of a key"),
        (None, DataError, "expected the bytes that key_state returned; got NoneType"),
        ("text", DataError, "expected the bytes that key_state returned; got str"),
    ],
)
def test_other_bytes_are_refused(fleet, data, error, message):
    with pytest.raises(error, match=message):
        fleet.set_key_state("a", data)
    assert "a" not in fleet


def with_checksum(content):
    return bytes(content) + hashlib.sha256(bytes(content)).digest()


@pytest.mark.parametrize("trusted", [False, True])
def test_bytes_that_end_too_early_are_refused(fleet, trusted):
    content = fleet.key_state(0)[:9000]
    with pytest.raises(CheckpointError, match="ends too early"):
        fleet.set_key_state("a", with_checksum(content), trusted=trusted)


@pytest.mark.parametrize(
    ("part", "name"), [("answers", "levels"), ("answers", "by_class"), ("sets", "levels"), ("sets", "allows_empty")]
)
def test_bytes_with_other_guarantees_than_those_of_the_fleet_are_refused(part, name):
    guarantees = Guarantees(errors=({"fine": 0.1, "hot": 0.05}, 0.02), per_class=True)
    fleet = AMRCFleet(3, CLASSES, features="linear", guarantees=guarantees)
    fleet.step(*rows_of(np.random.default_rng(0), 30, 1))
    memory, content = fleet._memory, bytearray(fleet.key_state(0)[:-DIGEST_BYTES])
    place = memory.layout.other_places[STATEMENTS]
    parts = unpacked(np.arange((place[STOP] - place[START]) // 8, dtype=np.float64), memory.layout.sizes)
    numbers = getattr(getattr(parts, part), name).ravel()
    first = len(content) - memory.n_bytes + place[START] - memory.n_head_bytes
    for number in numbers.astype(int).tolist():
        at = first + 8 * number
        altered = content.copy()
        altered[at : at + 8] = np.float64(np.frombuffer(content[at : at + 8])[0] + 0.01).tobytes()
        with pytest.raises(CheckpointError, match=r"differs from what the parameters|expected numbers from"):
            fleet.set_key_state("a", with_checksum(altered))
    fleet.set_key_state("a", with_checksum(altered), trusted=True)  # whose values are not checked


def test_refused_bytes_change_nothing_for_other_keys():
    X, y, _ = rows_of(np.random.default_rng(1), 160, 1)
    fleet, other = AMRCFleet(3, CLASSES), AMRCFleet(3, CLASSES)
    for each in (fleet, other):
        each.step(X, y, ["a", "b"] * 80)
    good, memory = fleet.key_state("a"), fleet._memory
    content = bytearray(good[:-DIGEST_BYTES])
    place = memory.layout.places[RECENT_TREES + Trees._fields.index("child")]
    content[len(content) - memory.n_bytes + place[START] - memory.n_head_bytes] ^= 1 << 6
    with pytest.raises(CheckpointError, match="links nodes of a tree"):
        fleet.set_key_state("c", with_checksum(content))
    fleet.set_key_state("c", good)
    for each in (fleet, other):
        each.observe(X[:1], ["b"], [1])
        each.label(["b"], [1], y[:1])
    assert fleet.key_state("b") == other.key_state("b")
