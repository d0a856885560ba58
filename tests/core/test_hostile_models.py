"""Model files that somebody altered, with a checksum that matches, are refused by name or load as sound models."""

import tracemalloc
import zipfile
from functools import cache

import numpy as np
import pytest

from driftline import AMRC, CheckpointError, baselines
from driftline.core import checkpoint
from driftline.core.schema import Described, check_shapes, check_values, expected_in
from driftline.registry import load_model
from helpers.fuzz_models import KINDS_OF_MODELS, begun_models, fuzz
from helpers.model_files import alter, read_model_file, write_model_file
from helpers.quick_models import KINDS, small_stream

begun_models_once = cache(begun_models)


@pytest.fixture(params=KINDS_OF_MODELS)
def begun(request):
    return begun_models_once()[request.param]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.driftline"
    begun_models_once()["amrc"].save(path)
    return path


def set_array(name, value):
    def change(content, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].flat[0] = value

    return change


def set_content(key, value):
    return lambda content, arrays: content.update({key: value})


def replace_array(name, function):
    return lambda content, arrays: arrays.update({name: function(arrays[name])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            set_array("space0/store/labels", 2**31),
            "'space0/store/labels' has 2147483648 at .0.; expected numbers from 0 to 2",
        ),
        (
            replace_array("space0/members/gain", lambda gain: gain[:-1]),
            r"'space0/members/gain' has the shape \(5,\); expected \(6\)",
        ),
        (set_array("space0/members/partner", 99), "'space0/members/partner' differs from what the parameters"),
        (set_array("space0/members/mu", np.nan), "'space0/members/mu' has nan"),
        (set_array("weights", 0.9), "'weights' has values that cannot be; expected values that sum to 1"),
        (set_array("columns/count", 1e9), "'columns/count' has 1000000000.0 at .0.; expected numbers from 0 to 10000"),
        (
            replace_array("drift/origin", lambda origin: origin.astype("U3")),
            "'drift/origin' has the type <U3; expected <f8",
        ),
        (lambda content, arrays: arrays.pop("drift/origin"), "lacks the array 'drift/origin'"),
        (lambda content, arrays: arrays.pop("pending/z"), "lacks the array 'pending/z'"),
        (lambda content, arrays: arrays.update(extra=np.zeros(2)), "has an array 'extra', which a model"),
        (replace_array("pending/x", lambda x: x[:2]), "has the shape"),
        (set_content("classes", {"dtype": "<i8", "values": [0, 1, 2, 3]}), "has the shape"),
        (set_content("classes", {"dtype": "<U99999999", "values": [1]}), "'classes' are not different labels"),
        (set_content("classes", [1, 2]), "'classes' are no list"),
        (set_content("columns", [5, []]), "has the shape"),
        (set_content("columns", [4, ["a", "a", "b", "c"]]), "'columns' is .* expected no names, or 4 different names"),
        (set_content("columns_begun", 7), "'columns_begun' is 7; expected at most the number of columns, 4"),
        (set_content("seed", -1), "'seed' is -1; expected a whole number from 0"),
        (set_content("last_time", float("inf")), "'last_time' is inf; expected a finite number or null"),
        (set_content("parameters", {"features": "x"}), "parameters are not those of AMRC: features must be one of"),
        (set_content("parameters", {"features": "linear", "x": 3}), "parameters are not those of AMRC"),
        (set_content("estimator", "Popen"), "a model of the class Popen, which this version of driftline lacks"),
        (set_content("estimator", None), "'estimator' is None; expected a name"),
    ],
    ids=range(23),
)
def test_an_altered_file_is_refused_and_the_error_names_what_is_wrong(saved, change, message):
    alter(saved, change)
    with pytest.raises(CheckpointError, match=message):
        load_model(saved)


def test_every_array_of_every_model_is_described_and_checked(begun):
    """Each array in turn is made longer, and then filled with numbers that no model has."""
    arrays, schema = begun._learner.state(), begun._learner.schema()
    assert set(schema) >= set(arrays)
    described = {name: Described(array.shape, array.dtype) for name, array in arrays.items()}
    schema = expected_in(arrays, checkpoint.VERSION, schema)
    check_shapes(described, schema)
    check_values(arrays, schema)
    for name in (name for name in arrays if arrays[name].size):
        longer = Described((3 * len(arrays[name]), *arrays[name].shape[1:]), arrays[name].dtype)
        with pytest.raises(CheckpointError, match="has the shape"):
            check_shapes(described | {name: longer}, schema)
        wrong = {"U": "x", "f": np.inf, "i": -7}.get(arrays[name].dtype.kind)
        if wrong is not None and not schema[name].allows_inf:
            with pytest.raises(CheckpointError, match=f"'{name}'"):
                check_values(arrays | {name: np.full_like(arrays[name], wrong)}, schema)


@pytest.mark.parametrize(
    ("estimator", "changes"),
    [
        ("amrc-fourier", {"n_components": 2**31 - 1}),
        ("paper", {"n_subgradients": 2**31 - 1}),
        ("paper", {"n_iterations": 2**31 - 1}),
        ("paper", {"order": 2**31 - 1}),
        ("RBP", {"budget": 2**31 - 1}),
        ("AdaRaker", {"n_components": 2**31 - 1}),
        ("WindowedMajority", {"window": 2**31 - 1}),
    ],
    ids=str,
)
def test_parameters_that_would_take_all_memory_are_refused_before_anything_is_allocated(tmp_path, estimator, changes):
    path = tmp_path / "model.driftline"
    begun_models_once()[estimator].save(path)
    alter(path, lambda content, arrays: content["parameters"].update(changes))
    tracemalloc.start()
    with pytest.raises(
        CheckpointError, match=r"bytes of memory or more, and at most 1073741824 are allowed.*max_bytes"
    ):
        load_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


def test_a_small_file_of_large_arrays_is_refused_before_they_are_inflated(saved):
    header, arrays = read_model_file(saved)
    large = {"space0/store/rows": np.zeros((2**20, 5), np.float32)}
    write_model_file(saved, header, arrays | large, compression=zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 2**19
    tracemalloc.start()
    with pytest.raises(CheckpointError, match="bytes of memory or more"):
        load_model(saved, max_bytes=2**23)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


def test_a_larger_model_loads_if_the_caller_allows_it(saved):
    size = sum(array.nbytes for array in read_model_file(saved)[1].values())
    with pytest.raises(CheckpointError, match="max_bytes"):
        AMRC.load(saved, max_bytes=size // 2)
    assert AMRC.load(saved, max_bytes=2 * size).n_steps_ == 60


def test_a_deep_header_and_other_compressions_are_refused(saved, tmp_path):
    header, arrays = read_model_file(saved)
    for compression in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        write_model_file(saved, header, arrays, compression=compression)
        with pytest.raises(CheckpointError, match="in a way `save` never uses"):
            load_model(saved)
    with zipfile.ZipFile(saved, "w") as archive:
        buffer = np.lib.format.magic(1, 0)
        archive.writestr(f"{checkpoint.HEADER}.npy", buffer + (9_999).to_bytes(2, "little") + b"(" * 9_999)
    with pytest.raises(CheckpointError, match="not a saved model, or is damaged") as caught:
        load_model(saved)
    assert "allow_pickle" not in str(caught.value)


def test_files_in_another_byte_order_and_another_order_of_memory_load(saved):
    header, arrays = read_model_file(saved)
    X = np.pad(small_stream()[0][:5], ((0, 0), (0, 1)))
    expected = load_model(saved).predict_proba(X)
    foreign = {name: np.asfortranarray(array.astype(array.dtype.newbyteorder(">"))) for name, array in arrays.items()}
    write_model_file(saved, header, foreign)
    assert np.array_equal(load_model(saved).predict_proba(X), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scaling", ["running", "none"])
def test_a_model_that_learned_from_extreme_rows_can_be_loaded_again(tmp_path, kind, scaling):
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(80, 3)) * 10.0 ** rng.integers(-30, 31, size=(80, 3)), -1e30, 1e30)
    X[rng.random(X.shape) < 0.1] = np.nan
    y, times = rng.integers(0, 3, 80), np.cumsum(10.0 ** rng.integers(-9, 15, size=80))
    model = KINDS[kind](scaling=scaling).partial_fit(X, y, timestamps=times)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_altered_files_neither_end_the_process_nor_give_wrong_numbers():
    counts, failures = fuzz(100, seed=1)
    assert failures == []
    assert counts["files"] == 100
    assert counts["refused"] > 50
    assert counts["loaded"] > 10


def with_long_header(array, n_bytes):
    """Return an array in version 2 of NumPy's format, with so many blanks in its header."""
    text = repr({"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}).encode()
    header = text + b" " * (n_bytes - len(text) - 1) + b"\n"
    return b"\x93NUMPY\x02\x00" + n_bytes.to_bytes(4, "little") + header + array.tobytes()


def peak_of_refusal(path, match):
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=match):
            load_model(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_long_header_of_an_array_is_not_read(saved):
    with zipfile.ZipFile(saved) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["weights.npy"] = with_long_header(np.zeros(3), 2**26)
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    assert peak_of_refusal(saved, "header of an array has 67108864 bytes; expected at most 10000") < 2**24


def test_one_long_label_does_not_make_all_labels_long(saved):
    values = ["x" * 4000, *map(str, range(100_000))]
    alter(saved, set_content("classes", {"dtype": "<U4000", "values": values}))
    assert peak_of_refusal(saved, "'classes' cannot be labels") < 2**27


def test_directions_that_need_large_matrices_are_refused(tmp_path):
    path = tmp_path / "model.driftline"
    baselines.AdaRaker(n_components=5).partial_fit(*small_stream()).save(path)
    alter(path, lambda content, arrays: content.update(columns=[10_000, []], columns_begun=10_000))
    assert peak_of_refusal(path, "takes 25.* bytes of memory or more") < 2**24
