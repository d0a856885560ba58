"""How often the mean error ever leaves its limits, and how wide the limits are.

    python benchmarks/error_intervals.py [--streams N] [--steps N] [--write]

On simulated streams the probability of a mistake is known at each step, so that its mean can be compared with the
limits after every row.
"""

import argparse
import math

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.stats import beta, norm

from driftline._jit import kernel
from driftline.guarantees import error_interval
from driftline.guarantees.error_intervals import WINDOW_SCALE, WINDOWS
from driftline.kernels.error_interval import is_too_large, is_too_small
from driftline.kernels.start_weights import start_weight
from provenance import write_results

DELTA = 0.05
KINDS = ("still", "drifting", "bursts", "reacting labels")


@kernel
def reacting_stream(u, low, high, risks, mistakes):
    """Labels that react: an error of `high` while mistakes exceed what was to be expected, else of `low`."""
    excess = 0.0
    for t in range(u.size):
        risks[t] = high if excess > 0.0 else low
        mistakes[t] = u[t] < risks[t]
        excess += mistakes[t] - risks[t]


def stream_of(kind, n_steps, rng):
    """Return the probability of a mistake at each step, and the mistakes."""
    u, t = rng.random(n_steps), np.arange(n_steps)
    risks, mistakes = np.empty(n_steps), np.empty(n_steps)
    if kind == "reacting labels":
        reacting_stream(u, *rng.permutation([rng.uniform(0.0, 0.2), rng.uniform(0.2, 1.0)]), risks, mistakes)
        return risks, mistakes
    if kind == "still":
        risks[:] = rng.uniform(0.01, 0.5)
    elif kind == "drifting":
        risks[:] = 0.25 + 0.2 * np.sin(2.0 * np.pi * (t / rng.uniform(500, 40_000) + rng.random()))
    else:
        risks[:] = np.where(t % rng.integers(200, 4000) < rng.integers(20, 200), rng.uniform(0.3, 1.0), 0.03)
    return risks, (u < risks).astype(float)


@kernel
def leaves(n, wrong, risk, log_limit):
    """Return whether a mean error lies outside the limits: the mixture at it reaches the limit.

    No exponent of the mixture is larger than n times the relative entropy, which is tried first because it is quick.
    """
    p, divergence = wrong / n, 0.0
    if p > 0.0:
        divergence += p * math.log(p / risk)
    if p < 1.0:
        divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - risk))
    if n * divergence < log_limit - 1e-6:
        return False
    return is_too_small(n, wrong, risk, log_limit) or is_too_large(n, wrong, risk, log_limit)


@kernel
def ever_leaves(risks, mistakes, log_limit, quantile, windows, window_scale, left):
    """Set whether the means ever leave: overall, in each kind of window, and with limits for a fixed time."""
    total_risk, total_wrong = np.zeros(risks.size + 1), np.zeros(risks.size + 1)
    left[:] = False
    for t in range(risks.size):
        total_risk[t + 1], total_wrong[t + 1] = total_risk[t] + risks[t], total_wrong[t] + mistakes[t]
        n = t + 1.0
        p, risk = total_wrong[t + 1] / n, min(max(total_risk[t + 1] / n, 1e-12), 1.0 - 1e-12)
        left[0] |= leaves(n, total_wrong[t + 1], risk, log_limit)
        # Wilson's interval contains a risk if it is not further from p than its own standard error allows.
        left[-1] |= n >= 100 and abs(p - risk) > quantile * math.sqrt(risk * (1.0 - risk) / n)
        for w in range(windows.size):
            block = max(t + 1 - windows[w], 0) // (windows[w] // 10)
            start = block * (windows[w] // 10)
            wrong, n = total_wrong[t + 1] - total_wrong[start], float(t + 1 - start)
            risk = min(max((total_risk[t + 1] - total_risk[start]) / n, 1e-12), 1.0 - 1e-12)
            left[1 + w] |= leaves(n, wrong, risk, log_limit - math.log(start_weight(block + 1, window_scale)))


def shares_that_leave(kind, n_streams, n_steps):
    """Return the shares of streams that ever leave: overall, recent windows, and limits for a fixed time."""
    left, quantile = np.zeros((n_streams, len(WINDOWS) + 2), np.bool_), norm.ppf(1.0 - DELTA / 2.0)
    for i in track(range(n_streams), kind):
        risks, mistakes = stream_of(kind, n_steps, np.random.default_rng([KINDS.index(kind), i]))
        ever_leaves(risks, mistakes, math.log(2.0 / DELTA), quantile, np.array(WINDOWS), WINDOW_SCALE, left[i])
    return left.mean(axis=0)


def widths(n, wrong, share=1.0):
    """Return the half-widths, in points: at all times, Wilson's, and that of Clopper and Pearson."""
    interval, z, p = error_interval(n, wrong, DELTA * share), norm.ppf(1.0 - DELTA / 2.0), wrong / n
    wilson = z / (1.0 + z * z / n) * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    low = beta.ppf(DELTA / 2.0, wrong, n - wrong + 1) if wrong else 0.0
    exact = (beta.ppf(1.0 - DELTA / 2.0, wrong + 1, n - wrong) - low) / 2.0
    return 100.0 * (interval.high - interval.low) / 2.0, 100.0 * wilson, 100.0 * exact


def main():
    """Run the benchmark, print the tables, and write them if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=2_000, help="number of streams of each kind")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--write", action="store_true", help="write results/error_intervals.md")
    arguments = parser.parse_args()
    names = " | ".join(f"last {length:,}" for length in WINDOWS)
    lines = [f"| streams that ever leave, % | overall | {names} | Wilson, from row 100 |", "|---|---|---|---|---|---|"]
    for kind in KINDS:
        shares = shares_that_leave(kind, arguments.streams, arguments.steps)
        lines.append(f"| {kind} | " + " | ".join(f"{100.0 * share:.2f}" for share in shares) + " |")
    lines += [
        "",
        HALF_WIDTHS,
        "",
        "| rows | error, % | at all times | Wilson | Clopper-Pearson |",
        "|---|---|---|---|---|",
    ]
    for n, error in ((100, 10), (1_000, 9), (10_000, 10), (45_000, 9), (1_000_000, 10), (1_000, 0)):
        lines.append(
            f"| {n:,} | {error} | " + " | ".join(f"{width:.2f}" for width in widths(n, n * error // 100)) + " |"
        )
    for length in WINDOWS:
        for age in (20_000, 1_000_000):
            share = start_weight(max(age - length, 0) // (length // 10) + 1, WINDOW_SCALE)
            figures = " | ".join(f"{width:.2f}" for width in widths(length, length // 10, share))
            lines.append(f"| last {length:,} of {age:,} | 10 | {figures} |")
    Console(width=200).print(*lines, sep="\n")
    if arguments.write:
        write_results(
            "error_intervals", EXPLANATION.format(n_streams=arguments.streams, n_steps=arguments.steps), lines
        )


EXPLANATION = """# Errors with limits that hold at all times

{n_streams:,} simulated streams of {n_steps:,} steps of each kind, δ = 5 %. *still*: one error between 1 and 50 %.
*drifting*: the error swings between 5 and 45 %. *bursts*: 3 %, with bursts of 30 to 100 %. *reacting labels*: the
labels make predictions wrong more often, or less often, while there have been more mistakes than were to be expected. A
stream leaves if the mean of its true error lies outside the limits after any of its rows; at most 5 % may. *Wilson*: an
interval for a fixed time, looked at after each row.
"""
HALF_WIDTHS = "Half-widths in points, at δ = 5 %; *at all times* is that of driftline:"

if __name__ == "__main__":
    main()
