"""Classifiers of CapyMOA, which run in Java."""

import inspect
import io
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np

from driftline.adapters.base import ForeignClassifier, RowLearner, positions, resembling
from driftline.errors import CheckpointError, ConfigError, DataError, MissingExtraError
from driftline.types import LabelArray, Matrix, Vector
from driftline.utils.validation import whole_number

OURS = ("schema", "random_seed")
"""Parameters of a learner that come from the classes and columns, and from `random_state`."""


class CapyMOAClassifier(ForeignClassifier):
    """A classifier of CapyMOA behind scikit-learn's interface, for our evaluation and beside our classifiers.

    It takes rows in order, one at a time; NaN is a missing value there too. All classes must be announced at the first
    call, as the evaluation does: `partial_fit(X, y, classes=…)`.

    Parameters
    ----------
    learner : str or type
        The name of a class of ``capymoa.classifier``, or a class like those.
    options : mapping, optional
        Its parameters, but for `schema` and `random_seed`.
    nominal : mapping, optional
        For columns, by name or position, whose numbers are codes without order: all values that may come.
    random_state : int, default=0
        The seed.

    Attributes
    ----------
    model_ : capymoa.base.Classifier
        The learner of CapyMOA.
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
    >>> bool((model.prequential(X, y, classes=[0, 1]).predictions == y).mean() > 0.5)
    True
    """

    needs_classes = True
    """The evaluation announces them."""

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
                raise ConfigError(f"nominal must list the numbers that column {column!r} may hold; got {values!r}")
        whole_number("random_state", self.random_state, at_least=0)
        known = _options_of(_learner_class(self.learner))
        unknown = sorted(set(self.options or {}) - set(known))
        if unknown:
            raise ConfigError(f"options has {', '.join(unknown)}; {self.learner} knows {', '.join(known)}")
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        if expected.size == 0:
            raise ConfigError("CapyMOA's classifiers need to know all classes at the first call; pass classes=[…]")
        super()._start(X, rows, expected)

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> RowLearner:
        nominal = dict(parameters["nominal"] or {})
        places = positions(self._columns, nominal)
        values = dict(zip(places, ([float(v) for v in each] for each in nominal.values()), strict=True))
        kind = _learner_class(parameters["learner"])
        return RowLearner(
            CapyMOAModel(kind, parameters["options"] or {}, int(parameters["random_state"]), self._columns, values)
        )


class CapyMOAModel:
    """A learner of CapyMOA: see `ForeignModel`. It is made when it first learns, and the classes are known."""

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
        self._places = {j: {value: i for i, value in enumerate(values)} for j, values in nominal.items()}
        self.classes: list[Any] = []

    def check_room(self) -> None:
        """Refuse one more class, once the learner is made."""
        if self.trained is not None:
            raise DataError(
                f"{self.name} was made for the {len(self.classes)} classes announced at the first call, and another "
                "came; announce all of them"
            )

    def instance(self, row: list[float]) -> Vector:
        """Return a row with the places of nominal values for the values."""
        for j, places in self._places.items():
            if row[j] in places:
                row[j] = places[row[j]]
            elif not np.isnan(row[j]):
                raise DataError(
                    f"column {self._columns[j]} holds {row[j]}, which is not among the {len(places)} values that "
                    "nominal has for it; list all that may come"
                )
        return np.array(row)

    def ask(self, instance: Vector) -> tuple[int, list[float] | None]:
        """Return the class predicted, -1 if there is none, and what each class is given."""
        if self.trained is None:
            return -1, [0.0] * len(self.classes)
        said = self.trained.predict_proba(capymoa_library().core.Instance.from_array(self._schema, instance))
        if said is None:
            return -1, [0.0] * len(self.classes)
        return int(np.argmax(said)), said.tolist()

    def learn(self, instance: Vector, label: int) -> None:
        """Learn the label of an instance."""
        if self.trained is None:
            self._make()
        self.trained.train(capymoa_library().core.LabeledInstance.from_array(self._schema, instance, label))

    def _make(self) -> None:
        target = "class"
        while target in self._columns:
            target += "_"
        categories = {self._columns[j]: [str(value) for value in values] for j, values in self._values.items()}
        categories[target] = [str(j) for j in range(len(self.classes))]
        self._schema = capymoa_library().stream.Schema.from_custom([*self._columns, target], target, categories)
        try:
            self.trained = self._kind(schema=self._schema, random_seed=self._seed, **self._options)
        except Exception as error:  # whatever Java raises
            raise ConfigError(f"{self.name} cannot be made with {self._options}: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        """Let CapyMOA write what is in Java."""
        file = io.BytesIO()
        try:
            capymoa_library().core.io.save_model((self._schema, self.trained), file)
        except Exception as error:  # whatever Java raises
            raise CheckpointError(
                f"{self.name} cannot be copied or saved, because Java cannot write it ({error}); "
                "evaluate it without a checkpoint"
            ) from error
        return self.__dict__ | {"_schema": None, "trained": file.getvalue()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._schema, self.trained = capymoa_library().core.io.load_model(io.BytesIO(state["trained"]))


def constructor(learner: str) -> Callable[..., CapyMOAClassifier]:
    """Return what makes a CapyMOA classifier; its parameters are CapyMOA's, `random_state` is the seed.

    Parameters
    ----------
    learner : str
        The name of a class of ``capymoa.classifier``.

    Returns
    -------
    callable
        What makes it.
    """
    kind = _learner_class(learner)

    def make(*, nominal: Any = None, random_state: int = 0, **options: Any) -> CapyMOAClassifier:
        return CapyMOAClassifier(learner, options, nominal, random_state)

    return resembling(make, kind, seed="random_seed", without=("schema", "CLI", "options"), extra=CapyMOAClassifier)


def finds_java() -> bool:
    """Return whether there is a Java that CapyMOA would find."""
    return "JAVA_HOME" in os.environ or shutil.which("java") is not None


def _learner_class(learner: Any) -> type:
    """Return the class of a learner, or refuse what is none."""
    classifiers = vars(capymoa_library().classifier)
    kind = classifiers.get(learner) if isinstance(learner, str) else learner
    if isinstance(kind, type) and callable(getattr(kind, "train", None)):
        return kind
    close = get_close_matches(str(learner), classifiers["__all__"], n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ConfigError(f"learner must be a class of capymoa.classifier, or its name; got {learner!r}{hint}")


def _options_of(kind: type) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name not in OURS]


def capymoa_library() -> Any:
    """Import CapyMOA, which starts Java."""
    try:
        import capymoa.classifier  # noqa: PLC0415  # an extra may be missing
        import capymoa.core.io  # noqa: PLC0415
        import capymoa.stream  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(f"this needs CapyMOA ({error}); pip install 'driftline[capymoa]'") from error
    except Exception as error:  # of CapyMOA or JPype, that does not find Java
        raise MissingExtraError(
            f"CapyMOA needs Java ({error}); install a Java runtime, or set JAVA_HOME to one"
        ) from error
    return capymoa
