"""The feature space of trees: members that learn from what two forests say about each row before its label."""

from driftline.core.schema import Schema, nested_schema
from driftline.core.state import copy_with, nested_state, state_of
from driftline.ensemble.forest import Forest
from driftline.ensemble.plan import SpacePlan
from driftline.ensemble.space import Space
from driftline.types import Matrix, Singles, State


class TreeSpace(Space):
    """A space whose features of a row are the class shares in the leaves of two forests; it is the last of an ensemble.

    The features of each row are computed by trees grown from earlier rows, and are stored as they were then. So the
    rows that a member learns from look no easier than rows to come, and its bound holds as for any other features.

    Parameters
    ----------
    plan : SpacePlan
        Its plan.
    forest : Forest
        The two forests. The kernel that learns rows with all spaces lets them learn, too.
    seed : list of int
        Seed of the draws of rows from the store.
    """

    def __init__(self, plan: SpacePlan, forest: Forest, seed: list[int]) -> None:
        self.forest = forest
        super().__init__(plan, None, forest.n_features, seed)

    def has_features_of(self, other: Space) -> bool:
        """Return whether another space has the same features: none has."""
        return False

    @property
    def has_custom_features(self) -> bool:
        """Whether the feature map is a custom one: it is not."""
        return False

    def snapshot(self) -> "TreeSpace":
        """Return a copy for predictions and bounds, which learning does not change; it cannot learn."""
        return copy_with(super().snapshot(), forest=self.forest.snapshot())  # type: ignore[return-value]

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions; their features are 0 in the rows so far."""
        d = self.forest.n_features
        self.forest.add_classes(n)
        self._add_features(d, self.forest.n_features - d)
        super().add_classes(n)

    def add_columns(self, n: int) -> None:
        """Add n columns, whose values are missing in the rows so far."""
        self.forest.add_columns(n)

    def represent(self, X: Matrix, Z: Matrix) -> Singles:
        """Return the features of raw rows X; changes nothing."""
        return self.forest.features(X)

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return super().state() | nested_state({"forest": self.forest})

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return super().schema() | nested_schema({"forest": self.forest.schema()})

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self.forest.restore(state_of("forest", state))
