"""What an estimator needs of its learner, the part that predicts and learns."""

from typing import Protocol

from driftline.core.bounds import MistakeBound
from driftline.types import Labels, Matrix, Predictions, State, Status, Vector


class Learner(Protocol):
    """Predicts and learns, on rows of numbers and on positions of classes from 0."""

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""

    @property
    def n_classes(self) -> int:
        """Number of classes known."""

    @property
    def n_missing(self) -> int:
        """Number of missing values met."""

    def add_class(self) -> None:
        """Make room for one more class."""

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the class predicted for each raw row of X; changes nothing."""

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return the predictions for raw rows, with their labels beside them; changes nothing."""

    def predict_then_learn(self, X: Matrix, labels: Labels, elapsed: Vector) -> Predictions:
        """Predict each raw row, then learn its label.

        A label beyond the known classes adds a class; it must be the only row of X. `elapsed` is the time since the row
        before.
        """

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class BoundedLearner(Learner, Protocol):
    """A learner with a randomised rule and a bound on its error."""

    mistake_bound: MistakeBound

    @property
    def model_bound(self) -> float:
        """R(U_t)."""

    @property
    def calibrated_bound(self) -> float:
        """The bound calibrated by the labels learned so far."""

    @property
    def error_bound(self) -> float:
        """The one of these two bounds that is reported."""

    @property
    def status(self) -> Status:
        """Whether `error_bound` lies in [0, 1 - 1/c]."""

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X; changes nothing."""
