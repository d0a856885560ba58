"""Classifiers by name: driftline's own, the baselines, and some of scikit-learn, River and CapyMOA.

``driftline models`` lists them in a terminal.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from driftline.core.checkpoint import MAX_BYTES, opened_checkpoint
from driftline.core.model_content import ModelContent
from driftline.errors import CheckpointError, ConfigError
from driftline.utils.suggestions import close_names, did_you_mean


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A classifier that can be created by name.

    Attributes
    ----------
    name, summary : str
        Name of the classifier, and a description of one line.
    family : str
        Heading under which it is listed.
    module, maker : str
        Module and name of its class, or of a function that returns its constructor.
    kind : str, optional
        Argument of that function; None for a class.
    package : str, optional
        Package that must be installed; also the name of the extra that installs it.
    changes : mapping
        Defaults that differ from those of the constructor.
    """

    name: str
    summary: str
    family: str
    module: str
    maker: str
    kind: str | None = None
    package: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> str | None:
        """Instruction to install what is missing; None if nothing is."""
        if self.package is not None and find_spec(self.package) is None:
            return f"pip install 'driftline[{self.package}]'"
        if self.package == "capymoa" and not import_module("driftline.adapters.capymoa").java_is_installed():
            return "install a Java runtime"
        return None

    @property
    def is_ours(self) -> bool:
        """Whether the classifier is driftline's own, so that `load_model` can read its files."""
        return self.module in _OURS

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their defaults; the default seed is 0."""
        listed = inspect.signature(self.constructor).parameters.values()
        defaults = {parameter.name: parameter.default for parameter in listed}
        return defaults | ({"random_state": 0} if "random_state" in defaults else {}) | dict(self.changes)

    @property
    def description(self) -> str:
        """First paragraph of the constructor's docstring."""
        return " ".join((inspect.getdoc(self.constructor) or self.summary).split("\n\n")[0].split())

    @property
    def constructor(self) -> Callable[..., Any]:
        """Class or function that creates the classifier; its module is imported here."""
        maker: Callable[..., Any] = getattr(import_module(self.module), self.maker)
        made: Callable[..., Any] = maker if self.kind is None else maker(self.kind)
        return made


def names() -> tuple[str, ...]:
    """Return the names of the classifiers.

    Returns
    -------
    tuple of str
        The names, grouped by family.

    Examples
    --------
    >>> names()[:3]
    ('amrc', 'amrc-randomised', 'amrc-linear')
    """
    return tuple(_ENTRIES)


def describe(name: str) -> ModelEntry:
    """Return the description of a classifier.

    Parameters
    ----------
    name : str
        Name of the classifier.

    Returns
    -------
    ModelEntry
        The description.

    Examples
    --------
    >>> describe("rbp").parameters["budget"]
    100
    """
    try:
        return _ENTRIES[name]
    except (KeyError, TypeError):  # TypeError: a name that is not hashable
        hint = did_you_mean(close_names(str(name), _ENTRIES))
        raise ConfigError(f"there is no classifier {name!r} ('driftline models' lists all){hint}") from None


def create(name: str, **parameters: Any) -> Any:
    """Return a new classifier.

    Parameters
    ----------
    name : str
        Name of the classifier.
    **parameters
        Parameters that should differ from the defaults; `describe(name).parameters` lists all. The seed `random_state`
        is accepted for every classifier, and ignored by those without randomness.

    Returns
    -------
    estimator
        The classifier, unfitted.

    Examples
    --------
    >>> create("amrc-linear", random_state=3)
    AMRC(features='linear', random_state=3)
    """
    entry = describe(name)
    defaults = entry.parameters
    chosen = {key: value for key, value in parameters.items() if key in defaults or key != "random_state"}
    unknown = sorted(set(chosen) - set(defaults))
    if unknown:
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; its parameters are {', '.join(defaults)}")
    try:
        return entry.constructor(**defaults | chosen)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{name} cannot be created with these parameters: {error}") from error


def load_model(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that was written by the method `save` of one of driftline's own classifiers.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, default=2**30
        Largest size of the model in memory. A file that would take more is refused before its arrays are read.

    Returns
    -------
    estimator
        The model, an instance of the class that was saved.
    """
    modules = {entry.maker: entry.module for entry in _ENTRIES.values() if entry.is_ours}
    with opened_checkpoint(path, max_bytes) as file:
        kind = ModelContent.from_json(file.content).estimator
        if kind not in modules:
            raise CheckpointError(
                f"it contains a model of the class {kind[:100]}, which this version of driftline lacks"
            )
    return getattr(import_module(modules[kind]), kind).load(path, max_bytes=max_bytes)


_OURS = ("driftline.ensemble", "driftline.paper", "driftline.baselines")


def _ours(name: str, summary: str, **changes: Any) -> ModelEntry:
    return ModelEntry(name, summary, "AMRC", "driftline.ensemble", "AMRC", changes=changes)


def _paper(name: str, summary: str, **changes: Any) -> ModelEntry:
    changes = {"scaling": "running"} | changes
    return ModelEntry(name, summary, "AMRC as published", "driftline.paper", "PaperAMRC", changes=changes)


def _baseline(name: str, maker: str, summary: str, family: str = "Baselines of the paper") -> ModelEntry:
    return ModelEntry(name, summary, family, "driftline.baselines", maker)


def _label_only(name: str, maker: str, summary: str) -> ModelEntry:
    return _baseline(name, maker, summary, "Baselines that ignore the features")


def _river(kind: str, summary: str) -> ModelEntry:
    return ModelEntry(f"river-{kind}", summary, "River", "driftline.adapters.river", "constructor", kind, "river")


def _capymoa(name: str, learner: str, summary: str, **changes: Any) -> ModelEntry:
    module = "driftline.adapters.capymoa"
    return ModelEntry(name, summary, "CapyMOA", module, "constructor", learner, "capymoa", changes)


_ENTRIES = {
    entry.name: entry
    for entry in (
        _ours("amrc", "the default: an ensemble with calibrated bounds"),
        _ours("amrc-randomised", "amrc with the randomised rule: draws labels", deterministic=False),
        _ours("amrc-linear", "amrc with linear features only: the fastest", features="linear"),
        _ours("amrc-order0", "amrc for class means without a steady movement", order=0),
        _paper("amrc-paper", "order 1, Fourier features, deterministic rule"),
        _paper("amrc-paper-randomised", "the randomised rule: draws labels", deterministic=False),
        _paper("amrc-paper-unidimensional", "one gain for all components", gain="unidimensional"),
        _paper("amrc-paper-linear", "linear features", features="linear"),
        _paper("amrc-paper-order0", "tracking of order 0", order=0),
        _paper("amrc-paper-order2", "tracking of order 2", order=2),
        _baseline("dwm", "DWM", "dynamic weighted majority"),
        _baseline("rbp", "RBP", "randomised budget perceptron"),
        _baseline("forgetron", "Forgetron", "kernel perceptron that drops its oldest support"),
        _baseline("projectron", "Projectron", "kernel perceptron that projects on its supports"),
        _baseline("projectron++", "ProjectronPlusPlus", "projectron that also learns from small margins"),
        _baseline("norma", "NORMA", "kernel gradient descent with decaying coefficients"),
        _baseline("fogd", "FOGD", "gradient descent on Fourier features"),
        _baseline("nogd", "NOGD", "gradient descent on Nyström features"),
        _baseline("adaraker", "AdaRaker", "mixture of random features of several kernels"),
        _baseline("lambda-perceptron", "LambdaPerceptron", "perceptron with forgetting (reconstructed)"),
        _label_only("no-change", "NoChange", "predicts the previous label"),
        _label_only("majority", "Majority", "predicts the most frequent label so far"),
        _label_only("windowed-majority", "WindowedMajority", "predicts the most frequent of the last labels"),
        ModelEntry(
            "sklearn-sgd",
            "logistic regression by SGD, standardised online",
            "scikit-learn",
            "driftline.adapters.scaled",
            "sgd",
            changes={"loss": "log_loss"},
        ),
        ModelEntry("sklearn-nb", "Gaussian naive Bayes", "scikit-learn", "sklearn.naive_bayes", "GaussianNB"),
        _river("arf", "adaptive random forest"),
        _river("srp", "streaming random patches"),
        _river("hat", "Hoeffding adaptive tree"),
        _river("lb", "leveraging bagging of Hoeffding trees"),
        _river("lr", "logistic regression, standardised online"),
        _capymoa("capymoa-arf", "AdaptiveRandomForestClassifier", "adaptive random forest of 100 trees"),
        _capymoa("capymoa-srp", "StreamingRandomPatches", "streaming random patches, 100 trees"),
        _capymoa("capymoa-hat", "HoeffdingAdaptiveTree", "Hoeffding adaptive tree"),
        _capymoa("capymoa-lb", "LeveragingBagging", "leveraging bagging of 100 Hoeffding trees"),
        _capymoa("capymoa-sgbt", "StreamingGradientBoostedTrees", "streaming gradient-boosted trees, 100 steps"),
        _capymoa("capymoa-lr", "SGDClassifier", "logistic regression by SGD, not scaled", loss="log_loss"),
    )
}
