"""Model files name the plan of their ensemble: older ones keep theirs, newer ones are refused."""

from pathlib import Path

import numpy as np
import pytest

from driftline import AMRC, CheckpointError, PaperAMRC
from driftline.ensemble.plan import default_plan, first_plan
from driftline.registry import load_model
from helpers.model_files import alter, read_model_file
from helpers.quick_models import assert_same, paper, small_stream
from helpers.tree_streams import rule_stream

FIRST = Path(__file__).parents[1] / "core" / "models" / "version1-amrc.driftline"


def plan_of(model):
    return tuple(space.plan for space in model._learner.spaces)


def test_a_file_without_a_plan_has_the_first_one_and_keeps_it(tmp_path):
    assert "plan" not in read_model_file(FIRST)[0]["content"]
    model = AMRC.load(FIRST)
    uses_fourier = any(space.scale > 0 for space in plan_of(model))
    assert plan_of(model) == first_plan(uses_fourier=uses_fourier, order=model.order).spaces
    X, y = small_stream(n_steps=200, n_columns=model.n_features_in_)
    y = model.classes_[y]
    model.partial_fit(X[:100], y[:100])
    model.save(tmp_path / "model")
    assert read_model_file(tmp_path / "model")[0]["content"]["plan"] == 1
    again = AMRC.load(tmp_path / "model")
    assert plan_of(again) == plan_of(model)
    assert_same(again.partial_fit(X[100:], y[100:]), model.partial_fit(X[100:], y[100:]))
    assert all(np.all(space._members.interval == 1) for space in model._learner.spaces)


def test_fit_begins_with_the_present_plan(tmp_path):
    model = AMRC.load(FIRST).set_params(features="auto")
    X, y = rule_stream(100)
    model.fit(X, y)
    assert plan_of(model) == default_plan(uses_fourier=True, has_trees=True, order=1).spaces
    model.save(tmp_path / "model")
    assert read_model_file(tmp_path / "model")[0]["content"]["plan"] == 2
    assert_same(AMRC.load(tmp_path / "model"), model)


@pytest.mark.parametrize(
    ("make", "plan"), [(lambda: AMRC(features="linear"), 3), (paper, 2)], ids=["AMRC", "PaperAMRC"]
)
def test_a_file_with_a_newer_plan_is_refused(tmp_path, make, plan):
    make().partial_fit(*small_stream()).save(tmp_path / "model")
    alter(tmp_path / "model", lambda content, arrays: content.update(plan=plan))
    with pytest.raises(CheckpointError, match=f"its 'plan' is {plan}, and this driftline knows .*; upgrade driftline"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("plan", [0, -1, 1.5, "2", None, True, 10**30])
def test_a_plan_that_is_no_number_is_refused(tmp_path, plan):
    AMRC(features="linear").partial_fit(*small_stream()).save(tmp_path / "model")
    alter(tmp_path / "model", lambda content, arrays: content.update(plan=plan))
    with pytest.raises(CheckpointError, match=r"its 'plan' is .* expected a whole number from 1"):
        AMRC.load(tmp_path / "model")


def test_a_file_of_another_plan_is_refused_if_its_arrays_are_not_those_of_the_plan(tmp_path):
    AMRC(features="linear").partial_fit(*small_stream()).save(tmp_path / "model")
    alter(tmp_path / "model", lambda content, arrays: content.pop("plan"))
    with pytest.raises(CheckpointError, match="has the shape"):
        AMRC.load(tmp_path / "model")


def test_the_paper_has_one_plan_only(tmp_path):
    model = paper().partial_fit(*small_stream())
    model.save(tmp_path / "model")
    assert read_model_file(tmp_path / "model")[0]["content"]["plan"] == 1
    assert isinstance(AMRC.load(tmp_path / "model"), PaperAMRC)
