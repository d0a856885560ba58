"""Interfaces of learners: the parts of estimators that predict and learn."""

from typing import Protocol, Self

from driftline.core.bounds import MistakeBound
from driftline.core.schema import Schema
from driftline.types import Labels, Matrix, Predictions, State, Status, Vector


class Learner(Protocol):
    """Predicts and learns; rows are numbers, and labels are positions of classes from 0."""

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""

    @property
    def n_classes(self) -> int:
        """Number of classes known."""

    @property
    def n_missing(self) -> int:
        """Number of missing values in the rows learned."""

    def snapshot(self) -> Self:
        """Return a copy for all that only reads, which learning does not change; it need not be able to learn."""

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the class predicted for each raw row of X; changes nothing."""

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return a record of the predictions for raw rows and of their labels; changes nothing."""

    def predict_then_learn(self, X: Matrix, labels: Labels, elapsed: Vector) -> Predictions:
        """Predict each raw row, then learn its label.

        A label equal to the number of known classes adds a class; its row must be the only one of X. `elapsed` is the
        time between the previous row and each row.
        """

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

    def schema(self) -> Schema:
        """Return what each of these arrays must be in a file, for the classes and columns that the learner has now."""


class BoundedLearner(Learner, Protocol):
    """A learner with a randomised rule and a bound on its error."""

    mistake_bound: MistakeBound

    @property
    def model_bound(self) -> float:
        """R(U_t), the worst-case error of the current rule over the uncertainty set."""

    @property
    def calibrated_bound(self) -> float:
        """The bound calibrated by the labels learned so far."""

    @property
    def error_bound(self) -> float:
        """The one of the two bounds above that the estimator reports."""

    @property
    def status(self) -> Status:
        """Whether `error_bound` lies in [0, 1 - 1/c]."""

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X; changes nothing."""
