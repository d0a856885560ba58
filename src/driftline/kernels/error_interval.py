"""Limits of the error that hold at all times at once, from the numbers of rows and of mistakes.

Row t is predicted wrongly (m_t = 1) or not (m_t = 0), and r_t is the probability of m_t = 1 given all that came before.
For every number λ, the product of exp(λ m_t) / (1 + r_t (e^λ - 1)) over the rows has the mean 1 and changes only by
factors of mean 1. The logarithm of 1 + r (e^λ - 1) is concave in r. So the product is at least

    E_λ(r) = exp(λ S - n log(1 + r (e^λ - 1))),   with r the mean of r_1, …, r_n and S = m_1 + … + m_n,

and so is a mixture of such products with weights that sum to at most 1. By Ville's inequality, the probability that
the mixture ever reaches a number L is at most 1/L. The values of r at which the mixture of E_λ(r) is below L are
therefore a valid set for the mean of r_1, …, r_n at all n at once. With λ > 0 the mixture falls with r, which gives a
lower limit; with λ < 0 it grows with r, which gives an upper limit.

The λ are ±8, ±4, ±2, … and the weights of the j-th pair 5 / ((j + 5)(j + 6)), for j = 0, 1, …, which sum to 1. The λ
that n rows need is of the order of 1/√n, so j is of the order of log n and its weight of 1/(log n)². Hence the width is
of the order of √(log log n / n), the smallest that is possible. Terms after the 24th would matter only for n far above
10¹²; leaving them out widens the interval.
"""

import numpy as np

from driftline._jit import inner_kernel, kernel

N_RATES = 24
"""Number of λ of each sign."""
RATES = 8.0 * 0.5 ** np.arange(N_RATES)
"""The positive λ."""
WEIGHTS = 5.0 / ((np.arange(N_RATES) + 5.0) * (np.arange(N_RATES) + 6.0))
"""Weight of each λ."""
RISES, FALLS = np.expm1(RATES), np.expm1(-RATES)
"""e^λ - 1 for the positive and for the negative λ."""
PRECISION = 1e-10
"""Limits are rounded outwards, by at most this share of them."""
MAX_HALVINGS = 120
"""A limit that is still not found after so many halvings is taken to be 0."""


@inner_kernel
def is_too_small(n: float, wrong: float, risk: float, log_limit: float) -> bool:
    """Return whether the mixture of E_λ(risk) over λ > 0 reaches the limit."""
    total = 0.0
    for j in range(N_RATES):
        exponent = RATES[j] * wrong - n * np.log1p(risk * RISES[j]) - log_limit
        total += WEIGHTS[j] * np.exp(min(exponent, 10.0))  # exp(10) times any weight is above 1
    return total >= 1.0


@inner_kernel
def is_too_large(n: float, wrong: float, risk: float, log_limit: float) -> bool:
    """Return whether the mixture of E_λ(risk) over λ < 0 reaches the limit."""
    total = 0.0
    for j in range(N_RATES):
        exponent = -RATES[j] * wrong - n * np.log1p(risk * FALLS[j]) - log_limit
        total += WEIGHTS[j] * np.exp(min(exponent, 10.0))
    return total >= 1.0


@inner_kernel
def lower_limit_of_few(n: float, wrong: float, log_limit: float) -> float:
    """Return the lower limit by bisection between 0 and S/n; accurate if at most half of the rows are wrong."""
    low, high = 0.0, wrong / n
    if not is_too_small(n, wrong, low, log_limit):
        return low
    for _ in range(MAX_HALVINGS):
        if high - low <= PRECISION * low:
            break
        middle = 0.5 * (low + high)
        if is_too_small(n, wrong, middle, log_limit):
            low = middle
        else:
            high = middle
    return low


@inner_kernel
def upper_limit_of_few(n: float, wrong: float, log_limit: float) -> float:
    """Return the upper limit by bisection between S/n and 1; accurate if at most half of the rows are wrong."""
    low, high = wrong / n, 1.0
    if not is_too_large(n, wrong, high, log_limit):
        return high
    for _ in range(MAX_HALVINGS):
        if high - low <= PRECISION * high:
            break
        middle = 0.5 * (low + high)
        if is_too_large(n, wrong, middle, log_limit):
            high = middle
        else:
            low = middle
    return high


@inner_kernel
def upper_limit(n: float, wrong: float, log_limit: float) -> float:
    """Return the upper limit; if most rows are wrong, as 1 minus the lower limit of the share of right ones."""
    if 2.0 * wrong > n:
        return 1.0 - lower_limit_of_few(n, n - wrong, log_limit)
    return upper_limit_of_few(n, wrong, log_limit)


@kernel
def error_limits(n: float, wrong: float, log_limit: float) -> tuple[float, float]:
    """Return the lower and the upper limit of the mean error of n ≥ 1 rows, `wrong` of which were predicted wrongly.

    `log_limit` is the logarithm of L. The probability that the lower limit ever fails is at most 1/L, and the same is
    true of the upper limit.
    """
    if 2.0 * wrong > n:
        low = 1.0 - upper_limit_of_few(n, n - wrong, log_limit)
    else:
        low = lower_limit_of_few(n, wrong, log_limit)
    return low, upper_limit(n, wrong, log_limit)
