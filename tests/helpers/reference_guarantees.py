"""The kernels of `driftline.guarantees` in plain NumPy, written from the formulas and not from the kernels."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from driftline.types import Labels, Vector

LIMIT_RATES = 8.0 / 2.0 ** np.arange(24)
LIMIT_WEIGHTS = np.array([5 / ((j + 5) * (j + 6)) for j in range(24)])
ALARM_RATES = np.array([0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56])
ALARM_WEIGHTS = np.array([1, 1, 2, 3, 3, 3, 1]) / 14


def start_weights(n: int, scale: float) -> Vector:
    """w_1, …, w_n."""
    k = np.arange(1, n + 1)
    return 1 / ((scale + k) * (1 + np.log(1 + k / scale)) ** 2)


def remaining_weight(n: int, scale: float) -> float:
    return 1 / (1 + math.log(1 + n / scale))


def log_mixture(n: float, wrong: float, risk: float, rates: Vector) -> float:
    """The logarithm of the mixture of exp(λ S - n log(1 + r (e^λ - 1)))."""
    exponents = rates * wrong - n * np.log(1 + risk * (np.exp(rates) - 1))
    return float(logsumexp(exponents, b=LIMIT_WEIGHTS))


def error_limits(n: float, wrong: float, limit: float) -> tuple[float, float]:
    """Where the two mixtures reach the limit, with a root finder instead of a bisection."""

    def root(rates: Vector, end: float) -> float:
        def excess(risk: float) -> float:
            return log_mixture(n, wrong, risk, rates) - math.log(limit)

        return end if excess(end) <= 0 else brentq(excess, *sorted([end, wrong / n]), xtol=1e-14)

    return root(LIMIT_RATES, 0.0), root(-LIMIT_RATES, 1.0)


class ReferenceAlarm:
    """One test with a product for each start and each λ, instead of recursions."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.products = np.zeros((0, len(ALARM_RATES)))
        self.rows: list[int] = []

    def add(self, row: int, mistake: int, level: float) -> int | None:
        """Return the row since which the error has been higher if the alarm is raised, else None."""
        self.rows.append(row)
        factor = np.exp(ALARM_RATES * mistake) / (1 + level * (np.exp(ALARM_RATES) - 1))
        self.products = np.vstack([self.products, np.ones(len(ALARM_RATES))]) * factor
        weighted = start_weights(len(self.rows), 5000)[:, None] * self.products * ALARM_WEIGHTS
        if weighted.sum() + remaining_weight(len(self.rows), 5000) < self.limit:
            return None
        return self.rows[int(np.argmax(weighted.max(axis=1)))]


def first_alarm(
    mistakes: Labels, *, delta: float, tolerated: float | None = None, rise: float | None = None
) -> tuple[str, int, int, float] | None:
    """Return kind, row, estimated start and level of the first alarm; None if there is none."""
    share = delta / ((tolerated is not None) + (rise is not None))
    fixed, relative = ReferenceAlarm(1 / share), ReferenceAlarm(2 / share)
    level = 1.0
    for t, mistake in enumerate(mistakes.tolist()):
        since = None if tolerated is None else fixed.add(t, mistake, tolerated)
        if since is not None:
            return "tolerated", t, since, tolerated
        since = None if level >= 1 else relative.add(t, mistake, level)
        if since is not None:
            return "rise", t, since, level
        if rise is not None and (t + 1) % 64 == 0:
            level = min(level, error_limits(t + 1, mistakes[: t + 1].sum(), 2 / share)[1] + rise)
    return None
