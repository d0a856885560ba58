"""The accelerated subgradient method with retained subgradients (Alg. 4 of the paper)."""

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Length, Schema, whole_numbers
from driftline.kernels.minimax import minimize
from driftline.kernels.rows import NEVER_USED, empty_rows, with_classes, write_row
from driftline.kernels.vectors import step_sizes
from driftline.paper.protocols import status_of
from driftline.types import LARGEST_VALUE, Rule, Solution, State, UncertaintySet, Vector

SAVED_COLUMNS = ("instances", "subsets", "arrivals", "last_used")


class SubgradientSolver:
    """Runs K iterations from the previous solution, over the N subgradients used last and those of the newest instance.

    Parameters
    ----------
    n_features : int
        Number d of instance features.
    n_subgradients : int
        N, the number of distinct subgradients of φ that are kept from step to step: those used most recently.
    n_iterations : int
        K, the number of iterations per step.

    Notes
    -----
    The best iterate is returned, with φ and the risk evaluated at that iterate. The
    extrapolation is Nesterov's, ``μ̄⁺ + θ⁺(1/θ - 1)(μ̄⁺ - μ̄)``: as printed in the paper, with
    ``(μ - μ̄)``, it would be zero at every iteration.

    Examples
    --------
    >>> import numpy as np
    >>> solver = SubgradientSolver(2, n_subgradients=100, n_iterations=2000)
    >>> solver.add_classes(2)
    >>> mean = np.array([[0.5, -0.4], [0.5, 0.4]])
    >>> for x in [-1.0, 1.0, -1.0, 1.0]:
    ...     solver.observe(np.array([1.0, x]))
    ...     solution = solver.solve(UncertaintySet(mean=mean, width=np.full((2, 2), 0.1)))
    >>> round(solution.risk, 3), solution.status.value
    (0.2, 'ok')
    """

    def __init__(self, n_features: int, *, n_subgradients: int, n_iterations: int) -> None:
        self._n_kept = n_subgradients
        self._n_iterations = n_iterations
        self._steps = step_sizes(n_iterations)
        self._rows = empty_rows(n_subgradients, n_features)
        self._n_rows = 0
        self._clock = 0
        self._newest = np.zeros(n_features)
        self._weights = np.zeros((0, n_features))

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self._weights = np.pad(self._weights, ((0, n), (0, 0)))
        self._rows = with_classes(self._rows, n)

    def observe(self, psi: Vector) -> None:
        """Add an instance, which need not have a label."""
        self._newest = psi

    def solve(self, uncertainty: UncertaintySet) -> Solution:
        """Return the rule for an uncertainty set, starting from the previous rule."""
        self._weights, offset, risk, self._n_rows = minimize(
            self._rows,
            self._n_rows,
            self._newest,
            uncertainty.mean,
            uncertainty.width,
            self._weights,
            self._steps,
            self._n_kept,
            self._clock,
        )
        self._clock += self._n_iterations
        return Solution(Rule(self._weights, offset), risk, status_of(risk, len(self._weights)))

    def reset(self) -> None:
        """Forget the previous rule: the next `solve` starts from zero weights."""
        self._weights = np.zeros_like(self._weights)

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        n = self._n_rows
        kept: State = {name: getattr(self._rows, name)[:n] for name in SAVED_COLUMNS}
        return kept | {"newest": self._newest, "weights": self._weights, "clock": np.array([self._clock])}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        n, (c, d) = Length("rows", self._n_kept), self._weights.shape
        return {
            "instances": ArraySpec((n, d), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "subsets": ArraySpec(
                (n, c), np.bool_, condition=lambda subsets: bool(subsets.any(axis=1).all()), meaning="contain a class"
            ),
            "arrivals": whole_numbers((n,)),
            "last_used": ArraySpec((n,), np.int64, NEVER_USED, MOST_COUNTED),
            "newest": ArraySpec((d,), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "weights": ArraySpec((c, d)),
            "clock": whole_numbers((1,)),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._n_rows, c = state["subsets"].shape
        self._rows = with_classes(empty_rows(self._n_kept, self._newest.size), c)
        columns = zip(*(state[name] for name in SAVED_COLUMNS), strict=True)
        for i, (instance, subset, arrival, last_used) in enumerate(columns):
            write_row(self._rows, i, instance[None], subset, arrival)
            self._rows.last_used[i] = last_used
        self._newest = state["newest"].astype(np.float64)
        self._weights = state["weights"].astype(np.float64)
        self._clock = int(state["clock"][0])
