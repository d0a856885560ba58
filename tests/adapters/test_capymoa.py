import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from driftline import CheckpointError, ConfigError, DataError
from driftline.adapters import CapyMOAClassifier
from driftline.evaluation import evaluate, read_records
from driftline.evaluation.records import TIMINGS
from driftline.guarantees import Guarded
from driftline.registry import describe
from driftline.streams import ArrayStream
from helpers.quick_models import small_stream

if missing := describe("capymoa-arf").missing:
    pytest.skip(f"needs CapyMOA: {missing}", allow_module_level=True)

from capymoa.classifier import AdaptiveRandomForestClassifier, HoeffdingTree
from capymoa.core import Instance, LabeledInstance
from capymoa.stream import Schema

FEW = {"ensemble_size": 3}


def forest(**changes):
    return CapyMOAClassifier("AdaptiveRandomForestClassifier", **{"options": FEW, "random_state": 3} | changes)


def progressive(X, y, n_classes):
    """What a loop with CapyMOA's own classes has."""
    labels = [str(j) for j in range(n_classes)]
    schema = Schema.from_custom(["x0", "x1", "x2", "class"], "class", {"class": labels})
    model = AdaptiveRandomForestClassifier(schema, random_seed=3, **FEW)
    for row, label in zip(X, y.tolist(), strict=True):
        said = model.predict_proba(Instance.from_array(schema, row))
        yield (0, 1 / n_classes) if said is None else (int(np.argmax(said)), said[label])
        model.train(LabeledInstance.from_array(schema, row, label))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_are_those_of_capymoas_own_loop(n_classes):
    X, y = small_stream(n_steps=300, n_classes=n_classes)
    X[::7, 1] = np.nan
    model = forest()
    answers = model.prequential(X, y, classes=np.arange(n_classes))
    predictions, given = zip(*progressive(X, y, n_classes), strict=True)
    assert answers.predicted.tolist() == list(predictions)
    assert np.allclose(answers.label_probabilities, given)
    assert np.array_equal(answers.probabilities[np.arange(300), y], answers.label_probabilities)
    assert np.allclose(answers.probabilities.sum(axis=1), 1.0)
    assert model.n_missing_ == 43
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_labels_of_any_kind_are_predicted_alike():
    X, y = small_stream(n_steps=200, n_classes=3)
    names = np.array(["ant", "bee", "cow"])
    numbered, named = forest().prequential(X, y, [0, 1, 2]), forest().prequential(X, names[y], names)
    assert named.predicted.tolist() == names[numbered.predicted].tolist()


def test_the_evaluation_announces_the_classes():
    X, y = small_stream(n_steps=200, n_classes=3)
    for delay in (0, 20):
        evaluation = evaluate(forest(), ArrayStream(X, y), delay=delay, progress=False)
        assert evaluation.model.classes_.tolist() == [0, 1, 2]
        assert evaluation.summary.error < 0.5


def test_classes_that_nobody_announced_are_refused():
    X, y = small_stream(n_classes=3)
    model = forest()
    with pytest.raises(ConfigError, match=r"must know all classes at the first call; pass classes=\[…\]"):
        model.partial_fit(X, y)
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1])
    with pytest.raises(DataError, match="created for the 2 classes announced at the first call, and another"):
        model.partial_fit(X, y)
    assert model.classes_.tolist() == [0, 1]


def test_nominal_columns_are_attributes_with_values():
    X, y = small_stream()
    X[:, 1] = np.where(y == 1, 7.0, 4.0)
    X[3, 1] = np.nan
    model = CapyMOAClassifier(HoeffdingTree, nominal={"x1": range(4, 8)}).partial_fit(X, y, classes=[0, 1])
    assert model.model_.schema.get_nominal_attributes() == {"x1": ["4.0", "5.0", "6.0", "7.0"]}
    assert model.score(X, y) > 0.9
    with pytest.raises(DataError, match=r"column x1 contains 3\.0, which is not among the 4 values"):
        model.predict([[0.0, 3.0, 0.0]])


def test_columns_may_be_called_like_the_target():
    X, y = small_stream()
    model = forest().fit(pd.DataFrame(X, columns=["class", "class_", "z"]), y)
    assert str(model.model_.schema.get_moa_header().classAttribute().name()) == "class__"


def test_copies_pickles_and_clones_go_on_alike():
    X, y = small_stream(n_classes=3)
    model = forest().fit(X[:30], y[:30])
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model).fit(X[:30], y[:30])
    expected = model.prequential(X[30:], y[30:])
    for other in copies:
        answers = other.prequential(X[30:], y[30:])
        assert answers.predicted.tolist() == expected.predicted.tolist()
        assert np.array_equal(answers.probabilities, expected.probabilities)


def test_a_run_is_resumed_as_if_it_had_not_stopped(tmp_path):
    stream = ArrayStream(*small_stream(n_steps=200, n_classes=3))

    def run(folder, limit=None, resume=False):
        evaluate(forest(), stream, limit=limit, checkpoint=folder, resume=resume, progress=False)
        return read_records(folder).drop_columns(list(TIMINGS)).to_pydict()

    whole = run(tmp_path / "whole")
    run(tmp_path / "cut", limit=90)
    assert run(tmp_path / "cut", resume=True) == whole


def test_what_java_cannot_write_is_not_saved(tmp_path):
    X, y = small_stream()
    model = CapyMOAClassifier("StreamingRandomPatches", FEW).fit(X, y)
    for keep in (copy.deepcopy, pickle.dumps):
        with pytest.raises(CheckpointError, match="StreamingRandomPatches cannot be copied or saved"):
            keep(model)
    with pytest.raises(CheckpointError, match="evaluate it without a checkpoint"):
        evaluate(clone(model), ArrayStream(X, y), checkpoint=tmp_path / "run", progress=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner": "AdaptiveRandomForest"}, "did you mean AdaptiveRandomForestClassifier"),
        ({"learner": "Schema"}, "learner must be a class in capymoa.classifier"),
        ({"learner": int}, "learner must be a class in capymoa.classifier"),
        (
            {"options": {"trees": 3}},
            r"options has trees; the parameters of AdaptiveRandomForestClassifier are .*ensemble_size",
        ),
        ({"options": {"max_features": "many"}}, "cannot be created with .*many.*: Invalid value for max_features"),
        ({"options": [3]}, r"options must be a mapping, or None; got \[3\]"),
        ({"nominal": ["x1"]}, "nominal must be a mapping"),
        ({"nominal": {"x1": 4}}, "nominal must list the numbers that column 'x1' may contain; got 4"),
        ({"nominal": {"z": [1.0]}}, "nominal contains 'z'; expected names of columns"),
        ({"random_state": -1}, "random_state must be a whole number from 0 up; got -1"),
    ],
)
def test_what_cannot_work_is_refused(changes, message):
    X, y = small_stream()
    with pytest.raises(ConfigError, match=message):
        CapyMOAClassifier(**{"learner": "AdaptiveRandomForestClassifier", "options": FEW} | changes).fit(X, y)


def test_it_can_be_guarded():
    X, y = small_stream(n_steps=200, n_classes=3)
    model = Guarded(forest())
    for t in range(0, 200, 10):
        model.partial_fit(X[t : t + 10], y[t : t + 10], classes=[0, 1, 2])
    assert model.error_interval().n_rows == 190
    assert model.predict_set(X[:5]).any(axis=1).all()
