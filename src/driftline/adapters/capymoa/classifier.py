"""CapyMOA's classifiers, which run in Java, with driftline's interface."""

import inspect
import io
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from driftline.adapters.base import ForeignClassifier, RowLearner, column_positions, copy_signature
from driftline.errors import CheckpointError, ConfigError, DataError, MissingExtraError
from driftline.types import LabelArray, Matrix, Vector
from driftline.utils.suggestions import close_names, did_you_mean
from driftline.utils.validation import whole_number

OWN_PARAMETERS = ("schema", "random_seed")
"""Parameters of a learner that are set here: from the columns and classes, and from `random_state`."""


class CapyMOAClassifier(ForeignClassifier):
    """A CapyMOA classifier with scikit-learn's interface, for `driftline.evaluation.evaluate` and for comparisons.

    Rows are passed to CapyMOA in order, one at a time, with NaN for missing values. All classes must be announced at
    the first call, as the evaluation does: `partial_fit(X, y, classes=…)`.

    Parameters
    ----------
    learner : str or type
        The name of a class in ``capymoa.classifier``, or a class with the same interface.
    options : mapping, optional
        Parameters of the learner, without `schema` and `random_seed`.
    nominal : mapping, optional
        Columns, by name or position, whose numbers are codes without order, each with all values that may occur.
    random_state : int, default=0
        The seed.

    Attributes
    ----------
    model_ : capymoa.base.Classifier
        The fitted CapyMOA learner.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of columns of the instances.
    n_steps_ : int
        Number of labelled instances learned from.
    n_missing_ : int
        Number of missing values.

    Examples
    --------
    >>> from driftline.adapters import CapyMOAClassifier
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(400, seed=0)
    >>> model = CapyMOAClassifier("AdaptiveRandomForestClassifier", {"ensemble_size": 5})
    >>> bool((model.prequential(X, y, classes=[0, 1]).predicted == y).mean() > 0.5)
    True
    """

    needs_classes = True
    """Whether the evaluation has to announce all classes at the first call."""

    def __init__(
        self,
        learner: str | type,
        options: Mapping[str, Any] | None = None,
        nominal: Mapping[str | int, Sequence[float]] | None = None,
        random_state: int = 0,
    ) -> None:
        self.learner = learner
        self.options = options
        self.nominal = nominal
        self.random_state = random_state

    def _checked_parameters(self) -> dict[str, Any]:
        for name in ("options", "nominal"):
            if not isinstance(getattr(self, name), Mapping | None):
                raise ConfigError(f"{name} must be a mapping, or None; got {getattr(self, name)!r}")
        for column, values in (self.nominal or {}).items():
            if not isinstance(values, Iterable) or not all(isinstance(value, Real) for value in values):
                raise ConfigError(f"nominal must list the numbers that column {column!r} may contain; got {values!r}")
        whole_number("random_state", self.random_state, at_least=0)
        known = _options_of(_learner_class(self.learner))
        unknown = sorted(set(self.options or {}) - set(known))
        if unknown:
            raise ConfigError(
                f"options has {', '.join(unknown)}; the parameters of {self.learner} are {', '.join(known)}"
            )
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        if expected.size == 0:
            raise ConfigError("CapyMOA's classifiers must know all classes at the first call; pass classes=[…]")
        super()._start(X, rows, expected)

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> RowLearner:
        nominal = dict(parameters["nominal"] or {})
        positions = column_positions(self._columns, nominal)
        values = dict(zip(positions, ([float(v) for v in each] for each in nominal.values()), strict=True))
        kind = _learner_class(parameters["learner"])
        return RowLearner(
            CapyMOAModel(kind, parameters["options"] or {}, int(parameters["random_state"]), self._columns, values)
        )


class CapyMOAModel:
    """A CapyMOA learner with the methods of `ForeignModel`; it is created at the first row, when classes are known."""

    def __init__(
        self,
        kind: type,
        options: Mapping[str, Any],
        seed: int,
        columns: list[str],
        nominal: dict[int, list[float]],
    ) -> None:
        self.name = f"CapyMOA's {kind.__name__}"
        self.trained: Any = None
        self._schema: Any = None
        self._kind = kind
        self._options = dict(options)
        self._seed = seed
        self._columns = columns
        self._values = nominal
        self._codes = {j: {value: i for i, value in enumerate(values)} for j, values in nominal.items()}
        self.classes: list[Any] = []

    def check_can_add_class(self) -> None:
        """Raise a DataError if the learner has been created."""
        if self.trained is not None:
            raise DataError(
                f"{self.name} was created for the {len(self.classes)} classes announced at the first call, and another "
                "class occurred; announce all classes"
            )

    def to_instance(self, row: list[float]) -> Vector:
        """Return a row with nominal values replaced by their positions in the list of values."""
        for j, codes in self._codes.items():
            if row[j] in codes:
                row[j] = codes[row[j]]
            elif not np.isnan(row[j]):
                raise DataError(
                    f"column {self._columns[j]} contains {row[j]}, which is not among the {len(codes)} values that "
                    "nominal lists for it; list all values that may occur"
                )
        return np.array(row)

    def predict(self, instance: Vector) -> tuple[int, list[float] | None]:
        """Return the predicted class position (-1 for none), and the weight of each class."""
        if self.trained is None:
            return -1, [0.0] * len(self.classes)
        probabilities = self.trained.predict_proba(import_capymoa().core.Instance.from_array(self._schema, instance))
        if probabilities is None:
            return -1, [0.0] * len(self.classes)
        return int(np.argmax(probabilities)), probabilities.tolist()

    def learn(self, instance: Vector, label: int) -> None:
        """Learn the label of an instance."""
        if self.trained is None:
            self._create()
        self.trained.train(import_capymoa().core.LabeledInstance.from_array(self._schema, instance, label))

    def _create(self) -> None:
        """Create the learner, with a schema of the columns and classes."""
        target = "class"
        while target in self._columns:
            target += "_"
        categories = {self._columns[j]: [str(value) for value in values] for j, values in self._values.items()}
        categories[target] = [str(j) for j in range(len(self.classes))]
        self._schema = import_capymoa().stream.Schema.from_custom([*self._columns, target], target, categories)
        try:
            self.trained = self._kind(schema=self._schema, random_seed=self._seed, **self._options)
        except Exception as error:  # whatever Java raises
            raise ConfigError(f"{self.name} cannot be created with {self._options}: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle; CapyMOA serialises the Java objects."""
        file = io.BytesIO()
        try:
            import_capymoa().core.io.save_model((self._schema, self.trained), file)
        except Exception as error:  # whatever Java raises
            raise CheckpointError(
                f"{self.name} cannot be copied or saved, because Java cannot serialise it ({error}); "
                "evaluate it without a checkpoint"
            ) from error
        return self.__dict__ | {"_schema": None, "trained": file.getvalue()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._schema, self.trained = import_capymoa().core.io.load_model(io.BytesIO(state["trained"]))


def constructor(learner: str) -> Callable[..., CapyMOAClassifier]:
    """Return a function that makes a CapyMOA classifier, with CapyMOA's parameters and `random_state` for the seed.

    Parameters
    ----------
    learner : str
        The name of a class in ``capymoa.classifier``.

    Returns
    -------
    callable
        The function, which returns a `CapyMOAClassifier`.
    """
    kind = _learner_class(learner)

    def make(*, nominal: Any = None, random_state: int = 0, **options: Any) -> CapyMOAClassifier:
        return CapyMOAClassifier(learner, options, nominal, random_state)

    return copy_signature(make, kind, seed="random_seed", without=("schema", "CLI", "options"), extra=CapyMOAClassifier)


def java_is_installed() -> bool:
    """Return whether there is a Java installation that CapyMOA would find."""
    return "JAVA_HOME" in os.environ or shutil.which("java") is not None


def _learner_class(learner: Any) -> type:
    """Return the class of a learner; raise a ConfigError if it is not one."""
    classifiers = vars(import_capymoa().classifier)
    kind = classifiers.get(learner) if isinstance(learner, str) else learner
    if isinstance(kind, type) and callable(getattr(kind, "train", None)):
        return kind
    hint = did_you_mean(close_names(str(learner), classifiers["__all__"]))
    raise ConfigError(f"learner must be a class in capymoa.classifier, or its name; got {learner!r}{hint}")


def _options_of(kind: type) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name not in OWN_PARAMETERS]


def import_capymoa() -> Any:
    """Import CapyMOA, which starts Java; raise a MissingExtraError if it or Java is not installed."""
    try:
        import capymoa.classifier  # noqa: PLC0415  # an extra may be missing
        import capymoa.core.io  # noqa: PLC0415
        import capymoa.stream  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"this needs CapyMOA ({error}); pip install 'driftline[capymoa]'") from error
    except Exception as error:  # CapyMOA or JPype does not find Java
        raise MissingExtraError(
            f"CapyMOA needs Java ({error}); install a Java runtime, or set JAVA_HOME to one"
        ) from error
    return capymoa
