import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.core.bounds import MistakeBound
from driftline.kernels.simplex import support_value
from driftline.paper import rules, theorem
from driftline.paper.exact_solver import ExactSolver
from driftline.paper.protocols import status_of
from driftline.types import Predictions, Rule, Status, UncertaintySet
from helpers.strategies import problems, seeds


def one_row(bound, status=Status.OK, label=0, excess=0.0, probability=1.0):
    """Return the prediction for one row; `probability` is that of class 0."""
    return Predictions.with_bounds(
        probabilities=np.array([[probability, 1.0 - probability]]),
        predicted=np.array([0]),
        bounds=np.array([bound]),
        rates=np.array([bound]),
        statuses=np.array([status], dtype=object),
        excesses=np.array([excess]),
        labels=np.array([label]),
        predict_seconds=np.zeros(1),
        learn_seconds=np.zeros(1),
    )


def test_mistakes_are_bounded_by_the_sum_of_risks_and_azuma():
    ledger = MistakeBound()
    for bound in [0.5, 0.25, 0.125] * 10:
        ledger.add(one_row(bound, excess=0.1))
    assert ledger.mistakes(0.1) == pytest.approx(8.75 + 3.0 + math.sqrt(2 * 30 * math.log(10)))
    assert ledger.rate(0.1) == pytest.approx(ledger.mistakes(0.1) / 30)
    assert ledger.mean_excess == pytest.approx(0.1)


def test_where_bounds_did_not_hold_on_average_the_expected_mistakes_are_bounded():
    ledger = MistakeBound()
    for _ in range(400):
        ledger.add(one_row(0.25, probability=0.5))
    assert not ledger.holds
    assert ledger.mistakes(0.1) == pytest.approx(200 + math.sqrt(2 * 400 * math.log(10)))
    for _ in range(200):
        ledger.add(one_row(0.75, probability=0.5))
    assert not ledger.holds
    for _ in range(200):
        ledger.add(one_row(0.75, probability=0.5))
    assert ledger.holds
    assert ledger.mistakes(0.1) == pytest.approx(400 + math.sqrt(2 * 800 * math.log(10)))


def test_the_first_row_of_a_class_is_an_expected_mistake():
    ledger = MistakeBound()
    ledger.add(one_row(0.3, label=2))
    assert ledger.total_loss == 1


@settings(max_examples=10)
@given(seeds, st.sampled_from([0.05, 0.3]))
def test_drawn_labels_exceed_the_bound_no_more_often_than_allowed_on_any_stream(seed, delta):
    """Also if all bounds are 0, and labels react to what was drawn before."""
    rng, n_steps, n_runs = np.random.default_rng(seed), 200, 200
    failures = 0
    for _ in range(n_runs):
        h = rng.random(n_steps) ** rng.integers(1, 4)
        drawn = rng.random(n_steps) < h
        losses = 1 - h
        losses[1:] = np.where(drawn[:-1], losses[1:], h[1:])
        wrong = ~drawn
        wrong[1:] = np.where(drawn[:-1], wrong[1:], drawn[1:])
        failures += wrong.sum() > MistakeBound(n_steps=n_steps, total_loss=losses.sum()).mistakes(delta)
    assert failures <= delta * n_runs


def test_no_more_mistakes_are_bounded_than_there_were_steps():
    ledger = MistakeBound()
    ledger.add(one_row(3.0, Status.LOOSE, excess=7.0))
    assert ledger.total_bound == 1
    assert ledger.mistakes(0.05) == 1


@pytest.mark.parametrize("void", [one_row(-2.0, Status.EMPTY), one_row(0.3, label=2)])
def test_a_step_whose_risk_bounds_nothing_counts_as_a_mistake(void):
    ledger = MistakeBound()
    ledger.add(void)
    assert ledger.total_bound == 1
    assert ledger.n_void == 1


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ConfigError, match=r"delta must be a number between 0\.0 and 1\.0"):
        MistakeBound().mistakes(delta)


def random_truth(rng, n, c):
    """A distribution on n instances and c labels, as a matrix."""
    return rng.dirichlet(np.full(n * c, 0.3)).reshape(n, c)


def error_probability(p, instances, rule):
    return float((p * (1 - rules.probabilities(rule, instances))).sum())


@given(seeds, st.integers(2, 5))
def test_risk_bounds_the_error_of_any_weights_if_the_set_contains_the_truth(seed, c):
    """Optimality is not needed for validity."""
    rng = np.random.default_rng(seed)
    instances = rng.normal(size=(6, 2))
    p = random_truth(rng, 6, c)
    weights, width = rng.normal(size=(c, 2)), rng.random((c, 2))
    mean = p.T @ instances + rng.uniform(-1, 1, (c, 2)) * width
    phi = max(support_value(weights @ psi) for psi in instances)
    risk = 1 - (mean * weights).sum() + (width * np.abs(weights)).sum() + phi
    assert error_probability(p, instances, Rule(weights, phi)) <= risk + 1e-9


@given(seeds, st.integers(2, 5), st.sampled_from([1.0, 50.0]))
def test_mean_charges_bound_the_error_where_an_offset_covers_too_little(seed, c, scale):
    """Also where some instances exceed it by far, and so make up for others."""
    rng = np.random.default_rng(seed)
    instances = scale * rng.normal(size=(6, 2))
    p = random_truth(rng, 6, c)
    weights = rng.normal(size=(c, 2))
    rule = Rule(weights, support_value(weights @ instances[0]))  # covers the first instance only
    risk = 1 - (p.T @ instances * weights).sum() + rule.offset
    rows = [one_row(risk, status_of(risk, c), excess=rules.excess(rule, psi)) for psi in instances]
    charges = p.sum(axis=1) @ [row.total_charges[0] for row in rows]
    assert error_probability(p, instances, rule) <= charges + 1e-9


@settings(max_examples=50)
@given(problems(), seeds)
def test_theorem_1_holds_for_any_truth(problem, seed):
    """R(h) ≤ R(U) + α and R(h) ≤ R∞ + β, whether or not the set contains the truth."""
    instances, uncertainty = problem
    c = len(uncertainty.mean)
    rng = np.random.default_rng(seed)
    p = random_truth(rng, len(instances), c)
    truth = p.T @ instances
    solver = ExactSolver(instances.shape[1])
    for _ in range(c):
        solver.add_classes(1)
    for psi in instances:
        solver.observe(psi)
    solution = solver.solve(uncertainty)
    best = theorem.smallest_minimax_risk(truth, instances)
    alpha = theorem.alpha(truth, uncertainty, solution.rule.weights)
    beta = theorem.beta(truth, uncertainty, solution.rule.weights, best.rule.weights)
    error = error_probability(p, instances, solution.rule)
    assert error <= solution.risk + alpha + 1e-6
    assert error <= best.risk + beta + 1e-6
    miss, mu, optimal = np.abs(truth - uncertainty.mean), solution.rule.weights, best.rule.weights
    if np.any(miss > uncertainty.width):
        assert alpha == pytest.approx(np.abs(miss - uncertainty.width).max() * np.abs(mu).sum())
        assert beta == pytest.approx((miss.max() + uncertainty.width.max()) * np.abs(optimal - mu).sum())
    else:
        assert alpha == 0
        assert beta == pytest.approx(2 * uncertainty.width.max() * np.abs(optimal).sum())


def test_the_two_bounds_of_theorem_1_are_not_ordered():
    """The paper writes R(U) + α ≤ R∞ + β; sets that miss the truth can break it."""

    def gap(seed):
        rng = np.random.default_rng(seed)
        instances = rng.uniform(-1, 1, (6, 2))
        expected, truth = (random_truth(rng, 6, 2).T @ instances for _ in range(2))
        uncertainty = UncertaintySet(expected, 0.05 * rng.random((2, 2)))
        solver = ExactSolver(2)
        solver.add_classes(1)
        solver.add_classes(1)
        for psi in instances:
            solver.observe(psi)
        solution, best = solver.solve(uncertainty), theorem.smallest_minimax_risk(truth, instances)
        weights = solution.rule.weights
        upper = best.risk + theorem.beta(truth, uncertainty, weights, best.rule.weights)
        return solution.risk + theorem.alpha(truth, uncertainty, weights) - upper

    assert max(gap(seed) for seed in range(100)) > 0.01


@given(problems())
@settings(max_examples=20)
def test_alpha_vanishes_where_the_set_contains_the_truth(problem):
    _, uncertainty = problem
    weights = np.ones_like(uncertainty.mean)
    inside = uncertainty.mean + 0.5 * uncertainty.width
    assert theorem.alpha(inside, uncertainty, weights) == 0
    outside = UncertaintySet(uncertainty.mean, np.zeros_like(uncertainty.width))
    assert theorem.alpha(outside.mean + 1, outside, weights) == pytest.approx(weights.sum())
