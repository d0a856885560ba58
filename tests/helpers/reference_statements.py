"""Confidences, decisions and sets in plain NumPy, written from the formulas and not from the kernels."""

import math
from types import SimpleNamespace

import numpy as np

L, SOFT = 20.0, 8.0
EDGES = np.array([0.65, 0.8, 0.9, 0.97])


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def log_odds_bin(p, lowest, width, n):
    p = min(max(p, 1e-12), 1 - 1e-12)
    return int(np.clip(math.floor((math.log(p / (1 - p)) - lowest) / width), 0, n - 1))


def aim(level, debt):
    beyond = np.sign(debt) * max(abs(debt) - SOFT, 0.0)
    return level * math.exp(-debt / 128 - beyond / 8)


class Answering:
    """Decisions at one level, for one group of rows."""

    def __init__(self, level):
        self.level, self.debt, self.threshold = level, -5.0, 96
        self.n_answered = self.n_wrong = self.n_tried = 0

    def decide(self, place):
        is_trial = self.threshold >= 1000
        return 0 if place < self.threshold - 1000 * is_trial else 2 if is_trial else 1

    def learn(self, decision, wrong, n_seen, rows, mistakes):
        if decision:
            debt = self.debt + wrong - self.level
            if decision == 2:  # a trial adds no debt beyond L + 1, and forgives none
                debt = min(debt, max(L + 1, self.debt - self.level))
            self.debt = max(debt, -L)
        self.n_answered += decision == 1
        self.n_wrong += decision == 1 and wrong
        self.n_tried += decision == 2
        self.threshold = self.new_threshold(n_seen, rows, mistakes)

    def new_threshold(self, n_seen, rows, mistakes):
        if n_seen < 100:
            return 96
        above, wrong_above = np.cumsum(rows[::-1])[::-1], np.cumsum(mistakes[::-1])[::-1]
        meets = np.flatnonzero((above > 0) & (wrong_above <= aim(self.level, self.debt) * above))
        lowest = meets[0] if len(meets) else 96
        tried = np.flatnonzero(above >= 0.02 * rows.sum())[-1]
        blocked = self.debt >= L or (self.debt > 0 and lowest == 96)
        return 1000 + min(lowest, tried) if blocked else lowest


class Covering:
    """Sets at one coverage, for one group of rows."""

    def __init__(self, level, allows_empty):
        self.level, self.allows_empty, self.debt, self.threshold = level, allows_empty, 0.0, 0.0
        self.n_rows = self.n_missed = self.n_labels = 0

    def learn(self, missed, size, rows):
        self.n_rows, self.n_missed, self.n_labels = self.n_rows + 1, self.n_missed + missed, self.n_labels + size
        self.debt += missed - self.level
        if not self.allows_empty:
            self.debt = max(self.debt, -L)
        self.threshold = self.new_threshold(rows)

    def new_threshold(self, rows):
        if abs(self.debt) >= L:
            return 0.0 if self.debt > 0 else 2.0
        up_to = np.cumsum(rows)
        wanted = min(aim(self.level, self.debt), 1.0) * up_to[-1]
        place = np.flatnonzero((up_to >= wanted) & (rows > 0))[0]
        within = 1 - (up_to[place] - wanted) / rows[place]
        return sigmoid(-10 + 0.125 * (place + within))


class ReferenceStatements:
    """`RowGuarantees` for one row at a time; levels are numbers, or dictionaries from positions to numbers."""

    def __init__(self, errors, coverages, *, per_class=False, allows_empty=True):
        self.errors, self.coverages = errors, coverages
        self.per_class, self.allows_empty = per_class, allows_empty
        self.w, self.S, self.recent = np.array([0.0, 1, 0, 0, 0]), np.eye(5), np.array([0.3, 0.3])
        self.bins = [SimpleNamespace(n=0.0, error=0.0, log_factor=0.0, stretch=[]) for _ in range(5)]
        self.shares, self.weight = np.zeros(0), 1.0
        self.seen, self.rows, self.mistakes = {}, {}, {}
        self.answering, self.covering, self.scores = {}, {}, {}

    def add_classes(self, n):
        c = len(self.shares)
        self.shares = np.r_[self.shares * c, np.ones(n)] / (c + n)
        for group in [None, *range(c, c + n)]:
            self.seen.setdefault(group, 0)
            self.rows.setdefault(group, np.zeros(96))
            self.mistakes.setdefault(group, np.zeros(96))
            self.scores.setdefault(group, np.zeros(160))
            for e, level in enumerate(self.errors):
                own = level.get(group, min(level.values())) if isinstance(level, dict) else level
                self.answering.setdefault((e, group), Answering(own))
            for s, coverage in enumerate(self.coverages):
                self.covering.setdefault((s, group), Covering(1 - coverage, self.allows_empty))

    def answers_for(self, e, k):
        return self.answering[e, k if isinstance(self.errors[e], dict) else None]

    def sets_for(self, s, y):
        return self.covering[s, y if self.per_class else None]

    def state(self, h, k):
        others = np.delete(h, k)
        error_scores = [-0.5 * (math.log((e + 0.02) / (1.02 - e)) + 1) for e in self.recent]
        p, second = h[k], max([0.0, *others])
        logs = [0.5 * math.log((p + 0.01) / (1.01 - p)), 0.5 * math.log((p + 0.01) / (second + 0.01))]
        f = np.array([1.0, *logs, *error_scores])
        confidence = sigmoid(np.clip(self.w @ f, -30, 30))
        place = log_odds_bin(confidence, -1.0, 0.1, 96)
        g = h + 0.05 * (self.shares + 0.001)
        g[k] = 0
        q = (1 - confidence) * g / g.sum() if len(h) > 1 else g
        q[k] = confidence
        sets = [
            [(y == k and not self.allows_empty) or q[y] >= self.sets_for(s, y).threshold for y in range(len(h))]
            for s in range(len(self.coverages))
        ]
        return SimpleNamespace(
            k=k,
            f=f,
            confidence=confidence,
            place=place,
            q=q,
            like=self.like_errors(confidence),
            decisions=[self.answers_for(e, k).decide(place) for e in range(len(self.errors))],
            sets=np.array(sets, bool).reshape(len(self.coverages), len(h)),
        )

    def like_errors(self, confidence):
        row = self.bins[int((confidence >= EDGES).sum())]
        n = row.n + 10
        error = (row.n * row.error + 10 * (1 - confidence)) / n
        deviation = math.sqrt(max(error * (1 - error), 0.002) * (1 / n + 1 / 500))
        margin = 1.3 * math.exp(row.log_factor) * deviation
        return max(error - margin, 0), error, min(error + margin, 1)

    def learn(self, said, label):
        wrong = float(said.k != label)
        self.learn_decisions(said, wrong)
        self.learn_sets(said, label)
        self.learn_like(said, wrong)
        self.learn_confidence(said, wrong)
        self.weight /= 1 - 1 / 50_000

    def learn_decisions(self, said, wrong):
        for group in (None, said.k):
            self.seen[group] += 1
            self.rows[group][said.place] += self.weight
            self.mistakes[group][said.place] += self.weight * wrong
        for e, level in enumerate(self.errors):
            group = said.k if isinstance(level, dict) else None
            known = self.seen[group], self.rows[group], self.mistakes[group]
            self.answering[e, group].learn(said.decisions[e], wrong, *known)

    def learn_sets(self, said, label):
        c, group = len(said.q), label if self.per_class else None
        p = said.q[label] if label < c else 0.0
        self.scores[group][log_odds_bin(p, -10, 0.125, 160)] += self.weight
        for s in range(len(self.coverages)):
            missed = not (label < c and said.sets[s, label])
            self.covering[s, group].learn(missed, said.sets[s].sum(), self.scores[group])
        self.shares = 0.99 * self.shares + 0.01 * np.eye(len(self.shares))[label]

    def learn_like(self, said, wrong):
        row = self.bins[int((said.confidence >= EDGES).sum())]
        row.n = row.n * (1 - 1 / 200) + 1
        row.error += (wrong - row.error) / row.n
        row.stretch.append((wrong, said.like[2]))
        if len(row.stretch) == 500:
            mistakes, bounds = np.sum(row.stretch, axis=0)
            row.log_factor = max(row.log_factor + 0.25 * ((mistakes > bounds) - 0.05), -0.5)
            row.stretch = []

    def learn_confidence(self, said, wrong):
        p = sigmoid(np.clip(self.w @ said.f, -30, 30))
        v, g = p * (1 - p), self.S @ said.f
        scale = 1 / (1 + v * said.f @ g)
        self.w = self.w + scale * g * (1 - wrong - p)
        self.S = (1 - 1e-4) * (self.S - v * scale * np.outer(g, g)) + 1e-4 * np.eye(5)
        self.recent = self.recent + np.array([0.03, 0.003]) * (wrong - self.recent)
