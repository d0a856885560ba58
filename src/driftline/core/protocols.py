"""What an estimator needs of that which predicts and learns."""

from typing import Protocol, TypeVar

from driftline.core.bounds import MistakeLedger
from driftline.types import Labels, Matrix, Predicted, Said, State, Status, Vector

S_co = TypeVar("S_co", bound=Predicted, covariant=True)


class Learner(Protocol[S_co]):
    """What predicts and learns, on rows of numbers and class positions from 0."""

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

    def most_likely(self, X: Matrix) -> Labels:
        """Return the position of the label predicted for each raw row of X; changes nothing."""

    def foresee(self, X: Matrix, labels: Labels) -> S_co:
        """Return what is said of raw rows before their labels are used; changes nothing."""

    def advance(self, X: Matrix, labels: Labels, elapsed: Vector) -> S_co:
        """Predict each raw row, then learn its label; a label beyond the known classes, which comes alone, adds one."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class BoundedLearner(Learner[Said], Protocol):
    """A learner with a randomised rule, and a bound on its error."""

    ledger: MistakeLedger

    @property
    def model_bound(self) -> float:
        """R(U_t)."""

    @property
    def calibrated_bound(self) -> float:
        """The bound tuned by the labels that came."""

    @property
    def error_bound(self) -> float:
        """The one of the two that counts."""

    @property
    def status(self) -> Status:
        """Whether the latter lies in [0, 1 - 1/c]."""

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X; changes nothing."""
