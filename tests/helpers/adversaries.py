"""Streams that see what is said of a row before they choose its label, and the limits that must hold on them."""

from dataclasses import dataclass

import numpy as np

from driftline.guarantees import Guarantees
from driftline.guarantees.row_guarantees import RowGuarantees

LIMIT, FIRST_CREDIT = 20.0, 5.0
HANDED_OVER, ANSWERED, ON_TRIAL = range(3)


# Labels, chosen after decisions and sets were seen -------------------------------------------------------------------


def another(said, rng):
    """A wrong label."""
    c = said.class_probabilities.shape[1]
    return (said.predicted[0] + rng.integers(1, max(c, 2))) % c


def wrong_when_answered(said, rng, t):
    return another(said, rng) if (said.decisions == ANSWERED).any() else said.predicted[0]


def wrong_when_answered_rarely(said, rng, t):
    return another(said, rng) if (said.decisions == ANSWERED).any() and rng.random() < 0.3 else said.predicted[0]


def right_on_trial_only(said, rng, t):
    return said.predicted[0] if (said.decisions == ON_TRIAL).any() else another(said, rng)


def always_wrong(said, rng, t):
    return another(said, rng)


def always_right(said, rng, t):
    return said.predicted[0]


def flipping(said, rng, t):
    return another(said, rng) if t % 2 else said.predicted[0]


def outside_the_set(said, rng, t):
    outside = np.flatnonzero(~said.sets[0, 0])
    return rng.choice(outside) if len(outside) else said.predicted[0]


def inside_the_set(said, rng, t):
    inside = np.flatnonzero(said.sets[0, 0])
    return rng.choice(inside) if len(inside) else said.predicted[0]


def least_probable(said, rng, t):
    return said.class_probabilities[0].argmin()


def one_class(said, rng, t):
    return 0


def regimes(said, rng, t):
    """Right for long enough to be trusted, then wrong for a while."""
    return another(said, rng) if t % 600 > 450 else said.predicted[0]


def as_said(said, rng, t):
    """Random labels, of the probabilities that were said."""
    p = said.class_probabilities[0]
    return rng.choice(len(p), p=p / p.sum())


class WrongWhenConfident:
    """Wrong for the more confident half of the rows."""

    __name__ = "wrong_when_confident"

    def __init__(self):
        self.middle = 0.9

    def __call__(self, said, rng, t):
        self.middle += 0.01 * (said.confidences[0] - self.middle)
        return another(said, rng) if said.confidences[0] > self.middle else said.predicted[0]


LABELS = (
    WrongWhenConfident(),
    *(wrong_when_answered, wrong_when_answered_rarely, right_on_trial_only, always_wrong, always_right, flipping),
    *(outside_the_set, inside_the_set, least_probable, one_class, regimes, as_said),
)


# Probabilities and predictions ---------------------------------------------------------------------------------------


def drawn(rng, c):
    return rng.dirichlet(np.full(c, 0.4))


def all_equal(rng, c):
    return np.full(c, 1 / c)


def certain(rng, c):
    return np.eye(c)[rng.integers(c)]


def always_the_same(rng, c):
    return np.r_[0.9, np.full(c - 1, 0.1 / max(c - 1, 1))] if c > 1 else np.ones(1)


def extreme(rng, c):
    h = 10.0 ** rng.uniform(-300, 0, c)
    return h / h.sum()


def all_zero(rng, c):
    """What no classifier should return, but `Guarded` may be given."""
    return np.zeros(c)


PROBABILITIES = (drawn, all_equal, certain, always_the_same, extreme, all_zero)


@dataclass
class History:
    """What happened, in the order in which labels arrived."""

    predicted: list
    labels: list
    decisions: list
    missed: list
    is_new: list
    """Whether the class was not known when the set was made."""
    most_answered_waiting: int = 0
    most_waiting: int = 0

    def count(self, waiting):
        """Note how many rows wait, and how many of them were answered, at the level with the most."""
        answered = sum((said.decisions[0] == ANSWERED).astype(int) for said, _ in waiting)
        self.most_waiting = max(self.most_waiting, len(waiting))
        self.most_answered_waiting = max(self.most_answered_waiting, answered.max())

    def add(self, said, label):
        c = said.class_probabilities.shape[1]
        self.predicted.append(said.predicted[0])
        self.labels.append(label)
        self.decisions.append(said.decisions[0].copy())
        self.missed.append(~said.sets[0, :, label] if label < c else np.ones(said.sets.shape[1], bool))
        self.is_new.append(label >= c)


def play(guarantees, phases, rng, *, n_classes=3, delay=0, never=0.0, joins=0.0):
    """Let adversaries choose labels, each for a number of rows; return the part and the history.

    With a delay, up to so many rows wait; their labels come in random order, or never with probability `never`.
    With probability `joins`, a label is that of a new class.
    """
    rows, history, waiting, t = RowGuarantees(guarantees), History([], [], [], [], []), [], 0
    add_classes(rows, n_classes)

    def learn_one():
        learned, label = waiting.pop(rng.integers(len(waiting)))
        rows.learn_rows(learned, np.array([label]))
        history.add(learned, label)

    for choose, make, n in phases:
        for _ in range(n):
            h = make(rng, rows.n_classes)
            k = rng.integers(rows.n_classes) if rng.random() < 0.05 else h.argmax()
            said = rows.state_rows(h[None], np.array([k]))
            label = int(choose(said, rng, t))
            if rng.random() < joins:
                label = rows.n_classes
                add_classes(rows, 1)
            t += 1
            if rng.random() >= never:
                waiting.append((said, label))
                history.count(waiting)
            for _ in range(len(waiting) if rng.random() < 0.02 else len(waiting) - delay):
                learn_one()
    while waiting:
        learn_one()
    return rows, history


def add_classes(rows, n):
    rows.add_classes(n)
    rows.name_classes(np.arange(rows.n_classes))


# Limits --------------------------------------------------------------------------------------------------------------


def largest_rise(changes):
    """Return the largest sum over any stretch, and over any stretch from the start."""
    sums = np.r_[0.0, np.cumsum(changes)]
    return (sums - np.minimum.accumulate(sums)).max(), sums.max()


def answer_excesses(history, e, level, chosen):
    """Return the largest w - ε (n + k) over any stretch, and from the start."""
    decisions = np.array(history.decisions)[chosen, e]
    wrong = (np.array(history.predicted) != np.array(history.labels))[chosen]
    return largest_rise((decisions == ANSWERED) * (wrong - level) - (decisions == ON_TRIAL) * level)


def set_excesses(history, s, alpha, chosen):
    """Return the largest m - αn - f and αn - m - f, each over any stretch and from the start."""
    missed, new = np.array(history.missed)[chosen, s], np.array(history.is_new)[chosen]
    return largest_rise(missed - alpha - new), largest_rise(alpha - missed - new)


def check_limits(guarantees: Guarantees, history: History, n_classes: int) -> None:
    """Assert all that `RowGuarantees` promises, with what late labels add."""
    everything = np.ones(len(history.labels), bool)
    predicted, labels = np.array(history.predicted), np.array(history.labels)
    late = max(history.most_answered_waiting - 1, 0)
    for e, level in enumerate(guarantees.errors):
        by_class = isinstance(level, dict)
        groups = [(predicted == k, level.get(k, min(level.values()))) for k in range(n_classes)] if by_class else []
        for chosen, share in groups or [(everything, level)]:
            anywhere, from_start = answer_excesses(history, e, share, chosen)
            assert anywhere <= 2 * LIMIT + 1 + late + 1e-6
            assert from_start <= LIMIT + 1 + FIRST_CREDIT + late + 1e-6
    late = max(history.most_waiting - 1, 0)
    for s, coverage in enumerate(guarantees.coverages):
        for chosen in [labels == k for k in range(n_classes)] if guarantees.per_class else [everything]:
            over, under = set_excesses(history, s, 1 - coverage, chosen)
            for (anywhere, from_start), applies in ((over, True), (under, guarantees.allows_empty)):
                assert not applies or anywhere <= 2 * LIMIT + 2 + late + 1e-6
                assert not applies or from_start <= LIMIT + 1 + late + 1e-6
