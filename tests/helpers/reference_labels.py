"""The rules that know the last labels, in plain NumPy: counts are sums over all labels so far, not running sums."""

import numpy as np

from driftline.kernels import label_chain as chain


def forgetting_counts(contexts, labels, context, c):
    """Counts of the labels that came in a context, each weighed by how often the context has come since."""
    came = [y for each, y in zip(contexts, labels, strict=True) if each == context]
    ages = np.arange(len(came))[::-1]
    return sum(((1 - chain.GAIN) ** age * np.eye(c)[y] for age, y in zip(ages, came, strict=True)), np.zeros(c))


class ReferenceLabels:
    """Learns row by row; `contexts` are the last two labels when each row was predicted."""

    def __init__(self, c):
        self.c, self.labels, self.contexts = c, [], []
        self.exponents, self.squares = np.array(chain.FIRST_EXPONENTS), np.ones(4)
        self.behind, self.chosen = np.array(chain.FIRST_BEHIND), 0
        self.mistakes = np.zeros(4)

    @property
    def last_two(self):
        return (self.labels[-1] if self.labels else -1, self.labels[-2] if len(self.labels) > 1 else -1)

    def terms(self, h, context):
        last, before = context
        recent = forgetting_counts([0] * len(self.labels), self.labels, 0, self.c)
        shares = (recent + 0.5) / (recent + 0.5).sum()
        after = after_context = shares
        if last >= 0:
            known = [(each, y) for each, y in zip(self.contexts, self.labels, strict=True) if each[0] >= 0]
            ages = np.arange(len(known))[::-1]
            weights = (1 - chain.GAIN) ** ages
            repeats = sum(w for w, (each, y) in zip(weights, known, strict=True) if each[0] == y)
            repeated = (repeats + 1 / self.c) / (weights.sum() + 1)
            smooth = (1 - repeated) * shares / (1 - shares[last]) if self.c > 1 else shares.copy()
            smooth[last] = repeated
            of_last = forgetting_counts([each[0] for each in self.contexts], self.labels, last, self.c)
            after = (of_last + 2 * smooth) / (of_last.sum() + 2)
            kinds = [(each[0], each[0] == each[1]) for each in self.contexts]
            of_both = forgetting_counts(kinds, self.labels, (last, last == before), self.c)
            after_context = (of_both + 2 * after) / (of_both.sum() + 2)
        return np.log([h + 0.02, after, after_context, shares])

    def combined(self, terms):
        powers = np.exp(self.exponents @ terms)
        return powers / powers.sum()

    def rules(self, h):
        q = self.combined(self.terms(h, self.last_two))
        frequent = np.argmax(np.bincount(self.labels, minlength=self.c)) if self.labels else 0
        picks = np.argmax(q), max(self.last_two[0], 0), frequent
        return np.array([h, *(2 / 3 * np.eye(self.c)[pick] + q / 3 for pick in picks)])

    def learn(self, rules, context, y):
        wrong = np.argmax(rules, axis=1) != y
        self.behind, self.mistakes = self.behind + wrong, self.mistakes + wrong
        self.behind = np.minimum(self.behind - self.behind.min(), chain.MAX_BEHIND)
        lead = min(15, 0.05 * self.mistakes[2:].min())
        judged = self.behind + np.array([lead, lead, 0, 0])
        if judged[self.chosen] > judged.min():
            self.chosen = int(np.argmin(judged))
        terms = self.terms(rules[0], context)
        gradient = terms[:, y] - terms @ self.combined(terms)
        self.squares += gradient**2
        self.exponents = np.clip(self.exponents + chain.STEP * gradient / np.sqrt(self.squares), -10, 10)
        self.labels.append(y)
        self.contexts.append(context)
