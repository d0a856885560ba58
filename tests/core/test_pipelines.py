"""The estimators where scikit-learn's users put them: pipelines, searches, routed metadata, files."""

import io
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import IncrementalPCA
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from driftline.streams import MovingClass
from helpers.quick_models import linear

X, y = MovingClass().sample(240, seed=0)
NAMES = np.array(["still", "moving"])[y]


def test_in_a_pipeline_an_estimator_predicts_as_behind_its_transformers(make):
    pipeline = make_pipeline(StandardScaler(), make()).fit(X, NAMES)
    alone = make().fit(StandardScaler().fit_transform(X), NAMES)
    assert np.array_equal(pipeline.predict_proba(X), alone.predict_proba(StandardScaler().fit_transform(X)))
    assert pipeline.score(X, NAMES) == alone.score(StandardScaler().fit_transform(X), NAMES)


def test_steps_that_learn_in_blocks_make_a_pipeline_that_predicts(make):
    reduce, model = IncrementalPCA(2), make()
    for block in np.array_split(np.arange(len(X)), 4):
        reduce.partial_fit(X[block])
        model.partial_fit(reduce.transform(X[block]), NAMES[block])
    expected = model.predict(reduce.transform(X))
    assert np.array_equal(make_pipeline(reduce, model).predict(X), expected)


def test_tables_from_transformers_name_the_columns(make):
    pytest.importorskip("pandas")
    pipeline = make_pipeline(StandardScaler(), make()).set_output(transform="pandas").fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["x0", "x1"]
    assert pipeline.predict(X).shape == y.shape


def test_a_search_over_ordered_folds_is_that_of_fits_on_what_came_before():
    folds = TimeSeriesSplit(3)
    search = GridSearchCV(linear(), {"order": [0, 1]}, cv=folds).fit(X, NAMES)
    for order, score in zip([0, 1], search.cv_results_["mean_test_score"], strict=True):
        scores = [linear(order=order).fit(X[a], NAMES[a]).score(X[b], NAMES[b]) for a, b in folds.split(X)]
        assert score == pytest.approx(np.mean(scores))
    best = linear(**search.best_params_).fit(X, NAMES)
    assert np.array_equal(search.predict(X), best.predict(X))
    assert len(cross_val_score(linear(), X, NAMES, cv=folds)) == 3


def test_a_wrapper_that_calibrates_works_on_ordered_folds(make):
    wrapped = CalibratedClassifierCV(make(), cv=TimeSeriesSplit(2)).fit(X, NAMES)
    shares = wrapped.predict_proba(X)
    assert wrapped.classes_.tolist() == ["moving", "still"]
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_times_are_handed_on_to_those_who_ask_for_them(make):
    times = np.arange(len(X)) ** 1.5
    with sklearn.config_context(enable_metadata_routing=True):
        asking = make().set_fit_request(timestamps=True)
        pipeline = make_pipeline(StandardScaler(), asking).fit(X, y, timestamps=times)
        search = GridSearchCV(asking, {"deterministic": [True]}, cv=TimeSeriesSplit(2)).fit(X, y, timestamps=times)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            make_pipeline(StandardScaler(), make()).fit(X, y, timestamps=times)
        ordinary = make().set_partial_fit_request(timestamps=True)
        assert ordinary.get_metadata_routing().partial_fit.requests["timestamps"] is True
    direct = make().fit(StandardScaler().fit_transform(X), y, timestamps=times)
    assert pipeline[-1].error_bound_ == direct.error_bound_
    assert search.best_estimator_._last_time == times[-1]


@pytest.mark.parametrize("how", ["pickle", "joblib", "skops"])
def test_models_survive_the_files_of_others_and_go_on(make, how):
    model = make().partial_fit(X[:120], NAMES[:120])
    again = {"pickle": _by_pickle, "joblib": _by_joblib, "skops": _by_skops}[how](model)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    for each in model, again:
        each.partial_fit(X[120:], NAMES[120:])
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.error_bound_ == model.error_bound_


def _by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def _by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def _by_skops(model):
    skops = pytest.importorskip("skops.io")
    content = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=content)
    assert all(name.startswith("driftline.") for name in unknown)
    return skops.loads(content, trusted=unknown)
