"""Classifiers of River."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftline.adapters.base import ForeignClassifier, RowLearner, positions, resembling
from driftline.errors import ConfigError, DataError, MissingExtraError
from driftline.types import Matrix


class RiverClassifier(ForeignClassifier):
    """A classifier of River behind scikit-learn's interface, for our evaluation and beside our classifiers.

    It takes rows in order, one at a time. River sees dictionaries of numbers by name of column (x0, x1, … if there
    are no names), without those that are missing, and labels as they are; those of its models that know only False and
    True work with any two labels.

    Parameters
    ----------
    model : river.base.Classifier
        The classifier, or a pipeline that ends with one. It is cloned at first use, and stays as it is.
    nominal : sequence of str or int, default=()
        Columns, by name or position, whose numbers are codes without order: River gets them as text.

    Attributes
    ----------
    model_ : river.base.Classifier
        The River model that learned.
    classes_ : ndarray
        The classes, in the order in which they were announced or came.
    n_features_in_ : int
        Number of columns of the instances.
    n_steps_ : int
        Number of labelled instances learned from.
    n_missing_ : int
        Number of missing values, which River was not told of.

    Notes
    -----
    River's trees sort the names of columns and the labels, so both decide between ties and what a seed draws. With
    nominal columns they also depend on the order of sets of text: set PYTHONHASHSEED for runs that repeat exactly.

    Examples
    --------
    >>> from driftline.adapters import RiverClassifier
    >>> from driftline.streams import RotatingGaussians
    >>> from river.naive_bayes import GaussianNB
    >>> X, y = RotatingGaussians().sample(400, seed=0)
    >>> model = RiverClassifier(GaussianNB())
    >>> bool((model.prequential(X, y).predictions == y).mean() > 0.5)
    True
    """

    def __init__(self, model: Any, nominal: Sequence[str | int] = ()) -> None:
        self.model = model
        self.nominal = nominal

    def _checked_parameters(self) -> dict[str, Any]:
        lacks = [name for name in ("learn_one", "predict_one", "clone", "_multiclass") if not hasattr(self.model, name)]
        if isinstance(self.model, type) or lacks:
            raise ConfigError(f"model must be a classifier of River, such as GaussianNB(); got {self.model!r}")
        if isinstance(self.nominal, str):
            raise ConfigError(f"nominal must be a sequence of names or positions; got the word {self.nominal!r}")
        return {"model": self.model, "nominal": list(self.nominal)}

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> RowLearner:
        nominal = [self._columns[j] for j in positions(self._columns, parameters["nominal"])]
        return RowLearner(RiverModel(parameters["model"].clone(), self._columns, nominal))


class RiverModel:
    """A model of River: see `ForeignModel`."""

    def __init__(self, model: Any, columns: list[str], nominal: list[str]) -> None:
        self.trained = model
        self.name = f"River's {model}"
        self._columns = columns
        self._nominal = nominal
        self.classes: list[Any] = []
        self._is_multiclass = bool(model._multiclass)
        self._has_probabilities = True
        self._follows_them = _follows_probabilities(model)

    def check_room(self) -> None:
        """Refuse a third class, if the model knows two only."""
        if len(self.classes) == 2 and not self._is_multiclass:
            raise DataError(
                f"{self.name} knows two classes only, and there is a third; wrap it in "
                "river.multiclass.OneVsRestClassifier"
            )

    def instance(self, row: list[float]) -> dict[str, float | str]:
        """Return a row by the names of its columns, without what is missing."""
        # A value that is missing does not equal itself.
        x: dict[str, Any] = {
            name: value
            for name, value in zip(self._columns, row, strict=True)
            if value == value  # noqa: PLR0124
        }
        for name in self._nominal:
            if name in x:
                x[name] = str(x[name])
        return x

    def ask(self, instance: dict[str, float | str]) -> tuple[int, list[float] | None]:
        """Return the class predicted, -1 if there is none, and what each is given, if that is known."""
        shares: dict[Any, float] = {}
        if self._has_probabilities:
            try:
                shares = self.trained.predict_proba_one(instance)
            except NotImplementedError:
                self._has_probabilities = self._follows_them = False
        if self._follows_them:
            prediction = max(shares, key=shares.__getitem__, default=None)
        else:
            prediction = self.trained.predict_one(instance)
        known = self._names()
        given = [shares.get(name, 0.0) for name in known]
        # Nothing is predicted at first, and one of two classes perhaps before it is known.
        place = known.index(prediction) if prediction in known else given.index(max(given))
        return place, given if self._has_probabilities else None

    def learn(self, instance: dict[str, float | str], label: int) -> None:
        """Learn the label of an instance."""
        self.trained.learn_one(instance, self._names()[label])

    def _names(self) -> Sequence[Any]:
        """Return what the model calls the classes: some know False and True only, which are 0 and 1."""
        return self.classes if self._is_multiclass else range(len(self.classes))


def _follows_probabilities(model: Any) -> bool:
    """Return whether a model predicts what is most probable, so that it need be asked only once."""
    river = _river()
    while isinstance(model, river.compose.Pipeline):
        model = list(model.steps.values())[-1]
    return getattr(type(model), "predict_one", None) is river.base.Classifier.predict_one


def constructor(kind: str) -> Callable[..., RiverClassifier]:
    """Return what makes a River classifier of some kind; its parameters are River's, `random_state` is the seed.

    Parameters
    ----------
    kind : {"arf", "srp", "hat", "lb", "lr"}
        Adaptive random forest, streaming random patches, Hoeffding adaptive tree, leveraging bagging of Hoeffding
        trees, logistic regression on standardised columns.

    Returns
    -------
    callable
        What makes it.
    """
    river = _river()
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

    return resembling(make, model, seed="seed", extra=RiverClassifier)


def _river() -> Any:
    """Import River, and what is used of it."""
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
