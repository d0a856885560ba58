"""Columns whose unit or level changes restart their scale; all others keep it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.core.columns import RunningColumns
from helpers.strategies import seeds

CHANGES = {
    "larger": (1e3, 0.0),
    "smaller": (1e-3, 0.0),
    "twenty times": (20.0, 0.0),
    "a twentieth": (0.05, 0.0),
    "elsewhere": (1.0, 50.0),
    "somewhat elsewhere": (1.0, -8.0),
    "larger and elsewhere": (1e3, 1e5),
    "smaller and elsewhere": (1e-3, 20.0),
}


class ReferenceColumn:
    """Statistics of one column of numbers, by the formulas, value after value."""

    def __init__(self):
        self.count, self.mean, self.squares, self.n_restarts = 0.0, 0.0, 0.0, 0
        self.is_number, self.early, self.lead = False, [], 0.0
        self.group, self.previous, self.spreads, self.medians = [], 0.0, [], []
        self.last, self.n_unusual, self.is_misfit = (), 0, False

    def add(self, raw):
        x = raw
        if self.count >= 10 and self.is_number and self.squares > 0:
            farthest = 4.0 * np.sqrt(self.squares / self.count)
            x = np.clip(raw, self.mean - farthest, self.mean + farthest)
        self.early = [*self.early, x][:10]
        if self.count >= 10_000:
            self.squares *= 1 - 1e-4
        self.count = min(self.count + 1, 10_000)
        shift = x - self.mean
        self.mean += shift / self.count
        self.squares += shift * (x - self.mean)
        if self.count == 10 and self.n_restarts == 0:
            self._clip_early()
        if self.is_number:
            self._note(raw, x != raw)
        self.is_number |= raw not in (0.0, 1.0)

    def _clip_early(self):
        away = np.abs(self.early - np.median(self.early))
        if 0 < 100 * np.median(away) < away.max():
            self._start(self.early, 4 * 1.4826 * np.median(away))

    def _start(self, values, farthest):
        clipped = np.median(values) + np.clip(values - np.median(values), -farthest, farthest)
        self.mean, self.squares = np.mean(clipped), len(clipped) * np.var(clipped)

    def _note(self, raw, is_clipped):
        self.lead = np.clip(self.lead + is_clipped - 0.75, -6, 6)
        if raw == self.previous:
            return
        self.previous = raw
        self.group.append(raw)
        if len(self.group) == 32:
            self._judge(np.array(self.group))
            self.group = []

    def _judge(self, group):
        spread, median = np.log(np.sort(group)[26] - np.sort(group)[5]), np.median(group)
        deviation = np.sqrt(self.squares / self.count)
        distinct = np.unique(group)
        is_beyond = np.mean(np.abs(distinct - self.mean) > 4 * deviation) >= 0.75
        is_first = not self.spreads
        is_narrow = is_first or spread < self.spreads[0] - np.log(4)
        is_new = is_narrow or spread > self.spreads[1] + np.log(4)
        is_new = is_new or max(self.medians[0] - median, median - self.medians[1]) > np.exp(self.spreads[1])
        self.n_unusual += 1
        self.is_misfit |= (
            (is_narrow and 4 * np.exp(spread) < deviation) or (is_beyond and not is_first) or self.lead > 0
        )
        if is_new and self.n_unusual < 4 and (self.is_misfit or not is_first):
            return
        if is_new and self.is_misfit:
            self.count, self.n_restarts = 32.0, self.n_restarts + 1
            self._start(group, 2 * np.exp(spread))
            is_first = True
        if is_first:
            self.spreads, self.medians = [spread, spread], [median, median]
        elif is_new:
            self._extend(spread, median)
        elif self.n_unusual == 1:
            self._extend(*self.last)
        self.last, self.n_unusual, self.is_misfit = (spread, median), 0, False

    def _extend(self, spread, median):
        self.spreads, self.medians = extended(self.spreads, spread), extended(self.medians, median)


def extended(limits, value):
    low, high = (limit + 0.0032 * (value - limit) for limit in limits)
    return [min(low, value), max(high, value)]


def odd_column(rng):
    """Values in parts of random length, each with its own scale, level and kind."""
    parts = []
    for _ in range(rng.integers(1, 5)):
        n = rng.integers(20, 400)
        kind = rng.integers(0, 6)
        part = rng.standard_cauchy(n) if kind == 0 else rng.normal(size=n)
        part = np.round(part) if kind == 1 else part
        part = np.where(rng.random(n) < 0.2, part, 0.0) if kind == 2 else part
        part = np.full(n, part[0]) if kind == 3 else part
        part = part * 10.0 ** rng.integers(-4, 5) + 10.0 * rng.integers(-3, 4) * rng.integers(0, 2)
        part[rng.random(n) < 0.02] = np.nan
        parts.append(part)
    return np.concatenate(parts)


@given(seeds)
def test_statistics_equal_their_formulas(seed):
    x = odd_column(np.random.default_rng(seed))
    reference, columns = ReferenceColumn(), RunningColumns(1, standardises=True)
    for value in x[~np.isnan(x)]:
        reference.add(value)
    columns.update(x[:, None])
    assert columns._count[0] == reference.count
    assert np.isclose(columns._mean[0], reference.mean, rtol=1e-6, atol=1e-9)
    assert np.isclose(columns._squares[0], reference.squares, rtol=1e-6)


@given(seeds)
def test_neither_blocks_nor_a_restored_state_make_a_difference(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([odd_column(rng)[:20].repeat(25), np.resize(odd_column(rng), 500)])
    whole, in_parts = (RunningColumns(2, standardises=True) for _ in range(2))
    Z = whole.update(X)
    for start in range(0, 500, 61):
        block = slice(start, start + 61)
        restored = RunningColumns(2, standardises=True)
        restored.restore(in_parts.state())
        in_parts = restored
        assert np.array_equal(in_parts.update(X[block]), Z[block])
    assert all(np.array_equal(array, in_parts.state()[name]) for name, array in whole.state().items())


@given(seeds, st.sampled_from(sorted(CHANGES)), st.sampled_from([1000, 3000]))
def test_a_column_fits_its_scale_again_200_values_after_a_change(seed, change, at):
    rng = np.random.default_rng(seed)
    factor, offset = CHANGES[change]
    x = rng.normal(size=(at + 700, 1))
    x[at:] = factor * x[at:] + offset
    columns = RunningColumns(1, standardises=True)
    columns.update(x[: at + 200])
    later = columns.prepare(x[at + 200 :])
    assert abs(later.mean()) < 1.0
    assert 0.4 < later.std() < 1.8


@pytest.mark.parametrize("at", [40, 100, 300])
@pytest.mark.parametrize("change", ["larger", "smaller", "smaller and elsewhere"])
def test_a_change_among_the_first_values_is_followed(change, at):
    factor, offset = CHANGES[change]
    x = np.random.default_rng(0).normal(size=(at + 700, 1))
    x[at:] = factor * x[at:] + offset
    columns = RunningColumns(1, standardises=True)
    columns.update(x[: at + 200])
    assert 0.4 < columns.prepare(x[at + 200 :]).std() < 1.8


def test_a_column_that_is_mostly_zero_is_followed():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((6000, 8)) < 0.1, rng.normal(3.0, 1.0, (6000, 8)), 0.0)
    columns = RunningColumns(8, standardises=True)
    usual = columns.update(X[:3000])[2000:].std()
    columns.update(1e-3 * X[3000:5000])
    assert 0.5 * usual < columns.prepare(1e-3 * X[5000:]).std() < 2.0 * usual


def test_a_column_that_was_constant_and_moves_far_away_is_followed():
    columns = RunningColumns(1, standardises=True)
    columns.update(np.full((9000, 1), 7.0))
    x = np.random.default_rng(0).normal(500.0, 1.0, (1000, 1))
    columns.update(x[:200])
    assert 0.5 < columns.prepare(x[200:]).std() < 2.0


def test_a_column_that_was_added_is_followed():
    rng = np.random.default_rng(0)
    columns = RunningColumns(1, standardises=True)
    columns.update(rng.normal(size=(100, 1)))
    columns.add_columns(1)
    columns.update(rng.normal(size=(1000, 2)))
    columns.update(rng.normal(size=(200, 2)) * [1.0, 1e-3])
    assert columns._count[0] == 1300
    assert 0.5 < columns.prepare(rng.normal(size=(500, 2)) * [1.0, 1e-3])[:, 1].std() < 2.0


def with_wild_values(rng, n, rows):
    x = rng.normal(size=n)
    x[rows] = 1e6 * rng.normal(size=np.size(x[rows]))
    return x


T = np.arange(4000)
STEADY = {
    "one wild value": lambda rng: with_wild_values(rng, 4000, [2000]),
    "bursts of five wild values": lambda rng: with_wild_values(rng, 4000, (T - 150) % 400 < 5),
    "1 % wild values": lambda rng: with_wild_values(rng, 4000, rng.random(4000) < 0.01),
    "heavy tails": lambda rng: rng.standard_cauchy(4000),
    "many magnitudes": lambda rng: np.exp(3 * rng.normal(size=4000)),
    "mostly zero": lambda rng: np.where(rng.random(4000) < 0.03, np.exp(rng.normal(3.0, 1.0, 4000)), 0.0),
    "events among zeros": lambda rng: np.where(T % 200 < 8, rng.normal(5.0, 1.0, 4000), 0.0),
    "day and night": lambda rng: np.where(T % 96 < 48, 100.0, 0.01) * rng.normal(1.0, 0.3, 4000),
    "sorted in time": lambda _: 1e3 + T,
    "random walk": lambda rng: np.cumsum(rng.normal(size=4000)),
    "codes": lambda rng: rng.integers(0, 7, 4000).astype(float),
    "sorted codes": lambda _: T // 500.0,
    "binary": lambda rng: (rng.random(4000) < 0.01).astype(float),
    "a sensor that is stuck": lambda rng: np.where((T > 1000) & (T < 2000), 3.0, rng.normal(size=4000)),
    "a unit that alternates": lambda rng: np.where((T > 1000) & (T % 6 < 3), 1e3, 1.0) * rng.normal(size=4000),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", STEADY)
def test_other_columns_do_not_restart(kind, seed):
    x = STEADY[kind](np.random.default_rng(seed))
    columns = RunningColumns(1, standardises=True)
    columns.update(x[:, None])
    assert columns._count[0] == 4000


def test_a_state_without_recent_values_is_restored_as_if_there_had_been_none():
    X = np.random.default_rng(0).normal(size=(300, 2))
    columns, restored = (RunningColumns(2, standardises=True) for _ in range(2))
    columns.update(X)
    state = columns.state()
    restored.restore({name: array for name, array in state.items() if not name.startswith("recent")})
    assert np.array_equal(restored.update(1e-3 * X[:100]), columns.update(1e-3 * X[:100]))
    restored.update(1e-3 * X)
    assert 0.5 < restored.prepare(1e-3 * X).std() < 2.0
