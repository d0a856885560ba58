"""River's classifiers with driftline's interface."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftline.adapters.base import ForeignClassifier, RowLearner, column_positions, copy_signature
from driftline.errors import ConfigError, DataError, MissingExtraError
from driftline.types import Matrix


class RiverClassifier(ForeignClassifier):
    """A River classifier with scikit-learn's interface, for `driftline.evaluation.evaluate` and for comparisons.

    Rows are passed to River in order, one at a time: as dictionaries of numbers by column name (x0, x1, … if there
    are no names), without missing values. Labels are passed unchanged, except that binary River models, which know
    only False and True, work with any two labels.

    Parameters
    ----------
    model : river.base.Classifier
        The classifier, or a pipeline that ends with one. A clone of it is fitted.
    nominal : sequence of str or int, default=()
        Columns, by name or position, whose numbers are codes without order: they are passed to River as text.

    Attributes
    ----------
    model_ : river.base.Classifier
        The fitted River model.
    classes_ : ndarray
        The classes, in the order in which they were announced or first occurred.
    n_features_in_ : int
        Number of columns of the instances.
    n_steps_ : int
        Number of labelled instances learned from.
    n_missing_ : int
        Number of missing values, which were not passed to River.

    Notes
    -----
    River's trees sort column names and labels, so both influence ties and random draws. With nominal columns they also
    depend on the iteration order of sets of strings: set PYTHONHASHSEED for exactly repeatable runs.

    Examples
    --------
    >>> from driftline.adapters import RiverClassifier
    >>> from driftline.streams import RotatingGaussians
    >>> from river.naive_bayes import GaussianNB
    >>> X, y = RotatingGaussians().sample(400, seed=0)
    >>> model = RiverClassifier(GaussianNB())
    >>> bool((model.prequential(X, y).predicted == y).mean() > 0.5)
    True
    """

    def __init__(self, model: Any, nominal: Sequence[str | int] = ()) -> None:
        self.model = model
        self.nominal = nominal

    def _checked_parameters(self) -> dict[str, Any]:
        lacks = [name for name in ("learn_one", "predict_one", "clone", "_multiclass") if not hasattr(self.model, name)]
        if isinstance(self.model, type) or lacks:
            raise ConfigError(f"model must be a River classifier, such as GaussianNB(); got {self.model!r}")
        if isinstance(self.nominal, str):
            raise ConfigError(f"nominal must be a sequence of names or positions; got the text {self.nominal!r}")
        return {"model": self.model, "nominal": list(self.nominal)}

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> RowLearner:
        nominal = [self._columns[j] for j in column_positions(self._columns, parameters["nominal"])]
        return RowLearner(RiverModel(parameters["model"].clone(), self._columns, nominal))


class RiverModel:
    """A River model with the methods of `ForeignModel`."""

    def __init__(self, model: Any, columns: list[str], nominal: list[str]) -> None:
        self.trained = model
        self.name = f"River's {model}"
        self._columns = columns
        self._nominal = nominal
        self.classes: list[Any] = []
        self._is_multiclass = bool(model._multiclass)
        self._has_probabilities = True
        self._predicts_most_probable = _predicts_most_probable(model)

    def check_can_add_class(self) -> None:
        """Raise a DataError at a third class if the model is binary."""
        if len(self.classes) == 2 and not self._is_multiclass:
            raise DataError(
                f"{self.name} supports two classes only, and there is a third; wrap it in "
                "river.multiclass.OneVsRestClassifier"
            )

    def to_instance(self, row: list[float]) -> dict[str, float | str]:
        """Return a row as a dictionary by column name, without missing values."""
        # NaN does not equal itself.
        x: dict[str, Any] = {
            name: value
            for name, value in zip(self._columns, row, strict=True)
            if value == value  # noqa: PLR0124
        }
        for name in self._nominal:
            if name in x:
                x[name] = str(x[name])
        return x

    def predict(self, instance: dict[str, float | str]) -> tuple[int, list[float] | None]:
        """Return the predicted class position and the probabilities of all classes, None if the model has none."""
        by_label: dict[Any, float] = {}
        if self._has_probabilities:
            try:
                by_label = self.trained.predict_proba_one(instance)
            except NotImplementedError:
                self._has_probabilities = self._predicts_most_probable = False
        if self._predicts_most_probable:
            prediction = max(by_label, key=by_label.__getitem__, default=None)
        else:
            prediction = self.trained.predict_one(instance)
        labels = self._river_labels()
        probabilities = [by_label.get(label, 0.0) for label in labels]
        # At first River predicts None; a binary model may predict a class that has not occurred yet.
        position = labels.index(prediction) if prediction in labels else probabilities.index(max(probabilities))
        return position, probabilities if self._has_probabilities else None

    def learn(self, instance: dict[str, float | str], label: int) -> None:
        """Learn the label of an instance."""
        self.trained.learn_one(instance, self._river_labels()[label])

    def _river_labels(self) -> Sequence[Any]:
        """Return the labels that River uses: for a binary model 0 and 1, which equal False and True."""
        return self.classes if self._is_multiclass else range(len(self.classes))


def _predicts_most_probable(model: Any) -> bool:
    """Return whether `predict_one` returns the most probable label, so that calling it is unnecessary."""
    river = _import_river()
    while isinstance(model, river.compose.Pipeline):
        model = list(model.steps.values())[-1]
    return getattr(type(model), "predict_one", None) is river.base.Classifier.predict_one


def constructor(kind: str) -> Callable[..., RiverClassifier]:
    """Return a function that makes a River classifier; its parameters are River's, with `random_state` for the seed.

    Parameters
    ----------
    kind : {"arf", "srp", "hat", "lb", "lr"}
        Adaptive random forest, streaming random patches, Hoeffding adaptive tree, leveraging bagging of Hoeffding
        trees, or logistic regression on standardised columns.

    Returns
    -------
    callable
        The function, which returns a `RiverClassifier`.
    """
    river = _import_river()
    model = {
        "arf": river.forest.ARFClassifier,
        "srp": river.ensemble.SRPClassifier,
        "hat": river.tree.HoeffdingAdaptiveTreeClassifier,
        "lb": river.ensemble.LeveragingBaggingClassifier,
        "lr": river.linear_model.LogisticRegression,
    }[kind]

    def make(*, nominal: Sequence[str | int] = (), **parameters: Any) -> RiverClassifier:
        if "random_state" in parameters:
            parameters["seed"] = parameters.pop("random_state")
        if kind == "lb":
            parameters["model"] = river.tree.HoeffdingTreeClassifier()
        made = model(**parameters)
        if kind == "lr":
            made = river.preprocessing.StandardScaler() | river.multiclass.OneVsRestClassifier(made)
        return RiverClassifier(made, nominal)

    return copy_signature(make, model, seed="seed", extra=RiverClassifier)


def _import_river() -> Any:
    """Import River and the packages of it that are used here; raise a MissingExtraError if it is not installed."""
    try:
        import river.compose  # noqa: PLC0415  # an extra may be missing
        import river.ensemble  # noqa: PLC0415
        import river.forest  # noqa: PLC0415
        import river.linear_model  # noqa: PLC0415
        import river.multiclass  # noqa: PLC0415
        import river.preprocessing  # noqa: PLC0415
        import river.tree  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"River's classifiers need river ({error}); pip install 'driftline[river]'") from error
    return river
