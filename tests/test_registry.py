import inspect

import numpy as np
import pytest
from sklearn.base import clone

from driftline import AMRC, ConfigError, PaperAMRC, baselines, registry
from driftline.evaluation import evaluate
from driftline.registry import create, describe, names
from driftline.streams import ArrayStream
from helpers.quick_models import QUICK, small_stream

SMALL = {
    "amrc": {"n_components": 5},
    "amrc-paper": {"n_components": 50, **QUICK},
    "rbp": {"budget": 5},
    "river-": {"n_models": 3},
    "capymoa-": {"ensemble_size": 3, "boosting_iterations": 20},
}
"""Parameters that make tests quick, by how the name begins."""


def small(name):
    if missing := describe(name).missing:
        pytest.skip(f"{name} is missing: {missing}")
    wanted = {key: value for start in SMALL if name.startswith(start) for key, value in SMALL[start].items()}
    known = describe(name).parameters
    return {key: value for key, value in wanted.items() if key in known}


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(["ant", "bee", "cow"], id="three classes"),
        pytest.param([0, 1], id="two classes", marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # naive Bayes begins with variances of 0
def test_every_classifier_can_be_evaluated(name, labels):
    X, y = small_stream(n_steps=300, n_classes=len(labels))
    stream = ArrayStream(X, np.array(labels)[y])
    summaries = [evaluate(create(name, **small(name), random_state=2), stream, progress=False).summary for _ in "ab"]
    assert summaries[0].n_rows == 300
    assert summaries[0].error == summaries[1].error
    guessing = 1 - 1 / len(labels)
    blind = describe(name).family == "Baselines that ignore the features"
    assert summaries[0].error < guessing * (1.2 if blind else 0.9)


@pytest.mark.parametrize("name", names())
def test_every_classifier_has_a_seed_if_it_needs_one_and_can_be_cloned(name):
    small(name)
    entry = describe(name)
    assert entry.parameters.get("random_state", 0) == 0
    assert entry.description
    assert inspect.Parameter.empty not in entry.parameters.values()
    assert repr(clone(create(name, random_state=5))) == repr(create(name, random_state=5))


@pytest.mark.parametrize(
    ("name", "parameter"), [("river-arf", "model__seed"), ("sklearn-sgd", "classifier__random_state")]
)
def test_the_seed_reaches_the_model_of_another_library(name, parameter):
    small(name)
    model = create(name, random_state=5)
    outer, inner = parameter.split("__")
    assert getattr(getattr(model, outer), inner) == 5


@pytest.mark.parametrize("name", ["rbp", "river-arf", "capymoa-arf"])
def test_seeds_matter(name):
    X, y = small_stream(n_steps=300, n_classes=3)
    one, other = (
        create(name, **small(name), random_state=seed).prequential(X, y, classes=[0, 1, 2]) for seed in (1, 2)
    )
    assert one.predicted.tolist() != other.predicted.tolist()


def test_names_are_defaults_that_may_be_changed():
    assert repr(create("amrc-randomised")) == repr(AMRC(deterministic=False))
    assert repr(create("amrc-order0", n_components=7)) == repr(AMRC(order=0, n_components=7))
    assert repr(create("amrc-paper")) == repr(PaperAMRC(scaling="running"))
    assert repr(create("amrc-paper-order2", scaling="none")) == repr(PaperAMRC(order=2, scaling="none"))
    assert create("sklearn-sgd").classifier.loss == "log_loss"


def test_a_mistyped_name_is_refused_with_suggestions():
    with pytest.raises(
        ConfigError, match=r"no classifier 'river-afr' \('driftline models' lists all\); did you mean river-arf.*\?"
    ):
        create("river-afr")
    with pytest.raises(ConfigError, match=r"no classifier '\?' \('driftline models' lists all\)$"):
        describe("?")


def test_a_parameter_that_a_classifier_does_not_have_is_refused_with_those_it_has():
    with pytest.raises(
        ConfigError, match="rbp has no parameter depth; its parameters are budget, scale, scaling, random_state"
    ):
        create("rbp", depth=3)
    with pytest.raises(ConfigError, match="sklearn-nb has no parameter seed; its parameters are priors, var_smoothing"):
        create("sklearn-nb", seed=3)


def test_values_that_a_constructor_refuses_are_refused(monkeypatch):
    def choosy(*, size=3):
        raise ValueError(f"size {size} is odd")

    entry = registry.ModelEntry("choosy", "", "", "choosy", "choosy")
    monkeypatch.setitem(registry._ENTRIES, "choosy", entry)
    monkeypatch.setattr(registry, "import_module", lambda _: type("Module", (), {"choosy": staticmethod(choosy)}))
    with pytest.raises(ConfigError, match="choosy cannot be created with these parameters: size 5 is odd"):
        create("choosy", size=5)


def test_what_is_missing_is_said_without_importing_it(monkeypatch):
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert describe("river-arf").missing == "pip install 'driftline[river]'"
    assert describe("capymoa-arf").missing == "pip install 'driftline[capymoa]'"
    assert describe("amrc").missing is None
    monkeypatch.setattr(registry, "find_spec", lambda name: name)
    monkeypatch.setattr("driftline.adapters.capymoa.java_is_installed", lambda: False)
    assert describe("capymoa-arf").missing == "install a Java runtime"
    assert describe("river-arf").missing is None


def test_every_method_to_compare_with_has_a_name():
    named = {describe(name).maker for name in names() if describe(name).module == "driftline.baselines"}
    assert set(baselines.__all__) <= named
