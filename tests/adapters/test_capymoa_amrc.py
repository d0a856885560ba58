"""AMRC where CapyMOA's users work: their evaluators, generators and files."""

import io

import numpy as np
import pytest

import driftline
from driftline.registry import describe
from helpers.quick_models import small_stream

if missing := describe("capymoa-arf").missing:
    pytest.skip(f"needs CapyMOA: {missing}", allow_module_level=True)

from capymoa.classifier import NaiveBayes
from capymoa.core import Instance, LabeledInstance
from capymoa.core.io import load_model, save_model
from capymoa.evaluation import prequential_evaluation, prequential_evaluation_multiple_learners
from capymoa.stream import NumpyStream, Schema
from capymoa.stream.drift import AbruptDrift, DriftStream
from capymoa.stream.generator import SEA

from driftline.adapters.capymoa import AMRC


def schema_of(n_classes, **nominal):
    names = ["x0", "x1", "x2", *nominal, "class"]
    return Schema.from_custom(names, "class", {"class": [str(j) for j in range(n_classes)], **nominal})


@pytest.mark.parametrize("options", [{}, {"features": "linear", "order": 0}, {"scaling": "none", "n_components": 20}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_predictions_and_bounds_are_those_of_the_native_estimator_row_by_row(n_classes, options):
    X, y = small_stream(n_steps=150, n_classes=n_classes)
    X[::9, 1] = np.nan
    schema = schema_of(n_classes)
    theirs, ours = AMRC(schema, random_seed=5, **options), driftline.AMRC(random_state=5, **options)
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        said = theirs.predict_proba(Instance.from_array(schema, x))
        if t == 0:
            assert said is None
            assert theirs.predict(Instance.from_array(schema, x)) is None
            assert (theirs.error_bound, theirs.rate_bound, theirs.mistake_bound()) == (1.0, 1.0, 0.0)
        else:
            assert np.array_equal(said[ours.classes_], ours.predict_proba(x[None])[0])
            assert said.shape == (n_classes,)
            assert said.sum() == pytest.approx(1.0)
            assert theirs.predict(Instance.from_array(schema, x)) == ours.predict(x[None])[0]
        theirs.train(LabeledInstance.from_array(schema, x, label))
        ours.partial_fit(x[None], [label])
        assert (theirs.error_bound, theirs.rate_bound) == (ours.error_bound_, ours.rate_bound_)
        assert theirs.mistake_bound(0.1) == ours.mistake_bound(0.1)


def test_one_stream_through_all_three_gives_the_same_predictions_and_bounds():
    pytest.importorskip("river")
    from driftline.adapters.river import AMRC as RiversAMRC  # noqa: N811, PLC0415

    X, y = small_stream(n_steps=200, n_classes=3)
    schema, names = schema_of(3), ["x0", "x1", "x2"]
    native, capymoas, rivers = driftline.AMRC(random_state=2), AMRC(schema, random_seed=2), RiversAMRC(seed=2)
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        row = dict(zip(names, x.tolist(), strict=True))
        if t:
            said = native.predict_proba(x[None])[0]
            assert list(rivers.predict_proba_one(row).values()) == said.tolist()
            assert capymoas.predict_proba(Instance.from_array(schema, x))[native.classes_].tolist() == said.tolist()
            assert (
                native.predict(x[None])[0]
                == rivers.predict_one(row)
                == capymoas.predict(Instance.from_array(schema, x))
            )
        native.partial_fit(x[None], [label])
        rivers.learn_one(row, label)
        capymoas.train(LabeledInstance.from_array(schema, x, label))
        assert native.error_bound_ == rivers.error_bound == capymoas.error_bound
        assert native.rate_bound_ == rivers.rate_bound == capymoas.rate_bound


def test_nominal_attributes_become_columns_of_zeros_and_ones():
    rng = np.random.default_rng(0)
    X, y = small_stream(n_steps=80)
    codes = rng.integers(0, 3, 80).astype(float)
    codes[4] = np.nan
    schema = schema_of(2, colour=["red", "green", "blue"])
    theirs, ours = AMRC(schema, random_seed=0), driftline.AMRC(random_state=0)
    for x, code, label in zip(X, codes, y.tolist(), strict=True):
        spread = [*x, *(np.full(3, np.nan) if np.isnan(code) else np.eye(3)[int(code)])]
        theirs.train(LabeledInstance.from_array(schema, np.array([*x, code]), label))
        ours.partial_fit([spread], [label])
    assert theirs.error_bound == ours.error_bound_
    assert theirs.model.n_features_in_ == 6


def test_instances_without_a_label_are_not_learned():
    X, y = small_stream(n_steps=20)
    schema = schema_of(2)
    model = AMRC(schema)
    for x, label in zip(X, y.tolist(), strict=True):
        model.train(LabeledInstance.from_array(schema, x, label))
    before = model.predict_proba(Instance.from_array(schema, X[0])).copy()

    class Unlabelled:
        x = X[3]
        y_index = -1

    model.train(Unlabelled())
    assert model.model.n_steps_ == 20
    assert np.array_equal(model.predict_proba(Instance.from_array(schema, X[0])), before)


def test_their_evaluators_count_the_mistakes_of_the_native_estimator():
    X, y = small_stream(n_steps=400)
    stream = NumpyStream(X, y, dataset_name="small", feature_names=["a", "b", "c"], target_type="categorical")
    results = prequential_evaluation(stream, AMRC(stream.get_schema(), random_seed=1), window_size=100)
    answers = driftline.AMRC(random_state=1).prequential(X, y)
    # Of the first row, of which nothing was known, theirs counts the first class of the schema as said.
    right = (answers.predictions == y).sum() + (y[0] == 0)
    assert results.accuracy() == pytest.approx(100 * right / len(y))
    stream.restart()
    both = prequential_evaluation_multiple_learners(
        stream, {"AMRC": AMRC(stream.get_schema(), random_seed=1), "NB": NaiveBayes(stream.get_schema())}
    )
    assert both["AMRC"].accuracy() == pytest.approx(results.accuracy())
    assert str(AMRC(stream.get_schema())) == "AMRC"


def test_their_drifting_generators_are_followed():
    stream = DriftStream(stream=[SEA(function=1), AbruptDrift(position=1000), SEA(function=3)])
    results = prequential_evaluation(stream, AMRC(stream.get_schema()), max_instances=2000)
    assert results.accuracy() > 80


def test_their_files_keep_a_model_that_goes_on():
    X, y = small_stream(n_steps=120)
    schema = schema_of(2)
    model = AMRC(schema, coverage=0.9)
    for x, label in zip(X[:60], y[:60].tolist(), strict=True):
        model.train(LabeledInstance.from_array(schema, x, label))
    file = io.BytesIO()
    save_model(model, file)
    file.seek(0)
    again = load_model(file)
    for each in model, again:
        for x, label in zip(X[60:], y[60:].tolist(), strict=True):
            each.train(LabeledInstance.from_array(each.schema, x, label))
    said = [each.predict_proba(Instance.from_array(each.schema, X[0])) for each in (model, again)]
    assert np.array_equal(*said)
    assert again.error_bound == model.error_bound
    assert again.model.coverage == 0.9


def test_parameters_are_captured_as_theirs_are():
    model = AMRC(schema_of(2), random_seed=7, order=0)
    assert model.get_params()["order"] == 0
    assert (model.random_seed, model.model.random_state) == (7, 7)
