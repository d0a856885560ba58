"""Naive Bayes and dynamic weighted majority in plain Python, and a stream for them."""

import math

import numpy as np


class PlainBayes:
    """Naive Bayes that multiplies floats, without logarithms."""

    def __init__(self, nominal, n_classes):
        self.nominal, self.n_classes, self.rows = set(nominal), n_classes, []

    def learn(self, x, y):
        self.rows.append((x, y))

    def values(self, j, c):
        return [x[j] for x, y in self.rows if y == c and not np.isnan(x[j])]

    def factor(self, j, c, v):
        """Return P(v|c) for column j."""
        known = self.values(j, c)
        if not known:
            return 0.0
        if j in self.nominal:
            return (known.count(v) + 1) / (len(known) + max(known) + 1)
        deviation = np.std(known, ddof=1) if len(set(known)) > 1 else 0.0
        if deviation == 0.0:
            return float(v == known[0])
        return math.exp(-(((v - np.mean(known)) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))

    def weight(self, c, x):
        """Return P(c) Π_j P(x_j|c)."""
        if not self.rows:
            return 0.0
        product = sum(y == c for _, y in self.rows) / len(self.rows)
        for j, v in enumerate(x):
            if not np.isnan(v):
                product *= self.factor(j, c, v)
        return product

    def opinion(self, x):
        weights = [self.weight(c, x) for c in range(self.n_classes)]
        return weights.index(max(weights))


class PlainMajority:
    """Dynamic weighted majority with a list of experts."""

    def __init__(self, nominal, n_classes, *, period, beta, threshold, max_experts):
        self.new = lambda: PlainBayes(nominal, n_classes)
        self.n_classes, self.period, self.beta, self.threshold = n_classes, period, beta, threshold
        self.max_experts, self.experts, self.weights, self.t = max_experts, [self.new()], [1.0], 0

    def vote(self, opinions):
        votes = [0.0] * self.n_classes
        for weight, voted in zip(self.weights, opinions, strict=True):
            votes[voted] += weight
        return votes.index(max(votes))

    def step(self, x, y):
        opinions = [expert.opinion(x) for expert in self.experts]
        predicted = self.vote(opinions)
        self.t += 1
        if self.t % self.period == 0:
            self.weights = [w if o == y else w * self.beta for w, o in zip(self.weights, opinions, strict=True)]
            errs, largest = self.vote(opinions) != y, max(self.weights)
            pairs = [(w / largest, e) for w, e in zip(self.weights, self.experts, strict=True)]
            pairs = [pair for pair in pairs if pair[0] >= self.threshold]
            if errs:
                if len(pairs) == self.max_experts:
                    pairs.remove(min(pairs, key=lambda pair: pair[0]))
                pairs.append((1.0, self.new()))
            self.weights, self.experts = [w for w, _ in pairs], [e for _, e in pairs]
        for expert in self.experts:
            expert.learn(x, y)
        return predicted


def changing(seed, n_rows, nominal, n_columns, *, n_classes=3, n_codes=4, lasts=300, missing=0.0):
    """Return a stream with nominal and numeric columns whose distributions change after every `lasts` rows."""
    rng = np.random.default_rng(seed)
    X, y = np.empty((n_rows, n_columns)), rng.integers(0, n_classes, n_rows)
    for start in range(0, n_rows, lasts):
        centres = rng.normal(size=(n_classes, n_columns))
        shares = rng.dirichlet(np.full(n_codes, 0.7), (n_classes, n_columns)).cumsum(axis=2)
        part = slice(start, start + lasts)
        X[part] = centres[y[part]] + rng.normal(size=X[part].shape)
        codes = (rng.random(X[part].shape)[..., None] > shares[y[part], :, :-1]).sum(axis=2)
        X[part, nominal] = codes[:, nominal]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y
