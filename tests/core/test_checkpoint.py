import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings

from driftline import AMRC, CheckpointError, PaperAMRC
from driftline.core import checkpoint
from driftline.core.class_list import ClassList
from driftline.core.features import LinearMap
from helpers.quick_models import QUICK, assert_same, linear, paper, plain, small_stream
from helpers.strategies import paper_configurations, seeds


@settings(max_examples=25)
@given(paper_configurations, seeds)
def test_a_paper_model_continues_from_its_file_as_if_it_had_never_stopped(tmp_path_factory, configuration, seed):
    check_continuation(plain(**configuration, **QUICK), tmp_path_factory.mktemp("model") / "model.driftline", seed)


@settings(max_examples=5)
@given(seeds)
def test_loading_and_continuing_equals_never_having_stopped(tmp_path_factory, make, seed):
    check_continuation(make(), tmp_path_factory.mktemp("model") / "model.driftline", seed)


def check_continuation(model, path, seed):
    X, y = small_stream(seed, n_classes=3)
    X[3, 1] = np.nan
    names = np.array(["ham", "spam", "phishing"])
    model.partial_fit(X, names[y])
    model.save(path)
    loaded = AMRC.load(path)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert_same(loaded, model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    more, later = small_stream(seed + 1, n_classes=3)
    one, other = list(model.steps(more, names[later])), list(loaded.steps(more, names[later]))
    assert [step.bound for step in one] == [step.bound for step in other]
    assert all(
        np.array_equal(ours.probabilities, theirs.probabilities) for ours, theirs in zip(one, other, strict=True)
    )
    assert_same(loaded, model)


def saved(tmp_path, make=paper, **options):
    X, y = small_stream()
    path = tmp_path / "model.driftline"
    model = make(**options).fit(X, y)
    model.save(path)
    return model, path


def test_a_file_is_read_by_the_kind_that_wrote_it_or_by_the_default(tmp_path):
    _, of_paper = saved(tmp_path, paper)
    assert type(AMRC.load(of_paper)) is PaperAMRC
    assert type(PaperAMRC.load(of_paper)) is PaperAMRC
    _, of_default = saved(tmp_path, linear)
    assert type(AMRC.load(of_default)) is AMRC
    with pytest.raises(CheckpointError, match=r"contains a model of the class AMRC: load it with AMRC\.load"):
        PaperAMRC.load(of_default)


def test_notes_go_with_the_model_until_it_begins_anew(tmp_path, make):
    X, y = small_stream()
    model = make().fit(X, y)
    model.save(tmp_path / "a", notes={"rows": "of June", "columns": ["a", None]})
    loaded = AMRC.load(tmp_path / "a").partial_fit(X, y)
    assert loaded.notes_ == {"rows": "of June", "columns": ["a", None]}
    loaded.save(tmp_path / "b")
    assert AMRC.load(tmp_path / "b").notes_ == loaded.notes_
    loaded.fit(X, y).save(tmp_path / "c")
    assert AMRC.load(tmp_path / "c").notes_ == {}


def test_a_file_that_lacks_an_array_is_refused(tmp_path):
    _, path = saved(tmp_path, linear)
    content, arrays = checkpoint.read_checkpoint(path)
    del arrays["drift/origin"]
    checkpoint.write_checkpoint(path, content, arrays)
    with pytest.raises(CheckpointError, match="lacks 'origin': it was saved by another version of driftline"):
        AMRC.load(path)


def test_times_columns_and_seeds_are_kept(tmp_path, make):
    X, y = small_stream()
    pandas = pytest.importorskip("pandas")
    model = make(deterministic=False, random_state=np.random.RandomState(5))
    model.fit(pandas.DataFrame(X, columns=list("abc")), y, timestamps=np.arange(60))
    model.save(tmp_path / "m")
    loaded = AMRC.load(tmp_path / "m")
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]
    assert loaded._last_time == 59
    frame = pandas.DataFrame(X, columns=list("abc"))
    assert np.array_equal(loaded.predict(frame), model.predict(frame))


def test_a_custom_feature_map_must_be_passed_to_load_again(tmp_path, make):
    X, y = small_stream()
    model, path = saved(tmp_path, make, features=LinearMap(intercept=True))
    with pytest.raises(CheckpointError, match="pass it as `features`"):
        AMRC.load(path)
    loaded = AMRC.load(path, features=LinearMap(intercept=True))
    assert_same(loaded.partial_fit(X, y), model.partial_fit(X, y))
    saved(tmp_path, make)
    with pytest.raises(CheckpointError, match="omit `features`"):
        AMRC.load(path, features=LinearMap())


def test_a_truncated_file_is_refused(tmp_path, make):
    _, path = saved(tmp_path, make)
    content = path.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match="not a saved model, or is damaged"):
            AMRC.load(path)


def test_a_foreign_file_is_refused(tmp_path):
    for name, write in {
        "text": lambda path: path.write_text("hello"),
        "npy": lambda path: np.save(path.open("wb"), np.arange(3)),
        "npz": lambda path: np.savez(path.open("wb"), a=np.arange(3)),
    }.items():
        path = tmp_path / name
        write(path)
        with pytest.raises(CheckpointError, match="not a saved model"):
            AMRC.load(path)
    with pytest.raises(FileNotFoundError):
        AMRC.load(tmp_path / "nothing")


def rewritten(path, change):
    """Change what a checkpoint says, leaving its checksum as it was."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays[checkpoint.HEADER].tobytes())
    change(header, arrays)
    arrays[checkpoint.HEADER] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_a_newer_version_and_a_wrong_checksum_are_refused(tmp_path):
    _, path = saved(tmp_path)
    rewritten(path, lambda header, arrays: arrays["solution/weights"].__iadd__(1e-9))
    with pytest.raises(CheckpointError, match="checksum does not match"):
        AMRC.load(path)
    rewritten(path, lambda header, arrays: header.update(version=99))
    with pytest.raises(CheckpointError, match="format version 99, and this driftline reads up to 3"):
        AMRC.load(path)
    rewritten(path, lambda header, arrays: header.update(format="something"))
    with pytest.raises(CheckpointError, match="its format is 'something'"):
        AMRC.load(path)


def test_the_exact_solver_is_kept(tmp_path):
    X, y = small_stream()
    model, path = saved(tmp_path, solver="exact")
    assert_same(AMRC.load(path).partial_fit(X[:5], y[:5]), model.partial_fit(X[:5], y[:5]))


@pytest.mark.parametrize("make", [paper, linear])
def test_a_flipped_bit_is_found_or_harmless(tmp_path, make):
    model, path = saved(tmp_path, make)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    n_found = 0
    for _ in range(150):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert_same(AMRC.load(path), model)
        except CheckpointError:
            n_found += 1
    assert n_found > 75


def test_saving_into_a_missing_folder_names_it(tmp_path):
    model, _ = saved(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        model.save(tmp_path / "nowhere" / "model")


def test_no_pickle_is_written_or_read(tmp_path, make):
    _, path = saved(tmp_path, make)
    with zipfile.ZipFile(path) as file:
        assert all(name.endswith(".npy") for name in file.namelist())
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, broken):
    model, path = saved(tmp_path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_labels_that_json_cannot_hold_are_refused(tmp_path):
    model, path = saved(tmp_path)
    model._classes = ClassList(np.array([b"no", b"yes"]))
    with pytest.raises(CheckpointError, match="numbers or text"):
        model.save(path)
