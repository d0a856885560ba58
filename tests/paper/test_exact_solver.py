from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from driftline.paper.exact_solver import ExactSolver
from driftline.types import Status, UncertaintySet
from helpers import reference_kernels
from helpers.strategies import problems, seeds


def solve(instances, uncertainty):
    solver = ExactSolver(instances.shape[1])
    for _ in uncertainty.mean:
        solver.add_classes(1)
    for psi in instances:
        solver.observe(psi)
    return solver.solve(uncertainty)


def lp_over_all_subsets(instances, uncertainty):
    """min 1 - τᵀμ + λᵀ|μ| + t with a constraint for each instance and label subset."""
    c, d = uncertainty.mean.shape
    rows, limits = [], []
    for psi in instances:
        for size in range(1, c + 1):
            for subset in combinations(range(c), size):
                f = np.zeros((c, d))
                f[list(subset)] = psi / size
                rows.append(np.concatenate([f.ravel(), -f.ravel(), [-1.0]]))
                limits.append(1 / size)
    tau, lam = uncertainty.mean.ravel(), uncertainty.width.ravel()
    cost = np.concatenate([lam - tau, lam + tau, [1.0]])
    bounds = [(0, None)] * (2 * c * d) + [(None, None)]
    return 1 + linprog(cost, A_ub=np.array(rows), b_ub=limits, bounds=bounds).fun


@settings(max_examples=40)
@given(problems())
def test_optimum_equals_the_program_with_a_row_for_each_label_subset(problem):
    instances, uncertainty = problem
    assert solve(instances, uncertainty).risk == pytest.approx(lp_over_all_subsets(instances, uncertainty), abs=1e-7)


@settings(max_examples=40)
@given(problems())
def test_risk_is_the_objective_at_the_returned_rule_and_lies_in_its_range(problem):
    instances, uncertainty = problem
    solution = solve(instances, uncertainty)
    expected = reference_kernels.objective(solution.rule.weights, instances, uncertainty.mean, uncertainty.width)
    assert solution.risk == pytest.approx(expected, abs=1e-6)
    assert solution.status is Status.OK
    assert -1e-9 <= solution.risk <= 1 - 1 / len(uncertainty.mean) + 1e-9


@given(seeds, st.integers(2, 4))
def test_an_empty_uncertainty_set_is_reported(seed, c):
    rng = np.random.default_rng(seed)
    instances = rng.uniform(-1, 1, (5, 3))
    mean = np.full((c, 3), 2.0)  # no distribution on [-1, 1]³ has it
    solution = solve(instances, UncertaintySet(mean, np.full((c, 3), 0.1)))
    assert solution.status is Status.EMPTY
    assert solution.risk == -np.inf


def test_only_the_last_instances_count():
    solver = ExactSolver(1, n_instances=1)
    solver.add_classes(1)
    solver.add_classes(1)
    uncertainty = UncertaintySet(np.array([[0.5], [0.5]]), np.zeros((2, 1)))
    solver.observe(np.array([1.0]))
    assert solver.solve(uncertainty).status is Status.OK
    solver.observe(np.array([5.0]))  # expectations of ψ now sum to 5, and 0.5 + 0.5 is out of reach
    assert solver.solve(uncertainty).status is Status.EMPTY
