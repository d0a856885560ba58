"""Arguments of every wrong kind: driftline's own errors come out, and a rejected call changes nothing."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from driftline import AMRC
from driftline.baselines import NOGD
from driftline.errors import ConfigError, DataError, DriftlineError
from driftline.streams import ArrayStream, RangeScaled, RotatingGaussians, load, open_stream
from helpers.csv_stream import write_rows
from helpers.quick_models import assert_same, linear, paper, small_stream

ODD = {
    "nothing": None,
    "a number": 5,
    "a fraction": 2.5,
    "a negative number": -1,
    "a number too large": 10**30,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "a truth value": True,
    "a text": "x",
    "bytes": b"x",
    "a column": pd.Series([1.0, 2.0, 3.0]),
    "no dimension": np.array(1.0),
    "three dimensions": np.zeros((2, 3, 3)),
    "an empty list": [],
    "no rows": np.empty((0, 3)),
    "objects": np.array([[object(), 1, 2]], dtype=object),
    "a dict": {"a": 1},
    "a set": {1, 2},
    "lists of different lengths": [[1, 2], [3]],
    "texts": [["a", "b", "c"]],
    "missing values": [None, None, None],
    "complex numbers": np.ones((2, 3), complex),
    "records": np.zeros(3, dtype=[("a", int)]),
    "dates": np.array(["2020-01-01"] * 3, dtype="M8[D]"),
    "a sparse matrix": sparse.eye_array(3).tocsr(),
    "a class": int,
    "a function": len,
    "a range": range(3),
    "categories": pd.Categorical(["a", "b", "a"]),
    "names of two levels": pd.DataFrame([[1, 2, 3]], columns=pd.MultiIndex.from_product([["a"], [1, 2, 3]])),
    "equal names": pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]),
    "names of two types": pd.DataFrame([[1, 2, 3]], columns=[0, "a", 2]),
}
KINDS = {"linear": linear, "paper": paper, "nogd": NOGD}
X, y = small_stream(n_steps=12)
VALID = {
    "X": X[:3],
    "y": y[:3],
    "timestamps": [12, 13, 14],
    "classes": None,
    "asked": 0,
    "ids": None,
    "columns": 1,
    "delta": 0.05,
    "as_frame": False,
    "notes": {},
}
METHODS = ("fit", "partial_fit", "prequential", "predict", "predict_proba", "assess", "steps", "observe", "add_columns",
           "drift", "mistake_bound", "mistake_rate_bound", "save")  # fmt: skip


def odd_values():
    return {**ODD, "a generator": (value for value in range(3))}


def parameters(method):
    return [name for name in inspect.signature(method).parameters if name in VALID]


@pytest.mark.parametrize(
    ("kind", "method"), [(kind, method) for kind in KINDS for method in METHODS if hasattr(KINDS[kind](), method)]
)
def test_estimators_raise_their_own_errors_and_do_not_change(kind, method, tmp_path):
    new = KINDS[kind]
    before = pickle.dumps(new().fit(X, y, timestamps=np.arange(12)))
    for wrong in parameters(getattr(new(), method)):
        for what, value in odd_values().items():
            for model in (pickle.loads(before), new()):
                given = {name: VALID[name] for name in parameters(getattr(model, method))} | {wrong: value}
                if method == "drift" and wrong != "columns":
                    del given["columns"]
                path = (tmp_path / "model",) if method == "save" else ()
                try:
                    result = getattr(model, method)(*path, **given)
                    if method == "steps":
                        list(result)
                except (DriftlineError, NotFittedError):
                    if hasattr(model, "_learner"):
                        assert_same(model, pickle.loads(before))
                except Exception as error:
                    pytest.fail(f"{method}({wrong}={what}): {error!r}")


@pytest.mark.parametrize(
    "call",
    [
        lambda value: ArrayStream(value, [0, 1, 0]),
        lambda value: ArrayStream(X[:3], value),
        lambda value: ArrayStream(X[:3], y[:3], value),
        lambda value: ArrayStream(X[:3], y[:3], columns=value),
        lambda value: list(ArrayStream(X, y).blocks(value)),
        lambda value: list(open_stream("my.csv", "class").blocks(value)),
        RangeScaled,
        lambda value: RangeScaled(ArrayStream(X, y), by=value),
        lambda value: open_stream(value, "class"),
        load,
        lambda value: RotatingGaussians().sample(value, seed=0),
        lambda value: RotatingGaussians().sample(3, seed=value),
        *(
            lambda value, name=name: open_stream("my.csv", **{"label": "class"} | {name: value})
            for name in ("label", "time", "ignore", "categorical", "header", "delimiter", "encoding", "on_bad_row")
        ),
    ],
)
def test_streams_raise_their_own_errors(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows("my.csv", 20)
    n_accepted = 0
    for what, value in odd_values().items():
        try:
            call(value)
            n_accepted += 1
        except DriftlineError:
            pass
        except Exception as error:
            pytest.fail(f"{what}: {error!r}")
    assert n_accepted < len(ODD)


def test_a_column_is_not_a_table():
    with pytest.raises(DataError, match="Expected a 2-dimensional container"):
        linear().fit(X, y).predict(pd.Series([1.0, 2.0, 3.0]))


def test_names_of_columns_are_a_sequence():
    with pytest.raises(ConfigError, match="columns must be 3 names, one for each column; got 5"):
        AMRC(features="linear").fit(X, y).drift(columns=5)


# Missing values that are hidden -------------------------------------------------------------------


def masked(values, *hidden):
    array = np.ma.array(values, mask=False)
    for place in hidden:
        array[place] = np.ma.masked
    array.fill_value = 7
    return array


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("kind", KINDS)
def test_masked_values_are_missing(kind, method):
    hidden, holes = masked(X, (2, 1), (5, 0)), X.copy()
    holes[2, 1] = holes[5, 0] = np.nan
    tables = (
        hidden,
        list(hidden),
        masked(X.astype(object), (2, 1), (5, 0)),
        np.where(np.isnan(holes), pd.NA, holes),
        pd.DataFrame(np.where(np.isnan(holes), pd.NA, holes)),
        pd.DataFrame(np.where(np.isnan(holes), pd.NA, holes)).astype("Float64"),
        np.where(np.isnan(holes), None, holes),
    )
    expected = getattr(KINDS[kind](), method)(holes, y)
    assert expected.n_missing_ == 2
    for table in tables:
        model = getattr(KINDS[kind](), method)(table, y)
        assert_same(model, expected)
        assert np.array_equal(model.predict(table), expected.predict(holes))


def test_streams_have_nan_for_masked_values():
    block = next(ArrayStream(masked(X.astype(np.float32), (2, 1)), y).blocks())
    assert not isinstance(block.rows, np.ma.MaskedArray)
    assert np.argwhere(np.isnan(block.rows)).tolist() == [[2, 1]]


@pytest.mark.parametrize(
    "labels",
    [
        masked([0, 1, 0], 1),
        masked(["a", "b", "a"], 1),
        ["a", None, "b"],
        ["a", float("nan"), "b"],
        [0, pd.NA, 1],
        pd.Series(["a", pd.NA, "b"]),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([0, None, 1], dtype="Int64"),
    ],
)
def test_a_missing_label_is_an_error_that_names_the_row(labels):
    with pytest.raises(DataError, match="row 1 of y has no label"):
        linear().fit(X[:3], labels)


@pytest.mark.parametrize(
    "times", [masked([0.0, 1.0, 2.0], 1), masked(np.arange("2020-01-01", "2020-01-04", dtype="M8[D]"), 1), [0, None, 2]]
)
def test_a_missing_time_is_an_error_that_names_the_row(times):
    with pytest.raises(DataError, match="timestamp of row 1 is nan or missing"):
        linear().fit(X[:3], y[:3], timestamps=times)
