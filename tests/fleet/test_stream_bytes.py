"""The state of a key as bytes: complete, checked before it is used, and refused where it does not fit."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import CheckpointError
from driftline.fleet import AMRCFleet
from driftline.fleet.stream_bytes import DIGEST_BYTES
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


@pytest.mark.parametrize("data", [b"", b"driftline stream 2\n" + bytes(100), bytes(70_000)])
def test_other_bytes_are_refused(fleet, data):
    with pytest.raises(CheckpointError):
        fleet.set_key_state("a", data)
    assert "a" not in fleet
