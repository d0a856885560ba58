"""Fleets on a GPU: they are what fleets on the cores are, up to rounding, and say clearly what is missing."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import ConfigError, MissingExtraError
from driftline.fleet import AMRCFleet
from driftline.fleet.cuda_kernels import cuda_arrays
from driftline.fleet.device_streams import rounds_of
from driftline.guarantees import Guarantees
from helpers.fleets import CLASSES, rows_of, state_of

EVERY_LEVEL = Guarantees(
    errors=({"fine": 0.1, "hot": 0.05}, 0.02), coverages=(0.9,), tolerated=0.1, rise=0.02, per_class=True
)
ALL_ROWS = Guarantees(coverages=(0.2, 0.4))
"""So few rows have to be covered that after a while the threshold of a set is that of all rows."""


@pytest.fixture
def gpu():
    """Skip the test where there is no GPU for CuPy."""
    try:
        cuda_arrays()
    except (ConfigError, MissingExtraError) as error:
        pytest.skip(str(error))


def pair(n_columns, classes, **parameters):
    """Return two fleets with the same parameters, on the cores and on a GPU."""
    return tuple(AMRCFleet(n_columns, classes, device=each, **parameters) for each in ("cpu", "cuda"))


def assert_same_but_for_rounding(said, expected):
    assert said.labels.tolist() == expected.labels.tolist()
    assert said.answers.mask.tolist() == expected.answers.mask.tolist()
    assert said.sets.tolist() == expected.sets.tolist()
    for name in ("probabilities", "confidences", "row_bounds", "error_bounds"):
        np.testing.assert_allclose(getattr(said, name), getattr(expected, name), rtol=0, atol=1e-9, err_msg=name)


def assert_same_models_but_for_rounding(fleet, other):
    assert fleet.keys == other.keys
    for key in fleet.keys:
        state, expected = state_of(fleet.model(key)), state_of(other.model(key))
        for name, array in state.items():
            if array.dtype.kind in "iu":
                np.testing.assert_array_equal(array, expected[name], err_msg=name)
            else:
                np.testing.assert_allclose(array, expected[name], rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("n_columns", "n_classes", "parameters"),
    [
        (3, 2, {"features": "linear", "start": "blank"}),
        (5, 2, {"features": "linear", "start": "blank", "guarantees": EVERY_LEVEL, "order": 0}),
        (4, 2, {"features": "linear", "start": "blank", "guarantees": ALL_ROWS}),
        (20, 3, {"features": "linear", "start": "pooled", "scaling": "none"}),
        (150, 2, {"features": "linear", "start": "blank"}),  # more threads for a stream than blocks usually have
        (3, 2, {"features": "auto", "start": "blank"}),
        (14, 3, {"features": "auto", "start": "pooled"}),
        (8, 2, {"features": "fourier", "start": "blank"}),
        (5, 3, {"features": "fourier", "start": "pooled", "n_components": 7}),
    ],
)
def test_a_fleet_on_a_gpu_gives_the_results_of_the_cores(gpu, n_columns, n_classes, parameters):
    rng = np.random.default_rng(n_columns)
    on_cores, on_gpu = pair(n_columns, CLASSES[:n_classes], **parameters)
    for n in (1, 40, 700, 700):
        X, y, keys = rows_of(rng, n, 37, p=n_columns, n_classes=n_classes)
        assert_same_but_for_rounding(on_gpu.step(X, y, keys), on_cores.step(X, y, keys))
    X[:, 0] *= 100.0  # the unit of a column changes
    assert_same_but_for_rounding(on_gpu.step(X, y[::-1], keys), on_cores.step(X, y[::-1], keys))
    new = [*keys[:-1].tolist(), "a new key"]
    assert_same_but_for_rounding(on_gpu.predict_with_guarantees(X, new), on_cores.predict_with_guarantees(X, new))
    assert_same_models_but_for_rounding(on_gpu, on_cores)


def test_many_classes_on_a_gpu_give_the_results_of_the_cores(gpu):
    rng, classes = np.random.default_rng(2), range(9)
    guarantees = Guarantees(errors=(0.1,), coverages=(0.9,), tolerated=0.5, per_class=True)
    fleets = pair(4, classes, features="linear", start="blank", guarantees=guarantees)
    W = rng.normal(size=(4, len(classes)))
    for n in (500, 900):
        X, keys = rng.normal(size=(n, 4)), rng.integers(7, size=n)
        y = np.argmax(X @ W + 0.3 * rng.normal(size=(n, len(classes))), axis=1)
        expected, said = (fleet.step(X, y, keys) for fleet in fleets)
        assert_same_but_for_rounding(said, expected)
    assert_same_models_but_for_rounding(*reversed(fleets))


def test_trees_on_a_gpu_are_replaced_when_the_stream_changes(gpu):
    rng = np.random.default_rng(1)
    on_cores, on_gpu = pair(3, CLASSES[:2], start="blank")
    X, keys = rng.normal(size=(1500, 3)), np.arange(1500) % 3
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 2] = np.round(X[:, 2])
    y = np.where((np.nan_to_num(X[:, 0]) > 0) ^ (np.arange(1500) > 800), *CLASSES[:2])
    assert_same_but_for_rounding(on_gpu.step(X, y, keys), on_cores.step(X, y, keys))
    assert_same_models_but_for_rounding(on_gpu, on_cores)
    forests = [on_gpu.model(key)._learner.spaces[-1].forest for key in on_gpu.keys]
    assert min(forest.n_cuts for forest in forests) > 0
    assert min(forest.state()["recent/n_grown"] for forest in forests) > 2


def test_the_bytes_of_a_key_go_from_the_cores_to_a_gpu_and_back(gpu, tmp_path):
    X, y, keys = rows_of(np.random.default_rng(0), 600, 9)
    on_cores, on_gpu = pair(3, CLASSES)
    on_cores.step(X, y, keys)
    on_cores.save(tmp_path / "fleet")
    moved, loaded = (AMRCFleet.load(tmp_path / "fleet", device=device) for device in ("cuda", "cpu"))
    for key in on_cores.keys:
        assert moved.key_state(key) == loaded.key_state(key)
        on_gpu.set_key_state(key, on_cores.key_state(key))
        assert on_gpu.key_state(key) == loaded.key_state(key)
    assert_same_but_for_rounding(moved.step(X, y, keys), on_cores.step(X, y, keys))
    moved.save(tmp_path / "fleet")
    back = AMRCFleet.load(tmp_path / "fleet")
    assert_same_but_for_rounding(back.step(X, y, keys), on_cores.step(X, y, keys))
    assert (
        moved.remove(keys[0]).put(keys[0], back.model(keys[0])).model(keys[0]).n_steps_ == back.model(keys[0]).n_steps_
    )


def test_late_labels_on_a_gpu_are_learned_as_on_the_cores(gpu):
    X, y, keys = rows_of(np.random.default_rng(0), 200, 5)
    on_cores, on_gpu = pair(3, CLASSES)
    for fleet in (on_cores, on_gpu):
        fleet.step(X, y, keys)
        fleet.observe(X[:9], keys[:9], np.arange(9))
        assert fleet.label(keys[:9], np.arange(9), y[:9]).all()
    assert_same_but_for_rounding(on_gpu.step(X, y, keys), on_cores.step(X, y, keys))
    assert on_gpu.status()["n_rows"].tolist() == on_cores.status()["n_rows"].tolist()


def test_a_fleet_without_keys_on_a_gpu_has_an_empty_table(gpu):
    fleet = AMRCFleet(3, CLASSES, features="linear", device="cuda")
    assert len(fleet.status()) == len(fleet.status([])) == 0


def test_models_that_are_too_large_for_a_gpu_are_refused(gpu):
    with pytest.raises(ConfigError, match=r"the members of a model need \d{6} bytes or more while they learn"):
        AMRCFleet(900, CLASSES, features="linear", device="cuda")


def test_the_bytes_of_a_stream_on_a_gpu_are_a_copy_that_cannot_be_changed(gpu):
    fleet = AMRCFleet(3, CLASSES, device="cuda")
    with pytest.raises(ValueError, match="read-only"):
        fleet._streams.stream(0)[0] = 1


@given(st.lists(st.integers(0, 9), max_size=60))
def test_no_slot_is_twice_in_a_round_and_its_rows_stay_in_order(slots):
    slots = np.sort(np.array(slots, np.int64))
    rounds = rounds_of(slots)
    rows = np.concatenate([*rounds, np.zeros(0, np.int64)])
    assert sorted(rows.tolist()) == list(range(len(slots)))
    for each in rounds:
        assert len(np.unique(slots[each])) == len(each) > 0
    for slot in np.unique(slots):
        assert (np.diff(rows[slots[rows] == slot]) > 0).all()


def test_without_cupy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"device='cuda' needs CuPy .*pip install 'driftline\[gpu\]'"):
        AMRCFleet(3, CLASSES, device="cuda")


@pytest.mark.parametrize("has_driver", [True, False])
def test_without_a_gpu_the_message_says_so(monkeypatch, has_driver):
    def count():
        if has_driver:
            return 0
        raise OSError("no driver")

    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=OSError)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    with pytest.raises(ConfigError, match=r"device='cuda' needs an NVIDIA GPU.*give device='cpu'"):
        AMRCFleet(3, CLASSES, device="cuda")


def test_trees_of_more_columns_than_a_warp_compares_are_refused():
    with pytest.raises(ConfigError, match="at most 32 columns at each node, and those of 300 columns try 34; give"):
        AMRCFleet(300, CLASSES, device="cuda")


def test_statements_by_class_of_very_many_classes_are_refused():
    with pytest.raises(ConfigError, match=r"takes \d{5} bytes, and a fleet on a GPU has 48640 for it; give guarantees"):
        AMRCFleet(3, range(320), features="linear", guarantees=Guarantees(per_class=True), device="cuda")


def test_other_devices_are_refused():
    with pytest.raises(ConfigError, match="device must be one of 'cpu', 'cuda'; got 'tpu'"):
        AMRCFleet(3, CLASSES, device="tpu")
