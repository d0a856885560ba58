"""Streams without change and streams with one, for the benchmark of the search for changes.

All have four columns and two classes. Each function takes the number of rows and a generator.
"""

import numpy as np
from scipy.signal import lfilter

D = 4


def labels_of(n, rng, share=0.5):
    """Return labels of two classes."""
    return (rng.random(n) < share).astype(np.int64)


def independent(n, rng):
    """Independent normal values."""
    return rng.normal(size=(n, D)), labels_of(n, rng)


def rare_class(n, rng):
    """Heavy-tailed values, 3 % of the rows in one class, missing values and rare categories."""
    X = rng.standard_t(2, size=(n, D))
    X[rng.random(n) < 0.1, 1] = np.nan
    X[:, 2] = rng.random(n) < 0.02
    return X, labels_of(n, rng, 0.03)


def autoregressive(correlation, share=0.5):
    """Return a function that makes values with this correlation between neighbouring rows."""

    def make(n, rng):
        noise = rng.normal(size=(n + 2000, D)) * np.sqrt(1.0 - correlation**2)
        return lfilter([1.0], [1.0, -correlation], noise, axis=0)[2000:], labels_of(n, rng, share)

    return make


def correlated_labels(n, rng):
    """Labels that follow an autoregression."""
    return rng.normal(size=(n, D)), (autoregressive(0.95)(n, rng)[0][:, 0] > 0).astype(np.int64)


def season(cycles, noise):
    """Return a function that makes waves of so many cycles in the stream, with noise."""

    def make(n, rng):
        t = np.arange(n)[:, np.newaxis] / n
        return np.sin(2.0 * np.pi * (cycles * t + rng.random(D))) + noise * rng.normal(size=(n, D)), labels_of(n, rng)

    return make


def weeks(cycles):
    """Return a function that makes columns that are high in 2 of 7 parts of each cycle."""

    def make(n, rng):
        phase = (cycles * np.arange(n)[:, np.newaxis] / n + rng.random(D)) % 1.0
        return (phase < 2.0 / 7.0) + 0.5 * rng.normal(size=(n, D)), labels_of(n, rng)

    return make


WITHOUT_CHANGE = {
    "independent, normal": independent,
    "independent, 3 % in one class, heavy tails, missing": rare_class,
    "autoregression 0.9": autoregressive(0.9),
    "autoregression 0.95": autoregressive(0.95),
    "autoregression 0.99": autoregressive(0.99),
    "autoregression 0.99, 3 % in one class": autoregressive(0.99, 0.03),
    "autoregression 0.999": autoregressive(0.999),
    "labels by autoregression 0.95": correlated_labels,
    **{f"season of {m} cycles, noise {s:g}": season(m, s) for m in (2, 3, 6, 20) for s in (0.0, 0.5)},
    **{f"weeks of {m} cycles": weeks(m) for m in (8, 50)},
}


def season_of_rare_class(n, rng):
    """Waves of 3 cycles in the values of both classes, one of which has 3 % of the rows."""
    return season(3, 0.5)(n, rng)[0], labels_of(n, rng, 0.03)


def two_waves(cycles):
    """Return a function that makes a wave and one of half its height that is twice as fast, as many days have."""

    def make(n, rng):
        t = np.arange(n)[:, np.newaxis] / n
        waves = sum(np.sin(2.0 * np.pi * k * (cycles * t + rng.random(D))) / k for k in (1, 2))
        return waves + 0.5 * rng.normal(size=(n, D)), labels_of(n, rng)

    return make


def season_of_spread(n, rng):
    """Waves of 3 cycles in the standard deviation, between 0.5 and 1.5."""
    wave = np.sin(2.0 * np.pi * (3 * np.arange(n)[:, np.newaxis] / n + rng.random(D)))
    return (1.0 + 0.5 * wave) * rng.normal(size=(n, D)), labels_of(n, rng)


def season_of_classes(n, rng):
    """Waves of 3 cycles in the share of a class, between 20 and 80 %."""
    wave = np.sin(2.0 * np.pi * (3 * np.arange(n) / n + rng.random()))
    return rng.normal(size=(n, D)), (rng.random(n) < 0.5 + 0.3 * wave).astype(np.int64)


def season_of_missing(n, rng):
    """Waves of 3 cycles in the share of missing values, between 0 and 40 %."""
    wave = np.sin(2.0 * np.pi * (3 * np.arange(n)[:, np.newaxis] / n + rng.random(D)))
    X, y = independent(n, rng)
    X[rng.random((n, D)) < 0.2 + 0.2 * wave] = np.nan
    return X, y


def shifts_of_work(n, rng):
    """Columns that are high in half of each of 7 cycles, with values that depend on the one before."""
    phase = (7 * np.arange(n)[:, np.newaxis] / n + rng.random(D)) % 1.0
    return 2.0 * (phase < 0.5) + autoregressive(0.9)(n, rng)[0], labels_of(n, rng)


LEFT_OUT = {
    "autoregression 0.97": autoregressive(0.97),
    "season of 2.4 cycles, noise 0.2": season(2.4, 0.2),
    "season of 3.5 cycles, noise 2": season(3.5, 2.0),
    "season of 5 cycles, noise 0.5": season(5, 0.5),
    "season of 3 cycles, 3 % in one class": season_of_rare_class,
    "two waves in one, 3 cycles": two_waves(3),
    "season of the deviation, 3 cycles": season_of_spread,
    "season of class shares, 3 cycles": season_of_classes,
    "season of missing values, 3 cycles": season_of_missing,
    "high in half of each of 7 cycles, autoregression 0.9": shifts_of_work,
}
"""Streams that were not looked at when the constants of the search were chosen."""

NOT_SEEN_TO_RETURN = {
    "season of 1 cycle, noise 0.5": season(1, 0.5),
    "season of 1.5 cycles, noise 0.5": season(1.5, 0.5),
    **{f"weeks of {m} cycles": weeks(m) for m in (2, 3, 4)},
}
"""Swings of which the first search during a run sees about one cycle, or less."""


def shifted(size, at=0.5, lasting=0):
    """Return a function that shifts a column by so many standard deviations, abruptly or over some rows."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[:, 0] += size * np.clip((np.arange(n) - at * n) / max(lasting, 1) + 0.5, 0.0, 1.0)
        return X, y

    return make


def spread(factor):
    """Return a function that multiplies the standard deviation of a column."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[n // 2 :, 0] *= factor
        return X, y

    return make


def missing(share):
    """Return a function that removes values of a column."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[n // 2 :, 0][rng.random(n - n // 2) < share] = np.nan
        return X, y

    return make


def category(share):
    """Return a function that makes a category appear."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[:, 0] = (rng.random(n) < share) & (np.arange(n) >= n // 2)
        return X, y

    return make


def amounts(share):
    """Return a function that makes the log-normal amounts of a rare class fall from a median of 247 to 8."""

    def make(n, rng):
        X, y = rng.lognormal(3.0, 1.5, (n, D)), labels_of(n, rng, share)
        medians = np.where(np.arange(n) < n // 2, 247.0, 8.0)
        X[:, 0] = np.where(y == 1, medians * rng.lognormal(0.0, 1.5, n), X[:, 0])
        return X, y

    return make


def class_share(low, high):
    """Return a function that changes the share of a class."""

    def make(n, rng):
        return rng.normal(size=(n, D)), (rng.random(n) < np.where(np.arange(n) < n // 2, low, high)).astype(np.int64)

    return make


def temporary(n, rng):
    """Raise a column by one deviation for a fifth of the rows."""
    X, y = independent(n, rng)
    X[n // 2 : n // 2 + n // 5, 0] += 1.0
    return X, y


def shift_beside_weeks(n, rng):
    """Shift a column by one deviation, and let the others have weeks of 8 cycles."""
    X, y = weeks(8)(n, rng)
    X[:, 0] = shifted(1.0)(n, rng)[0][:, 0]
    return X, y


def shift_of_correlated(size):
    """Return a function that shifts a column of an autoregression."""

    def make(n, rng):
        X, y = autoregressive(0.99)(n, rng)
        X[n // 2 :, 0] += size
        return X, y

    return make


WITH_CHANGE = {
    **{f"shift by {size:g} deviations": shifted(size) for size in (0.15, 0.2, 0.25, 0.3, 0.5)},
    **{f"shift by {size:g} after a fifth": shifted(size, 0.2) for size in (0.3, 0.5)},
    **{f"shift by {size:g} over 2,000 rows": shifted(size, lasting=2000) for size in (0.3, 0.5, 1.0)},
    **{f"deviation × {factor:g}": spread(factor) for factor in (1.2, 1.3, 3.0)},
    **{f"{100 * share:g} % missing": missing(share) for share in (0.01, 0.03, 0.9)},
    **{f"a new category, {100 * share:g} %": category(share) for share in (0.02, 0.05)},
    **{f"amounts 247 → 8 in a class of {100 * share:g} %": amounts(share) for share in (0.01, 0.02, 0.05)},
    "share of a class 3 → 6 %": class_share(0.03, 0.06),
    "share of a class 50 → 60 %": class_share(0.5, 0.6),
    **{f"autoregression 0.99, shift by {size:g}": shift_of_correlated(size) for size in (1.0, 2.0, 3.0)},
    "shift by 1 for 2,000 rows, then back": temporary,
    "shift by 1 beside weeks of 8 cycles": shift_beside_weeks,
}
