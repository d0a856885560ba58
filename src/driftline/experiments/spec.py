"""What an experiment is: read from a file beside this one, and checked."""

import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from driftline import registry
from driftline.errors import ConfigError
from driftline.streams.catalogue import describe

LEVELS = ("quick", "usual", "full")
"""How much is run: what is done in minutes; what is kept in the repository; all."""
MEASURES = ("error", "expected_error", "mean_bound", "milliseconds")


@dataclass(frozen=True, slots=True)
class Method:
    """A row of a table.

    Attributes
    ----------
    row : str
        What it is called there.
    model : str
        Its name in the registry.
    parameters : dict
        What is set otherwise than there.
    measure : str
        What is shown: one of `MEASURES`.
    published : tuple
        What the paper has, stream by stream: a number, or why there is none.
    summary : float, optional
        What the paper has in the last column.
    tuned : dict, optional
        What else is set while the scale of its kernel is chosen; None if it has none.
    tuned_as : str, optional
        The row whose scale it uses, if not its own.
    tuning_rows : int, optional
        How much of a stream that may see, if less than the others.
    seeds : int
        Over how many seeds the mean is taken.
    ours : bool
        Whether it is no row of the paper's: it does not look ahead, neither to scale columns nor to tune.
    note : str
        What a reader must know of it.
    """

    row: str
    model: str
    parameters: dict[str, Any] = field(default_factory=dict)
    measure: str = "error"
    published: tuple[float | str, ...] = ()
    summary: float | None = None
    tuned: dict[str, Any] | None = None
    tuned_as: str | None = None
    tuning_rows: int | None = None
    seeds: int = 1
    ours: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """How much of an experiment is run.

    Attributes
    ----------
    streams : tuple of str
        On which streams.
    rows : int, optional
        On how many of their rows, from the first.
    tuning_rows : int
        How many of these the choice of scales may see.
    """

    streams: tuple[str, ...]
    rows: int | None
    tuning_rows: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table of the paper.

    Attributes
    ----------
    name, title, about : str
        What it is called, its heading, and what to know of it.
    kind : {"runs", "datasets"}
        Whether cells come from runs of classifiers, or from the streams themselves.
    streams : tuple of str
        All its streams, in the order of what is published.
    summary : {"rank", "mean", ""}
        What the last column is.
    levels : dict
        What is run at each level.
    methods : tuple of Method
        Its rows.
    cost : str
        What the full level takes.
    """

    name: str
    title: str
    about: str
    kind: str
    streams: tuple[str, ...]
    summary: str
    levels: dict[str, Level]
    methods: tuple[Method, ...]
    cost: str


def names() -> tuple[str, ...]:
    """Return the names of the experiments.

    Returns
    -------
    tuple of str
        In the order of the paper.

    Examples
    --------
    >>> names()
    ('table1', 'table2', 'table3', 'table4')
    """
    found = (entry.name for entry in files(__package__).joinpath("specs").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def read_spec(name: str) -> Experiment:
    """Return an experiment.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    Experiment
        What its file says, checked.

    Examples
    --------
    >>> experiment = read_spec("table1")
    >>> len(experiment.methods) >= 13, len(experiment.streams)
    (True, 12)
    """
    if name not in names():
        close = get_close_matches(name, names(), n=3)
        hint = f"did you mean {' or '.join(close)}? All" if close else "all"
        raise ConfigError(f"there is no experiment {name!r}; {hint} names: {', '.join(names())}")
    content = tomllib.loads(files(__package__).joinpath("specs", f"{name}.toml").read_text(encoding="utf-8"))
    return parsed(name, content)


def parsed(name: str, content: dict[str, Any]) -> Experiment:
    """Return an experiment from the content of its file; what cannot be is refused."""
    streams = tuple(content["streams"])
    for stream in streams:
        describe(stream)
    levels = {}
    for level in LEVELS:
        given = content.get(level, {})
        levels[level] = Level(
            tuple(given.get("streams", streams)), given.get("rows"), given.get("tuning_rows", content["tuning_rows"])
        )
    methods = tuple(
        Method(**entry | {"published": tuple(entry.get("published", ()))}) for entry in content.get("method", ())
    )
    rows = [method.row for method in methods]
    for method in methods:
        registry.describe(method.model)
        if method.measure not in MEASURES:
            raise ConfigError(f"{name}: {method.row} has the measure {method.measure!r}; expected one of {MEASURES}")
        if method.published and len(method.published) != len(streams):
            raise ConfigError(f"{name}: {method.row} has {len(method.published)} figures for {len(streams)} streams")
        if method.tuned_as is not None and method.tuned_as not in rows:
            raise ConfigError(f"{name}: {method.row} is tuned as {method.tuned_as!r}, which is no row")
    return Experiment(
        name=name,
        title=content["title"],
        about=content["about"].strip(),
        kind=content["kind"],
        streams=streams,
        summary=content.get("summary", ""),
        levels=levels,
        methods=methods,
        cost=content.get("cost", ""),
    )
