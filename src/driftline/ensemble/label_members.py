"""The members of an ensemble that know the last labels."""

from typing import Any

import numpy as np

from driftline.core.schema import ArraySpec, Schema, whole_numbers
from driftline.core.state import independent_copy
from driftline.kernels.label_chain import (
    FIRST_BEHIND,
    FIRST_EXPONENTS,
    GAIN,
    MAX_BEHIND,
    MAX_EXPONENT,
    N_RULES,
    LabelState,
    choose_and_learn,
    count_label,
    label_rules,
    learn_late,
)
from driftline.types import Labels, Matrix, State, Vector

SPACE = "labels"
"""Name of the space of these members."""
GAINS = (GAIN, 1.0, 0.0)
"""How fast each member forgets: the combined rule, the last label, the most frequent label."""
WIDTH = 0.3
"""Width λ of their uncertainty sets, in standard errors."""
N_PENDING = N_RULES + 2
"""Vectors that are kept of a pending row: the probabilities of the four rules, and the last two labels."""
MOST_RECENT = 1.0 / GAIN + 1.0
"""No count that forgets becomes larger."""


class LabelMembers:
    """Chooses between the mixture of the other members and three rules that know the last labels.

    See `driftline.kernels.label_chain` for the rules. Each of them is a member: its bound is that of the uncertainty
    set of one expectation, that of the probability which it gives to the true label.
    """

    def __init__(self) -> None:
        self._state = LabelState(
            last=np.full(2, -1),
            transitions=np.zeros((3, 0, 0)),
            repeats=np.zeros(2),
            recent=np.zeros(0),
            counts=np.zeros(0, np.int64),
            exponents=np.array(FIRST_EXPONENTS),
            squares=np.ones(len(FIRST_EXPONENTS)),
            behind=np.array(FIRST_BEHIND),
            mistakes=np.zeros(2, np.int64),
            chosen=np.zeros(1, np.int64),
            accuracy=np.zeros((len(GAINS), 4)),
        )

    @property
    def weights(self) -> Vector:
        """Weights of the mixture of the other members, and of the three rules: 1 for that which is used, else 0."""
        weights: Vector = (np.arange(N_RULES) == self._state.chosen[0]).astype(np.float64)
        return weights

    @property
    def bounds(self) -> Vector:
        """The bound of each of the three rules on its own error, at most the error of guessing."""
        c = max(len(self._state.counts), 1)
        mass, squares, total, total_squares = self._state.accuracy.T
        mean = total / np.maximum(mass, 1.0)
        variance = np.maximum(total_squares / np.maximum(mass, 1.0) - mean**2, 0.0)
        error = WIDTH * np.sqrt(variance * squares) / np.maximum(mass, 1.0)
        bounds: Vector = np.clip(1.0 - mean + error, 0.0, 1.0 - 1.0 / c)
        return bounds

    def snapshot(self) -> "LabelMembers":
        """Return a copy that learning does not change."""
        return independent_copy(self)

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        state = self._state
        self._state = state._replace(
            transitions=np.pad(state.transitions, ((0, 0), (0, n), (0, n))),
            recent=np.pad(state.recent, (0, n)),
            counts=np.pad(state.counts, (0, n)),
        )

    def probabilities(self, h: Matrix) -> Matrix:
        """Return the probabilities that are used for rows, from those of the other members; changes nothing."""
        return self.used(label_rules(self._state, h))

    def used(self, rules: Vector) -> Matrix:
        """Return the probabilities of the rule that is used, from those of all rules, (rows, rules, classes)."""
        return np.ascontiguousarray(rules[:, self._state.chosen[0]])

    def choose_and_learn(self, h: Matrix, labels: Labels) -> None:
        """Replace each row of h by the probabilities that are used, and learn its label before the next row."""
        choose_and_learn(self._state, h, labels)

    # Late labels --------------------------------------------------------------------------------------

    def pending(self, h: Matrix) -> Vector:
        """Return what must be kept of rows until their labels arrive, (rows, `N_PENDING`, classes).

        These are the probabilities of the four rules, and the last two labels, as 1 at their class.
        """
        n, c = h.shape
        kept = np.zeros((n, N_PENDING, c))
        if c:
            kept[:, :N_RULES] = label_rules(self._state, h)
        for place, label in enumerate(self._state.last.tolist(), start=N_RULES):
            if label >= 0:
                kept[:, place, label] = 1.0
        return kept

    def learn_pending(self, kept: Matrix, label: int) -> None:
        """Learn the label of a row that was pending; `kept` is its part of what `pending` returned, with all classes.

        If no class was known when it was observed, or not that of its label, the label is only counted.
        """
        last, before = (int(np.argmax(row)) if row.any() else -1 for row in kept[N_RULES:])
        if kept[0].any() and label < kept.shape[1]:
            learn_late(self._state, kept[:N_RULES], last, before, label)
        else:
            count_label(self._state, last, before, label)

    def learn_new_class(self, label: int) -> None:
        """Count the first label of a class; the rules could not know it, so they are not compared."""
        last, before = self._state.last.tolist()
        count_label(self._state, last, before, label)

    # State --------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return self._state._asdict()

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        c = len(self._state.counts)
        return {
            "last": ArraySpec((2,), np.int64, -1, max(c - 1, 0)),
            "transitions": ArraySpec((3, c, c), low=0.0, high=MOST_RECENT),
            "repeats": ArraySpec((2,), low=0.0, high=MOST_RECENT, condition=_increases, meaning="do not decrease"),
            "recent": ArraySpec((c,), low=0.0, high=MOST_RECENT),
            "counts": whole_numbers((c,)),
            "exponents": ArraySpec((len(FIRST_EXPONENTS),), low=-MAX_EXPONENT, high=MAX_EXPONENT),
            "squares": ArraySpec((len(FIRST_EXPONENTS),), low=1.0),
            "behind": whole_numbers((N_RULES,), MAX_BEHIND),
            "mistakes": whole_numbers((2,)),
            "chosen": whole_numbers((1,), N_RULES - 1),
            "accuracy": ArraySpec((len(GAINS), 4), low=0.0, high=MOST_RECENT),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        arrays: dict[str, Any] = {name: np.array(array) for name, array in state.items()}
        self._state = LabelState(**arrays)


def n_bytes_of_labels(n_classes: int) -> int:
    """Return about how much memory the members take."""
    return 8 * (3 * n_classes**2 + 2 * n_classes)


def _increases(array: Any) -> bool:
    return bool(np.all(np.diff(array) >= 0.0))
