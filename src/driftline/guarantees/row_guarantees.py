"""Confidences, decisions and sets, which the labels that arrive keep at their levels."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema, probabilities
from driftline.core.state import copy_with
from driftline.guarantees.settings import Guarantees
from driftline.guarantees.statement_arrays import blank_statements
from driftline.kernels.confidence import (
    MAX_LOG_FACTOR,
    MIN_LOG_FACTOR,
    N_BINS,
    N_COLUMNS,
    N_FEATURES,
    STRETCH_ROWS,
    ConfidenceState,
)
from driftline.kernels.statements import (
    AnswerState,
    RowStatements,
    SetState,
    TrackedState,
    learn_at_once,
    learn_rows,
    state_rows,
    state_then_learn,
    unpacked,
)
from driftline.kernels.thresholds import (
    ALL_LABELS,
    FIRST_DEBT,
    LIMIT,
    MAX_WEIGHT,
    N_CONFIDENCE_BINS,
    N_SCORE_BINS,
    NO_LABEL,
    NO_ROW,
    TRIAL,
)
from driftline.types import Indices, LabelArray, Labels, Matrix, State, Vector

FIRST_ERROR = 0.3
"""The error assumed before the first label."""
MAX_WEIGHTED = 1e15
"""Largest sum of weights of rows: of `MAX_WEIGHT` each, no more than 50,000 count."""
MAX_ROWS = 2.0**40
"""Most rows that a file counts for one class: so few that sums over classes, and rows to come, can be counted too."""
MAX_DEBT = 1e7
"""No debt becomes so large: it exceeds `LIMIT` by mistakes of rows that waited, and of classes not known, alone."""
FIRST_WEIGHTS = (0.0, 1.0, 0.0, 0.0, 0.0)
"""At first, the classifier's own probability is the confidence."""
NEW_ANSWERS = {
    "answers_seen": 0.0,
    "answers_rows": 0.0,
    "answers_debts": FIRST_DEBT,
    "answers_thresholds": NO_ROW,
    "answers_counts": 0.0,
}
"""What the arrays begin with for a new class, if levels differ between predicted classes."""
NEW_SETS = {"sets_rows": 0.0, "sets_debts": 0.0, "sets_thresholds": ALL_LABELS, "sets_counts": 0.0}
"""What the arrays begin with for a new class, if each class has its own coverage."""


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """What became of the decisions at one level.

    Attributes
    ----------
    n_answered, n_wrong : int
        Rows answered whose label is known, and how many of them were wrong.
    n_tried : int
        Rows on trial: handed over because of too many recent mistakes, while their labels tell when to answer again.
    """

    n_answered: int
    n_wrong: int
    n_tried: int


@dataclass(frozen=True, slots=True)
class SetCounts:
    """What became of the sets at one level.

    Attributes
    ----------
    n_rows, n_missed : int
        Rows whose label is known, and those whose label was not in the set.
    n_labels : int
        Labels in all these sets together.
    """

    n_rows: int
    n_missed: int
    n_labels: int


class RowGuarantees:
    r"""Says of each row how confident the prediction is, whether to answer, and which labels can be right.

    Labels and predictions are positions of classes. What is said of a row depends on labels that arrived before. All
    levels use the same confidence: a logistic regression on the classifier's probabilities and on recent mistakes,
    updated by each label.

    Parameters
    ----------
    guarantees : Guarantees
        The levels.

    Notes
    -----
    **Decisions.** For each level ε, or for each predicted label if the level differs between labels, there is a debt
    D, at first -5. A row is answered only if D < L, with L = 20. The label of an answered row changes D by +(1 - ε) if
    it was wrong and -ε if not; the label of a row on trial does the same, except that it does not raise D above L + 1.
    D is never less than -L. So over any part of the stream, an answered row raises D by at least (wrong - ε), and a row
    on trial by at least -ε. With n rows answered, w of them wrong, and k rows on trial,

        w ≤ ε (n + k) + 2L + 1 in any part of the stream, and w ≤ ε (n + k) + L + 6 from the start on,

    on any stream, also on one that reacts to the decisions. Rows are on trial only while debt keeps all rows from being
    answered; k is counted. No rule that always comes back can do without them: if all rows that are handed over are
    predicted rightly and the first one that is answered again is wrong, every answer is wrong.

    **Sets.** For each share α of missed labels there is a debt D, changed by +(1 - α) if a label was not in its set
    and -α if it was. With D ≥ L, sets hold all known classes; with D ≤ -L, none. So in any part of the stream with n
    labels (of the class, if each class has its own coverage), of which m were missed and f were of a class that was not
    known when the set was made,

        α n - (2L + 2 + f) ≤ m ≤ α n + (2L + 2 + f), and from the start on the same with L + 1 + f

    on any stream. If empty sets are not allowed, which is the default, only the upper limit of m is true.

    **Late labels.** If at most d rows that were answered (for sets: any rows) wait for their labels at any time, all
    four limits grow by d: so much can happen before D shows it. All of it is paid for: to answer again takes at least
    1/ε rows on trial for each mistake beyond L. Rows whose labels never arrive are in none of the numbers.

    **Bounds of rows.** Rows belong to one of five bins of confidence. In the stretches of 500 rows of a bin that
    follow each other, mistakes exceed the sum of the bounds in at most a share 0.05 plus a constant number of
    stretches, by the same argument as for ``driftline.core.calibration.CalibratedBound``.

    That confidences are calibrated, and that many rows are answered and sets are small, is measured and not proved.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1.0, 5000)  # a classifier for two classes that always predicts class 0, rightly so often
    >>> labels = (rng.random(5000) > p).astype(int)
    >>> rows = RowGuarantees(Guarantees(errors=0.1, coverages=0.9))
    >>> rows.add_classes(2)
    >>> said = rows.state_then_learn(np.column_stack([p, 1 - p]), np.zeros(5000, int), labels)
    >>> answered = said.decisions[:, 0] == 1
    >>> bool(0.3 < answered.mean() < 0.5), bool(labels[answered].mean() < 0.11)
    (True, True)
    """

    def __init__(self, guarantees: Guarantees) -> None:
        self.guarantees = guarantees
        by_class = np.array([float(isinstance(level, dict)) for level in guarantees.errors])
        strictest = [min(level.values()) if isinstance(level, dict) else level for level in guarantees.errors]
        n_errors, n_sets, n_groups = len(strictest), len(guarantees.coverages), 0 if guarantees.per_class else 1
        self._sizes = np.array([n_errors, 1, n_sets, n_groups, 0])
        self._sizes_of_class = np.array([0, int(by_class.any()), 0, 1 - n_groups, 1])
        """How much each class adds to the sizes."""
        confidence = ConfidenceState(
            weights=np.array(FIRST_WEIGHTS),
            covariance=np.eye(N_FEATURES),
            recent_errors=np.full(2, FIRST_ERROR),
            bins=np.zeros((N_BINS, N_COLUMNS)),
        )
        answers = AnswerState(
            levels=np.array(strictest)[:, None],
            by_class=by_class,
            seen=np.zeros(1),
            rows=np.zeros((2, 1, N_CONFIDENCE_BINS)),
            debts=np.full((n_errors, 1), FIRST_DEBT),
            thresholds=np.full((n_errors, 1), NO_ROW),
            counts=np.zeros((n_errors, 1, 3)),
        )
        sets = SetState(
            levels=1.0 - np.array(guarantees.coverages),
            allows_empty=np.array([float(guarantees.allows_empty)]),
            class_shares=np.zeros(0),
            rows=np.zeros((n_groups, N_SCORE_BINS)),
            debts=np.zeros((n_sets, n_groups)),
            thresholds=np.full((n_sets, n_groups), ALL_LABELS),
            counts=np.zeros((n_sets, n_groups, 3)),
        )
        self._buffer = _packed(_by_name(TrackedState(np.ones(1), confidence, answers, sets)))

    @property
    def parts(self) -> TrackedState:
        """All that is kept; the arrays are parts of one buffer."""
        return unpacked(self._buffer, self._sizes)

    @property
    def arrays(self) -> tuple[Vector, Indices]:
        """The buffer with all that is kept, and the sizes of its parts."""
        return self._buffer, self._sizes

    @property
    def n_classes(self) -> int:
        """Number of classes known."""
        return int(self._sizes[-1])

    def copy(self) -> "RowGuarantees":
        """Return an independent copy."""
        return copy_with(self, _buffer=self._buffer.copy())

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions; at first each predicted label has the smallest share of its level."""
        arrays: dict[str, Any] = dict(self.state())
        c = self.n_classes
        arrays["sets_class_shares"] = np.append(arrays["sets_class_shares"] * c, np.ones(n)) / (c + n)
        if self.guarantees.per_class:
            for name, value in NEW_SETS.items():
                arrays[name] = _grown(arrays[name], n, 0 if name == "sets_rows" else 1, value)
        if arrays["answers_by_class"].any():
            for name, value in NEW_ANSWERS.items():
                arrays[name] = _grown(arrays[name], n, 0 if name == "answers_seen" else 1, value)
            levels = arrays["answers_levels"]
            arrays["answers_levels"] = np.append(levels, np.repeat(levels[:, :1], n, axis=1), axis=1)
        self._buffer, self._sizes = _packed(arrays), self._sizes + n * self._sizes_of_class

    def name_classes(self, labels: LabelArray) -> None:
        """Set the allowed shares of wrong answers for each predicted label, where they differ between labels."""
        n_named = int(self._sizes[1]) - 1
        if n_named:
            self.parts.answers.levels[:, 1:] = np.array(self.guarantees.levels_of(labels))[:, :n_named]

    def state_rows(self, h: Matrix, predicted: Labels) -> RowStatements:
        """Return what is said of rows now, by their probabilities and predictions; changes nothing."""
        said = self._blank(h, predicted)
        state_rows(h, self._buffer, self._sizes, *said)
        return said

    def learn_rows(self, said: RowStatements, labels: Labels) -> None:
        """Learn the labels of rows, with what was said of them."""
        learn_rows(labels, self._buffer, self._sizes, *said)

    def state_then_learn(self, h: Matrix, predicted: Labels, labels: Labels) -> RowStatements:
        """Say something of each row, then learn its label, row by row; return what was said."""
        said = self._blank(h, predicted)
        state_then_learn(h, labels, self._buffer, self._sizes, *said)
        return said

    def learn_at_once(self, h: Matrix, predicted: Labels, labels: Labels) -> None:
        """Learn the label of each row as `state_then_learn` does, where nobody needs what is said of the rows."""
        learn_at_once(h, predicted, labels, self._buffer, self._sizes)

    def answer_counts(self, position: int = 0, predicted: int | None = None) -> AnswerCounts:
        """Return what became of the decisions at a level, in all; or for one predicted class, if its level has that."""
        counts = self.parts.answers.counts[position]
        chosen = counts.sum(axis=0) if predicted is None else counts[1 + predicted]
        return AnswerCounts(*chosen.astype(np.int64).tolist())

    def set_counts(self, position: int = 0, label: int | None = None) -> SetCounts:
        """Return what became of the sets at a level, in all; or for one class, if each has its own coverage."""
        counts = self.parts.sets.counts[position]
        chosen = counts.sum(axis=0) if label is None else counts[label]
        return SetCounts(*chosen.astype(np.int64).tolist())

    def _blank(self, h: Matrix, predicted: Labels) -> RowStatements:
        return blank_statements(len(h), h.shape[1], self.guarantees)._replace(predicted=predicted)

    # State --------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return _by_name(self.parts)

    def schema(self) -> Schema:
        """Return what each array must be in a file, for the classes that there are now."""
        _, _, answers, sets = self.parts
        bins_low = np.array([0.0, 0.0, MIN_LOG_FACTOR, 0.0, 0.0, 0.0])
        bins_high = np.array([MOST_COUNTED, 1.0, MAX_LOG_FACTOR, *[float(STRETCH_ROWS)] * 3])
        specs = {
            "weight": ArraySpec((1,), low=1.0, high=2.0 * MAX_WEIGHT),
            "confidence_weights": ArraySpec((N_FEATURES,), low=-1e3, high=1e3),
            "confidence_covariance": ArraySpec(
                (N_FEATURES, N_FEATURES), low=-1.1, high=1.1, condition=_is_covariance, meaning="are a covariance"
            ),
            "confidence_recent_errors": ArraySpec((2,), low=0.0, high=1.0),
            "confidence_bins": ArraySpec((N_BINS, N_COLUMNS), low=bins_low, high=bins_high),
            "answers_levels": ArraySpec(answers.levels.shape, low=answers.levels[:, :1], high=self._most_allowed()),
            "answers_by_class": ArraySpec(answers.by_class.shape, equals=answers.by_class),
            "answers_seen": ArraySpec(answers.seen.shape, low=0.0, high=MOST_COUNTED),
            "answers_rows": ArraySpec(answers.rows.shape, low=0.0, high=MAX_WEIGHTED),
            "answers_debts": ArraySpec(answers.debts.shape, low=-LIMIT, high=MAX_DEBT),
            "answers_thresholds": ArraySpec(answers.thresholds.shape, low=0.0, high=TRIAL + NO_ROW),
            "answers_counts": _counts(answers.counts.shape),
            "sets_levels": ArraySpec(sets.levels.shape, equals=sets.levels),
            "sets_allows_empty": ArraySpec((1,), equals=sets.allows_empty),
            "sets_class_shares": probabilities(sets.class_shares.shape),
            "sets_rows": ArraySpec(sets.rows.shape, low=0.0, high=MAX_WEIGHTED),
            "sets_debts": ArraySpec(sets.debts.shape, low=-MAX_DEBT, high=MAX_DEBT),
            "sets_thresholds": ArraySpec(sets.thresholds.shape, low=ALL_LABELS, high=NO_LABEL),
            "sets_counts": _counts(sets.counts.shape),
        }
        return {name: replace(spec, since=3) for name, spec in specs.items()}

    def _most_allowed(self) -> Matrix:
        """Return the largest share of wrong answers that each level allows: in all, and for any predicted label."""
        levels = self.parts.answers.levels
        largest = [max(level.values()) if isinstance(level, dict) else level for level in self.guarantees.errors]
        return np.where(np.arange(levels.shape[1]) == 0, levels[:, :1], np.array(largest)[:, None])

    def restore(self, state: State) -> None:
        """Continue from what `state` returned; a file of an earlier version has none of it, and nothing is known."""
        if state:
            self._buffer = _packed({name: state[name] for name in self.state()})
        self._sizes = self._sizes.copy()  # from a memory-mapped pickle, for which kernels would be compiled again


def _by_name(parts: TrackedState) -> State:
    """Return all arrays by name, in the order in which they are in the buffer."""
    nested: dict[str, Any] = {"confidence": parts.confidence, "answers": parts.answers, "sets": parts.sets}
    arrays = {f"{name}_{field}": array for name, part in nested.items() for field, array in part._asdict().items()}
    return {"weight": parts.weight} | arrays


def _packed(arrays: State) -> Vector:
    """Return arrays, in the order of `_by_name`, as one buffer."""
    return np.concatenate([array.ravel() for array in arrays.values()]).astype(np.float64)


def _grown(array: Any, n: int, axis: int, value: float) -> Any:
    """Return an array with n more entries along an axis."""
    shape = list(array.shape)
    shape[axis] = n
    return np.append(array, np.full(shape, value), axis=axis)


def _counts(shape: tuple[int, ...]) -> ArraySpec:
    """Return the description of counts: rows, mistakes among them, and others."""

    def are_possible(array: Any) -> bool:
        return bool(np.all(array == np.floor(array)) and np.all(array[..., 1] <= array[..., 0]))

    meaning = "are whole numbers, with at most as many mistakes as rows"
    return ArraySpec(shape, low=0.0, high=MAX_ROWS, condition=are_possible, meaning=meaning)


def _is_covariance(array: Any) -> bool:
    """Return whether a matrix can be the covariance of the weights: symmetric, and no variance negative."""
    return bool(np.allclose(array, array.T) and np.linalg.eigvalsh(array).min() >= -1e-6)
