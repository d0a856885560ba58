"""Classifiers by name: ours, those to compare with, and those of scikit-learn, River and CapyMOA.

``driftline models`` shows them in a terminal.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from driftline.core.checkpoint import read_checkpoint
from driftline.errors import CheckpointError, ConfigError


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A classifier that can be had by name.

    Attributes
    ----------
    name, summary : str
        What it is called, and what it is, in a line.
    family : str
        What it belongs to.
    module, maker : str
        Where its constructor is: a class, or a function that returns what makes it.
    kind : str, optional
        What that function is called with; None for a class.
    package : str, optional
        What must be installed besides driftline; also the name of the extra that installs it.
    changes : mapping
        Parameters that it has by default, where its constructor has others.
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
        """What to do before it can be used; None if nothing."""
        if self.package is not None and find_spec(self.package) is None:
            return f"pip install 'driftline[{self.package}]'"
        if self.package == "capymoa" and not import_module("driftline.adapters.capymoa").finds_java():
            return "install a Java runtime"
        return None

    @property
    def is_ours(self) -> bool:
        """Whether it is driftline's own, and can be saved in a file that `load_model` reads."""
        return self.module in _OURS

    @property
    def parameters(self) -> dict[str, Any]:
        """What parameters it has, and what they are by default; a seed is 0."""
        listed = inspect.signature(self.constructor).parameters.values()
        defaults = {parameter.name: parameter.default for parameter in listed}
        return defaults | ({"random_state": 0} if "random_state" in defaults else {}) | dict(self.changes)

    @property
    def description(self) -> str:
        """The first paragraph of what its constructor says of it."""
        return " ".join((inspect.getdoc(self.constructor) or self.summary).split("\n\n")[0].split())

    @property
    def constructor(self) -> Callable[..., Any]:
        """What makes it; importing it is left until here."""
        maker: Callable[..., Any] = getattr(import_module(self.module), self.maker)
        made: Callable[..., Any] = maker if self.kind is None else maker(self.kind)
        return made


def names() -> tuple[str, ...]:
    """Return the names of the classifiers.

    Returns
    -------
    tuple of str
        Family by family.

    Examples
    --------
    >>> names()[:3]
    ('amrc', 'amrc-randomised', 'amrc-linear')
    """
    return tuple(_ENTRIES)


def describe(name: str) -> ModelEntry:
    """Return what is known of a classifier.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    ModelEntry
        Its record.

    Examples
    --------
    >>> describe("rbp").parameters["budget"]
    100
    """
    try:
        return _ENTRIES[name]
    except (KeyError, TypeError):  # of what is no word
        close = get_close_matches(str(name), _ENTRIES, n=3) or [known for known in _ENTRIES if str(name) in known][:3]
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise ConfigError(f"there is no classifier {name!r}; {hint}'driftline models' lists all") from None


def create(name: str, **parameters: Any) -> Any:
    """Return a new classifier.

    Parameters
    ----------
    name : str
        Its name.
    **parameters
        Its parameters, where they are to differ from its defaults; `describe(name).parameters` has all. `random_state`,
        the seed, may be given to every classifier: where nothing is random it changes nothing.

    Returns
    -------
    estimator
        What `driftline.evaluation.evaluate` takes.

    Examples
    --------
    >>> create("amrc-linear", random_state=3)
    AMRC(features='linear', random_state=3)
    """
    entry = describe(name)
    defaults = entry.parameters
    given = {key: value for key, value in parameters.items() if key in defaults or key != "random_state"}
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(defaults)}")
    try:
        return entry.constructor(**defaults | given)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{name} cannot be made with these parameters: {error}") from error


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that the `save` of any of driftline's own classifiers wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator
        The model, of the kind that was saved.
    """
    kind = read_checkpoint(path)[0].get("estimator", "AMRC")  # which also reads the first files, that do not say it
    homes = {entry.maker: entry.module for entry in _ENTRIES.values() if entry.is_ours}
    if kind not in homes:
        raise CheckpointError(f"{path} holds a model of the kind {kind}, which this driftline does not have")
    return getattr(import_module(homes[kind]), kind).load(path)


_OURS = ("driftline.ensemble", "driftline.paper", "driftline.baselines")


def _ours(name: str, summary: str, **changes: Any) -> ModelEntry:
    return ModelEntry(name, summary, "AMRC", "driftline.ensemble", "AMRC", changes=changes)


def _paper(name: str, summary: str, **changes: Any) -> ModelEntry:
    changes = {"scaling": "running"} | changes
    return ModelEntry(name, summary, "AMRC as published", "driftline.paper", "PaperAMRC", changes=changes)


def _baseline(name: str, maker: str, summary: str, family: str = "Compared with in the paper") -> ModelEntry:
    return ModelEntry(name, summary, family, "driftline.baselines", maker)


def _floor(name: str, maker: str, summary: str) -> ModelEntry:
    return _baseline(name, maker, summary, "Without looking at the columns")


def _river(kind: str, summary: str) -> ModelEntry:
    return ModelEntry(f"river-{kind}", summary, "River", "driftline.adapters.river", "constructor", kind, "river")


def _capymoa(name: str, learner: str, summary: str, **changes: Any) -> ModelEntry:
    home = "driftline.adapters.capymoa"
    return ModelEntry(name, summary, "CapyMOA", home, "constructor", learner, "capymoa", changes)


_ENTRIES = {
    entry.name: entry
    for entry in (
        _ours("amrc", "the default: mixed members, calibrated bounds"),
        _ours("amrc-randomised", "the same, drawing labels from its probabilities", deterministic=False),
        _ours("amrc-linear", "linear features only: the fastest", features="linear"),
        _ours("amrc-order0", "class means that do not move steadily", order=0),
        _paper("amrc-paper", "order 1, Fourier features, deterministic rule"),
        _paper("amrc-paper-randomised", "the same, drawing labels", deterministic=False),
        _paper("amrc-paper-unidimensional", "one gain for all components", gain="unidimensional"),
        _paper("amrc-paper-linear", "linear features", features="linear"),
        _paper("amrc-paper-order0", "tracking of order 0", order=0),
        _paper("amrc-paper-order2", "tracking of order 2", order=2),
        _baseline("dwm", "DWM", "dynamic weighted majority"),
        _baseline("rbp", "RBP", "randomised budget perceptron"),
        _baseline("forgetron", "Forgetron", "kernel perceptron that shrinks and forgets"),
        _baseline("projectron", "Projectron", "kernel perceptron that projects"),
        _baseline("projectron++", "ProjectronPlusPlus", "the same, learning from narrow margins too"),
        _baseline("norma", "NORMA", "kernel gradient descent that forgets"),
        _baseline("fogd", "FOGD", "gradient descent on Fourier features"),
        _baseline("nogd", "NOGD", "gradient descent on Nyström features"),
        _baseline("adaraker", "AdaRaker", "random features of several kernels, mixed"),
        _baseline("lambda-perceptron", "LambdaPerceptron", "perceptron that forgets, a reconstruction"),
        _floor("no-change", "NoChange", "the label of the row before"),
        _floor("majority", "Majority", "the most frequent label so far"),
        _floor("windowed-majority", "WindowedMajority", "the most frequent of recent labels"),
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
        _capymoa("capymoa-lr", "SGDClassifier", "logistic regression by SGD, not scaled", loss="log_loss"),
    )
}
