import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from driftline import CheckpointError, ConfigError, DataError
from driftline.adapters import RiverClassifier
from driftline.evaluation import evaluate, read_records
from driftline.evaluation.records import TIMINGS
from driftline.streams import ArrayStream
from helpers.quick_models import small_stream

pytest.importorskip("river", reason="needs river: pip install 'driftline[river]'")

from river import dummy, ensemble, forest, linear_model, multiclass, naive_bayes, preprocessing, tree

MODELS = {
    "forest": lambda: forest.ARFClassifier(n_models=3, seed=1),
    "patches": lambda: ensemble.SRPClassifier(n_models=3, seed=1),
    "tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1, grace_period=20),
    "bagging": lambda: ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), n_models=3, seed=1),
    "bayes": naive_bayes.GaussianNB,
    "softmax": lambda: preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
    "logistic": lambda: preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.Perceptron()),
    "no probabilities": lambda: multiclass.OneVsOneClassifier(linear_model.LogisticRegression()),
    "its own prediction": dummy.NoChangeClassifier,
}


class Recorder(naive_bayes.GaussianNB):
    seen = []  # noqa: RUF012  # of all copies

    def learn_one(self, x, y):
        self.seen.append((x, y))


@pytest.fixture
def seen():
    Recorder.seen.clear()
    return Recorder.seen


def progressive(model, X, y):
    """What River's own evaluation has: predict, then learn."""
    predictions, given = [], []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(zip(("x0", "x1", "x2"), row, strict=True))
        predictions.append(model.predict_one(x))
        try:
            given.append(model.predict_proba_one(x).get(label, 0.0))
        except NotImplementedError:
            given.append(np.nan)
        model.learn_one(x, label)
    return predictions, given


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("labels", "announces"),
    [
        ([0, 1], True),
        pytest.param([3, 1, 2], False, marks=pytest.mark.slow),
        (["cow", "ant", "bee"], False),
        (["cow", "ant", "bee"], True),
    ],
    ids=str,
)
def test_predictions_are_those_of_rivers_own_evaluation(name, labels, announces):
    X, y = small_stream(n_steps=300, n_classes=len(labels))
    X, y = X.round(1), np.array(labels)[y]  # with ties, which labels decide
    answers = RiverClassifier(MODELS[name]()).prequential(X, y, classes=labels if announces else None)
    predictions, given = progressive(MODELS[name](), X, y)
    answered = [prediction is not None and t > 0 for t, prediction in enumerate(predictions)]
    assert sum(answered) >= 290
    assert answers.predicted[answered].tolist() == np.array(predictions)[answered].tolist()
    assert np.allclose(answers.label_probabilities[10:], given[10:], rtol=1e-12, atol=1e-12, equal_nan=True)
    assert np.isnan(answers.bounds).all()


def test_a_model_of_false_and_true_takes_two_labels_of_any_kind_and_no_third():
    X, y = small_stream(n_steps=200, n_classes=3)
    words = np.array(["no", "yes", "perhaps"])[y]
    two = words != "perhaps"
    model = RiverClassifier(linear_model.LogisticRegression())
    answers = model.prequential(X[two], words[two])
    assert set(answers.predicted[1:]) == {"no", "yes"}
    assert model.score(X[two], words[two]) > 0.7
    with pytest.raises(DataError, match=r"LogisticRegression supports two classes only.*OneVsRestClassifier"):
        model.partial_fit(X[~two], words[~two])


def test_predictions_are_made_after_rows_that_nobody_asked_about():
    X, y = small_stream(n_steps=200)
    one, other = RiverClassifier(naive_bayes.GaussianNB()), RiverClassifier(naive_bayes.GaussianNB())
    one.partial_fit(X[:100], y[:100], classes=[0, 1])
    other.prequential(X[:100], y[:100], classes=[0, 1])
    said, expected = one.prequential(X[100:], y[100:]), other.prequential(X[100:], y[100:])
    assert np.array_equal(said.predicted, expected.predicted)
    assert np.array_equal(said.probabilities, expected.probabilities)
    assert not np.isnan(said.probabilities).any()


def test_before_it_has_learned_all_announced_classes_are_alike():
    X, y = small_stream(n_classes=3)
    answers = RiverClassifier(naive_bayes.GaussianNB()).assess(X, y, classes=[0, 1, 2])
    assert answers.predicted.tolist() == [0] * len(X)
    assert np.allclose(answers.label_probabilities, 1 / 3)
    unannounced = RiverClassifier(naive_bayes.GaussianNB()).assess(X, y)
    assert unannounced.predicted.tolist() == [None] * len(X)
    assert not unannounced.probabilities.any()
    with pytest.raises(NotFittedError):
        RiverClassifier(naive_bayes.GaussianNB()).predict(X)


def test_probabilities_are_of_all_classes_and_sum_to_one():
    X, y = small_stream(n_classes=3)
    model = RiverClassifier(MODELS["logistic"]()).partial_fit(X, y, classes=[0, 1, 2, 3])
    h = model.predict_proba(X)
    assert h.shape == (len(X), 4)
    assert np.allclose(h.sum(axis=1), 1.0)
    assert not h[:, 3].any()
    assert np.array_equal(model.classes_[h.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("announced", [[0, 1, 2], None])
def test_each_prediction_has_the_probabilities_of_all_classes(announced):
    X, y = small_stream(n_steps=100, n_classes=3)
    y[:20] = np.where(y[:20] == 2, 1, y[:20])  # the third class occurs late
    model = RiverClassifier(naive_bayes.GaussianNB())
    answers = model.prequential(X, y, classes=announced)
    columns = np.argmax(y[:, None] == model.classes_, axis=1)
    assert answers.probabilities.shape == (100, 3)
    assert np.array_equal(answers.probabilities[np.arange(100), columns], answers.label_probabilities)
    assert np.allclose(answers.probabilities[1:].sum(axis=1), 1.0)
    without = RiverClassifier(MODELS["no probabilities"]()).prequential(X, y, classes=[0, 1, 2])
    assert not without.probabilities.any()
    assert np.isnan(without.label_probabilities[1:]).all()


def test_a_model_without_probabilities_says_so():
    X, y = small_stream()
    model = RiverClassifier(MODELS["no probabilities"]()).fit(X, y)
    assert model.predict(X).shape == (60,)
    with pytest.raises(ConfigError, match=r"OneVsOneClassifier.* has no probabilities; use predict"):
        model.predict_proba(X)


def test_river_sees_names_of_columns_codes_as_text_and_nothing_that_is_missing(seen):
    frame = pd.DataFrame({"size": [1.5, np.nan], "colour": [3.0, 4.0]})
    model = RiverClassifier(Recorder(), nominal=["colour"]).partial_fit(frame[:1], ["red"])
    assert seen == [({"size": 1.5, "colour": "3.0"}, "red")]
    model.partial_fit(frame[1:], ["blue"])
    assert seen[1] == ({"colour": "4.0"}, "blue")
    assert model.n_missing_ == 1
    RiverClassifier(Recorder(), nominal=[0]).partial_fit([[1.0, 2.0]], [7])
    assert seen[2] == ({"x0": "1.0", "x1": 2.0}, 7)


def test_the_model_given_configures_several_runs_and_stays_as_it_is():
    X, y = small_stream()
    given = MODELS["forest"]()
    first, second = RiverClassifier(given), RiverClassifier(given)
    one, other = first.prequential(X, y), second.prequential(X, y)
    assert one.predicted.tolist() == other.predicted.tolist()
    assert given.predict_proba_one({"x0": 0.0}) == {}
    assert first.model_ is not given
    assert first.model_.predict_one({"x0": 0.0, "x1": 0.0, "x2": 0.0}) is not None


@pytest.mark.parametrize("name", MODELS)
def test_copies_pickles_and_clones_go_on_alike(name):
    X, y = small_stream(n_classes=3)
    model = RiverClassifier(MODELS[name](), nominal=()).partial_fit(X[:30], y[:30])
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    expected = model.prequential(X[30:], y[30:])
    for other in copies:
        assert other.prequential(X[30:], y[30:]).predicted.tolist() == expected.predicted.tolist()
    again = clone(model)
    assert not hasattr(again, "classes_")
    again.partial_fit(X[:30], y[:30])
    assert again.prequential(X[30:], y[30:]).predicted.tolist() == expected.predicted.tolist()


def test_a_run_is_resumed_as_if_it_had_not_stopped(tmp_path):
    stream = ArrayStream(*small_stream(n_steps=200, n_classes=3))

    def run(folder, limit=None, resume=False):
        model = RiverClassifier(MODELS["forest"]())
        evaluate(model, stream, limit=limit, checkpoint=folder, resume=resume, progress=False)
        return read_records(folder).drop_columns(list(TIMINGS)).to_pydict()

    whole = run(tmp_path / "whole")
    run(tmp_path / "cut", limit=90)
    assert run(tmp_path / "cut", resume=True) == whole


def test_labels_may_come_late_and_each_row_is_asked_about_once():
    asked = []

    class Asked(naive_bayes.GaussianNB):
        def predict_proba_one(self, x):
            asked.append(x["x0"])
            return super().predict_proba_one(x)

    X, y = small_stream(n_steps=200)
    evaluation = evaluate(RiverClassifier(Asked()), ArrayStream(X, y), delay=20, progress=False)
    assert 0.1 < evaluation.summary.error < 0.4
    assert asked == X[21:, 0].tolist()
    evaluation.model.partial_fit(X, y)
    assert len(asked) == 179


@pytest.mark.parametrize(
    ("model", "nominal", "message"),
    [
        (naive_bayes.GaussianNB, (), r"must be a River classifier, such as GaussianNB\(\); got <class"),
        ("arf", (), "must be a River classifier"),
        (preprocessing.StandardScaler(), (), "must be a River classifier"),
        (naive_bayes.GaussianNB(), "x0", "got the text 'x0'"),
        (naive_bayes.GaussianNB(), ["z"], r"nominal contains 'z'; expected names of columns \(x0, x1, x2\)"),
        (naive_bayes.GaussianNB(), [3], r"nominal contains 3; expected .* from 0 to 2"),
    ],
)
def test_what_cannot_work_is_refused(model, nominal, message):
    X, y = small_stream()
    refused = RiverClassifier(model, nominal)
    with pytest.raises(ConfigError, match=message):
        refused.partial_fit(X, y)
    assert not hasattr(refused, "n_features_in_")


def test_what_river_raises_names_the_row():
    class Fragile(naive_bayes.GaussianNB):
        def learn_one(self, x, y):
            if "x1" not in x:
                raise KeyError("x1")
            super().learn_one(x, y)

    X, y = small_stream(n_steps=400)
    X[300, 1] = np.nan
    with pytest.raises(DataError, match=r"follows the 300 learned \(KeyError: 'x1'\); it has missing values: fill"):
        RiverClassifier(Fragile()).partial_fit(X, y)


def test_a_row_that_river_refuses_brings_no_class():
    class Fragile(naive_bayes.GaussianNB):
        def learn_one(self, x, y):
            if x["x0"] > 100:
                raise RuntimeError("too large")
            super().learn_one(x, y)

        def predict_proba_one(self, x):
            if x["x0"] < -100:
                raise RuntimeError("too small")
            return super().predict_proba_one(x)

    X, y = small_stream()
    model = RiverClassifier(Fragile()).fit(X, y)
    with pytest.raises(DataError, match=r"follows the 60 learned \(RuntimeError: too large\)$"):
        model.partial_fit(X + 1000, np.full(60, 7))
    assert model.classes_.tolist() == [0, 1]
    assert model.predict_proba(X).shape == (60, 2)
    model.partial_fit(X[:2], [9, 0])
    assert model.classes_.tolist() == [0, 1, 9]
    X[5] = -1000
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(DataError, match=r"cannot use row 5 of X \(RuntimeError: too small\)$"):
            ask(X)


def test_it_is_pickled_not_saved(tmp_path):
    model = RiverClassifier(naive_bayes.GaussianNB()).fit(*small_stream())
    with pytest.raises(CheckpointError, match="pickle the classifier instead"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([RiverClassifier(naive_bayes.GaussianNB())])
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
