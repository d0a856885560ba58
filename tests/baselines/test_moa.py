"""Dynamic weighted majority against MOA's, where CapyMOA and Java are installed."""

import shutil

import numpy as np
import pytest

from driftline.baselines import DWM
from helpers.bayes_rule import changing

N_ROWS, N_CLASSES, N_CODES = 3000, 3, 4


@pytest.fixture(scope="module")
def moa():
    """Return a function that lets MOA predict and learn a stream: its predictions, and its numbers of experts."""
    if shutil.which("java") is None:
        pytest.skip("needs Java on the path")
    pytest.importorskip("capymoa", reason="needs capymoa")  # only with Java: its import starts it
    from capymoa.classifier import DynamicWeightedMajority  # noqa: PLC0415  # may be missing
    from capymoa.core import LabeledInstance  # noqa: PLC0415
    from capymoa.stream import Schema  # noqa: PLC0415

    def run(X, y, nominal, **rule):
        names = [f"x{j}" for j in range(X.shape[1])]
        codes = {names[j]: [str(code) for code in range(N_CODES)] for j in nominal}
        classes = {"y": [str(c) for c in range(N_CLASSES)]}
        schema = Schema.from_custom([*names, "y"], target="y", categories=codes | classes)
        model = DynamicWeightedMajority(schema, **rule)
        predictions, sizes = [], []
        for x, label in zip(X, y, strict=True):
            instance = LabeledInstance.from_array(schema, x, int(label))
            predictions.append(model.predict(instance))
            model.train(instance)
            sizes.append(int(model.moa_learner.getModelMeasurements()[-1].getValue()))
        return np.array(predictions), np.array(sizes)

    return run


def ours(X, y, nominal, **rule):
    """Predictions and numbers of experts, a row at a time."""
    model, predictions, sizes = DWM(nominal=nominal, **rule), [], []
    for t in range(len(X)):
        answers = model.prequential(X[t : t + 1], y[t : t + 1], classes=None if t else range(N_CLASSES))
        predictions.append(answers.predictions[0])
        sizes.append(len(model._learner.state()["method/weights"]))
    return np.array(predictions), np.array(sizes)


@pytest.mark.parametrize(
    ("missing", "rule"),
    [(0.0, {"period": 50}), (0.2, {"period": 10, "beta": 0.25}), (0.0, {"period": 5, "max_experts": 4})],
)
def test_on_nominal_columns_all_predictions_are_those_of_moa(moa, missing, rule):
    nominal = list(range(8))
    X, y = changing(0, N_ROWS, nominal, 8, n_classes=N_CLASSES, n_codes=N_CODES, missing=missing)
    theirs, sizes = moa(X, y, nominal, **rule)
    predictions, our_sizes = ours(X, y, nominal, **rule)
    assert predictions.tolist() == theirs.tolist()
    assert our_sizes.tolist() == sizes.tolist()
    assert sizes.max() >= 4
    assert rule.get("max_experts") == 4 or np.count_nonzero(np.diff(sizes) < 0) >= 3


def test_on_numeric_columns_predictions_are_those_of_moa_but_where_its_densities_are_too_small_for_a_float(moa):
    X, y = changing(0, N_ROWS, [0, 1], 6, n_classes=N_CLASSES, n_codes=N_CODES, missing=0.05)
    theirs, sizes = moa(X, y, [0, 1], period=20)
    predictions, our_sizes = ours(X, y, [0, 1], period=20)
    differs = predictions != theirs
    assert differs.sum() <= 5
    assert np.all(theirs[differs] == 0)  # the first class, which it takes if the product is 0 for all
    assert our_sizes.tolist() == sizes.tolist()
    assert sizes.max() >= 4
    assert np.count_nonzero(np.diff(sizes) < 0) >= 3
