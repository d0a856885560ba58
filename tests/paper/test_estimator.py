"""What the paper's AMRC has alone: the options of its tracker and solver, its uncertainty sets."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, ConfigError, DataError, PaperAMRC, Status
from driftline.core.features import LinearMap
from driftline.streams import RotatingGaussians
from driftline.types import Rule, Solution
from helpers import reference_kernels
from helpers.quick_models import QUICK, assert_same, plain, small_stream
from helpers.strategies import paper_configurations, seeds


@settings(max_examples=15)
@given(paper_configurations, seeds, st.integers(1, 59))
def test_grouping_rows_into_batches_changes_nothing(configuration, seed, cut):
    X, y = small_stream(seed, n_classes=3)
    configuration = configuration | {"scaling": "running"}  # the range of a file is that of its first batch
    whole, parts = plain(**configuration, **QUICK), plain(**configuration, **QUICK)
    whole.partial_fit(X, y)
    parts.partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert_same(whole, parts)


@settings(max_examples=15)
@given(paper_configurations, seeds)
def test_prediction_changes_nothing_and_repeats_itself(configuration, seed):
    X, y = small_stream(seed)
    model = plain(**configuration, **QUICK).partial_fit(X, y)
    before = copy.deepcopy(model)
    assert np.array_equal(model.predict(X), model.predict(X))
    model.predict_proba(X)
    assert_same(model, before)


def test_steps_report_by_how_much_the_bound_did_not_cover_the_instance():
    X, y = small_stream()
    model = plain(n_iterations=50, n_subgradients=2)
    steps, expected = model.steps(X, y, classes=[0, 1]), []
    for t in range(60):
        rule, psi = model._learner.solution.rule, model._learner._represent(X[t : t + 1])[0]
        expected.append(max(reference_kernels.support_value(rule.weights @ psi) - rule.offset, 0))
        assert next(steps).excess == pytest.approx(expected[-1], abs=1e-12)
    assert max(expected) > 0
    assert model.excess_ == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": -1}, "order must be a whole number from 0 up; got -1"),
        ({"n_iterations": 0}, "n_iterations must be a whole number from 1 up; got 0"),
        ({"label_window": 2.5}, "label_window must be a whole number from 1 up; got 2.5"),
        ({"features": "cubic"}, "features must be one of 'linear', 'fourier', 'fourier-printed'; got 'cubic'"),
        ({"scale": 0.0}, "scale must be a positive number; got 0.0"),
        ({"scale": np.inf}, "scale must be a positive number; got inf"),
        ({"gain": "both"}, "gain must be one of"),
        ({"solver": None}, "solver must be one of 'subgradient', 'exact'; got None"),
        ({"intercept": "no"}, "intercept must be True or False; got 'no'"),
        ({"features": LinearMap}, "features must be one of"),
        ({"random_state": "abc"}, "random_state: "),
    ],
)
def test_parameters_that_cannot_work_are_refused(parameters, message):
    X, y = small_stream()
    with pytest.raises(ConfigError, match=message):
        plain(**parameters).fit(X, y)


def learned(**options):
    X, y = small_stream(n_steps=50, n_classes=3)
    model = plain(**{"n_iterations": 100, "n_subgradients": 10} | options).fit(X, y)
    return model.predict_proba(X)


@pytest.mark.parametrize(
    "options",
    [
        {"order": 0},
        {"features": "fourier"},
        {"features": "fourier-printed"},
        {"features": "fourier", "scale": 3.0},
        {"features": "fourier", "n_components": 7},
        {"features": "fourier", "random_state": 1},
        {"intercept": False},
        {"scaling": "none"},
        {"scaling": "file"},
        {"label_window": 10},
        {"label_variance": "sample"},
        {"label_variance": "printed"},
        {"unobserved": "hold"},
        {"gain": "unidimensional"},
        {"solver": "exact"},
        {"n_subgradients": 2},
        {"n_iterations": 5},
    ],
)
def test_every_option_reaches_the_part_that_it_names(options):
    others = [{name: value for name, value in options.items() if name == "features"}, {}]
    assert all(not np.allclose(learned(**options), learned(**other)) for other in others if other != options)


def test_printed_features_are_others_than_divided_ones():
    assert not np.allclose(learned(features="fourier-printed"), learned(features="fourier"))


def test_small_integer_types_do_not_overflow():
    X, y = small_stream()
    narrow = {"n_iterations": np.int8(50), "n_subgradients": np.uint8(200), "label_window": np.uint8(200)}
    wide = {name: int(value) for name, value in narrow.items()}
    assert_same(plain(**narrow).fit(X, y), plain(**wide).fit(X, y))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_largest_numbers_leave_the_model_finite(order):
    X, y = small_stream()
    X[20] = 1e30
    X[30] = -1e30
    model = plain(order=order, scaling="none", **QUICK)
    steps = list(model.steps(X, y))
    assert np.all(np.isfinite([step.bound for step in steps]))
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert np.all(np.isfinite(model.uncertainty_.width))


def test_the_deterministic_rule_goes_by_the_scores():
    """Also where no score exceeds φ and the randomised rule is uniform."""
    X, y = small_stream()
    model = plain(**QUICK).fit(X, y)
    learner = model._minimax
    rule = learner.solution.rule
    learner.solution = Solution(Rule(rule.weights, 100.0), 0.5, Status.OK)
    psi = learner._represent(X)
    assert np.allclose(model.predict_proba(X), 0.5)
    assert np.array_equal(model.predict(X), (psi @ rule.weights.T).argmax(axis=1))
    assert len(set(model.predict(X))) == 2


def test_file_scaling_needs_more_than_one_row():
    X, y = small_stream()
    with pytest.raises(DataError, match="there is only one row"):
        AMRC.paper(**QUICK).partial_fit(X[:1], y[:1])


def test_the_exact_solver_is_an_argument_away():
    X, y = small_stream(n_steps=30)
    exact, default = plain(solver="exact", n_subgradients=30).fit(X, y), plain().fit(X, y)
    assert exact.bound_status_ in (Status.OK, Status.EMPTY)
    assert exact.predict_proba(X).shape == default.predict_proba(X).shape


def test_paper_is_the_configuration_of_the_paper():
    model = AMRC.paper(scale=0.5)
    published = {"features": "fourier", "n_components": 200, "intercept": False, "scaling": "file", "order": 1}
    assert model.get_params() == PaperAMRC(scale=0.5, **published).get_params()
    assert (model.label_window, model.n_subgradients, model.n_iterations) == (200, 100, 2000)


def test_bounds_are_reported_with_their_status():
    X, y = RotatingGaussians().sample(200, seed=1)
    model = AMRC.paper(features="linear", scaling="none")
    for step in model.steps(X, y, classes=[0, 1]):
        assert (step.status is Status.OK) == (-1e-9 <= step.bound <= 0.5 + 1e-9)
    assert model.mistake_rate_bound(0.05) == pytest.approx(model.mistake_bound(0.05) / 200)
    assert model.mistake_bound(0.01) > model.mistake_bound(0.1)
