"""The minimax problem as a linear program, solved exactly: slow, and the reference in tests."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from driftline.core.schema import ArraySpec, Length, Schema
from driftline.paper.protocols import status_of
from driftline.types import LARGEST_VALUE, Rule, Solution, State, Status, UncertaintySet, Vector


class ExactSolver:
    """Solves the minimax problem over the last `n_instances` instances with HiGHS.

    The result is exact, and takes thousands of times longer than the subgradient method.

    Notes
    -----
    ``φ_x ≤ t`` holds exactly when ``Σ_y (s_y - t)_+ ≤ 1``, which needs c + 1 linear constraints instead of
    one for each of the 2^c - 1 label subsets. With ``μ = u - v``:

    minimise  ``1 - τᵀ(u - v) + λᵀ(u + v) + t``  over  ``u, v, ξ ≥ 0`` and t
    subject to  ``μ_yᵀψ(x_i) - t ≤ ξ_iy``  and  ``Σ_y ξ_iy ≤ 1``.

    Examples
    --------
    >>> import numpy as np
    >>> solver = ExactSolver(2)
    >>> solver.add_classes(2)
    >>> for x in [-1.0, 1.0]:
    ...     solver.observe(np.array([1.0, x]))
    >>> mean = np.array([[0.5, -0.4], [0.5, 0.4]])
    >>> solution = solver.solve(UncertaintySet(mean=mean, width=np.zeros((2, 2))))
    >>> round(solution.risk, 6), solution.status.value
    (0.1, 'ok')
    """

    def __init__(self, n_features: int, *, n_instances: int = 100) -> None:
        self._n_instances = n_instances
        self._n_classes = 0
        self._instances = np.empty((0, n_features))

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self._n_classes += n

    def observe(self, psi: Vector) -> None:
        """Add an instance, which need not have a label."""
        self._instances = np.vstack([self._instances, psi])[-self._n_instances :]

    def solve(self, uncertainty: UncertaintySet) -> Solution:
        """Return an optimal rule, or the zero rule with risk -inf if the problem is unbounded."""
        tau, lam = uncertainty.mean.ravel(), uncertainty.width.ravel()
        A, b = self._constraints()
        n_slack = self._n_classes * len(self._instances)
        cost = np.concatenate([lam - tau, lam + tau, np.zeros(n_slack), [1.0]])
        bounds = [(0, None)] * (cost.size - 1) + [(None, None)]
        result = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs")
        if result.x is None:
            zero = Rule(np.zeros(uncertainty.mean.shape), -1.0 / self._n_classes)
            return Solution(zero, -np.inf, Status.EMPTY)
        u, v, _, offset = np.split(result.x, [tau.size, 2 * tau.size, cost.size - 1])
        risk = 1.0 + float(result.fun)
        rule = Rule((u - v).reshape(uncertainty.mean.shape), float(offset[0]))
        return Solution(rule, risk, status_of(risk, self._n_classes))

    def _constraints(self) -> tuple[sparse.csr_array, Vector]:
        n, d = self._instances.shape
        c = self._n_classes
        scores = sparse.kron(sparse.csr_array(self._instances), np.eye(c), format="csr")  # row (i, y)
        order = np.arange(c * d).reshape(d, c).T.ravel()  # columns by class, as μ is stored
        scores = scores[:, order]
        above = sparse.hstack([scores, -scores, -sparse.eye_array(n * c), -np.ones((n * c, 1))])
        totals = sparse.kron(sparse.eye_array(n), np.ones((1, c)))
        shares = sparse.hstack([sparse.csr_array((n, 2 * scores.shape[1])), totals, sparse.csr_array((n, 1))])
        return sparse.vstack([above, shares], format="csr"), np.repeat([0.0, 1.0], [n * c, n])

    def reset(self) -> None:
        """No-op: this solver does not start from the previous rule."""

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"instances": self._instances}

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        n, d = Length("instances", self._n_instances), self._instances.shape[1]
        return {"instances": ArraySpec((n, d), low=-LARGEST_VALUE, high=LARGEST_VALUE)}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._instances = state["instances"].astype(np.float64)
