"""What an experiment is: read from a file beside this one, and checked."""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from driftline import registry
from driftline.errors import ConfigError
from driftline.streams.catalogue import describe
from driftline.utils.suggestions import close_names, did_you_mean

LEVELS = ("quick", "usual", "full")
"""How much is run: what is done in minutes; what is kept in the repository; all."""
MEASURES = ("error", "expected_error", "mean_bound", "milliseconds")
KINDS = ("runs", "datasets", "opening", "bounds", "mistakes", "course")
"""What an experiment is made of; the first two are tables, the others figures."""


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
    one_seed : tuple of str
        The streams on which it takes so long that it is run with the first seed alone.
    one_range : tuple of str
        The streams that are scaled for it by one range for all columns, rather than by that of each.
    ours : bool
        Whether it is no row of the paper's: it does not look ahead, neither to scale columns nor to tune.
    note : str
        What a reader must know of it.
    remarks : dict of str to str
        What is to be said of its figure on a stream, where that is far from the published one.
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
    one_seed: tuple[str, ...] = ()
    one_range: tuple[str, ...] = ()
    ours: bool = False
    note: str = ""
    remarks: dict[str, str] = field(default_factory=dict)


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
    whole : dict of str to list of str
        For each stream the methods that are run on all of its rows nevertheless.
    simulations : int
        How many runs on the synthetic stream.
    """

    streams: tuple[str, ...]
    rows: int | None
    tuning_rows: int
    whole: dict[str, list[str]]
    simulations: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or figure of the paper.

    Attributes
    ----------
    name, title, about : str
        What it is called, its heading, and what to know of it.
    kind : str
        What it is made of: one of `KINDS`.
    streams : tuple of str
        All its streams, in the order of what is published.
    summary : {"rank", "mean", ""}
        What the last column is.
    levels : dict
        What is run at each level.
    methods : tuple of Method
        Its rows, or curves.
    cost : str
        What it takes.
    steps : int
        Length of the runs on the synthetic stream.
    says : str
        What the paper says that it shows.
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
    steps: int
    says: str

    @property
    def is_figure(self) -> bool:
        """Whether it is a figure, rather than a table."""
        return self.kind not in KINDS[:2]


def names() -> tuple[str, ...]:
    """Return the names of the experiments.

    Returns
    -------
    tuple of str
        Figures, then tables.

    Examples
    --------
    >>> names()
    ('figure1', 'figure3', 'figure4', 'figure5', 'figure6', 'table1', 'table2', 'table3', 'table4')
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
        hint = did_you_mean(close_names(name, names()))
        raise ConfigError(f"there is no experiment {name!r}; the experiments are {', '.join(names())}{hint}")
    content = tomllib.loads(files(__package__).joinpath("specs", f"{name}.toml").read_text(encoding="utf-8"))
    return parsed(name, content)


def parsed(name: str, content: dict[str, Any]) -> Experiment:
    """Return an experiment from the content of its file; what cannot be is refused."""
    if content["kind"] not in KINDS:
        raise ConfigError(f"{name}: the kind is {content['kind']!r}; expected one of {KINDS}")
    streams = tuple(content.get("streams", ()))
    for stream in streams:
        describe(stream)
    methods = tuple(
        Method(**entry | {each: tuple(entry.get(each, ())) for each in ("published", "one_seed", "one_range")})
        for entry in content.get("method", ())
    )
    _check_methods(name, methods, streams)
    return Experiment(
        name=name,
        title=content["title"],
        about=content["about"].strip(),
        kind=content["kind"],
        streams=streams,
        summary=content.get("summary", ""),
        levels={level: _level(name, content, level, streams, methods) for level in LEVELS},
        methods=methods,
        cost=content.get("cost", ""),
        steps=content.get("steps", 0),
        says=content.get("says", "").strip(),
    )


def _level(
    name: str, content: dict[str, Any], level: str, streams: tuple[str, ...], methods: tuple[Method, ...]
) -> Level:
    given = content.get(level, {})
    whole, rows = given.get("whole", {}), {method.row for method in methods}
    for stream, some in whole.items():
        if stream not in streams or not rows.issuperset(some):
            raise ConfigError(
                f"{name}: {level}.whole names {stream!r} and {some}; expected a stream and rows of its own"
            )
    return Level(
        streams=tuple(given.get("streams", streams)),
        rows=given.get("rows"),
        tuning_rows=given.get("tuning_rows", content.get("tuning_rows", 0)),
        whole=whole,
        simulations=given.get("simulations", content.get("simulations", 0)),
    )


def _check_methods(name: str, methods: tuple[Method, ...], streams: tuple[str, ...]) -> None:
    rows = [method.row for method in methods]
    for method in methods:
        registry.describe(method.model)
        if method.measure not in MEASURES:
            raise ConfigError(f"{name}: {method.row} has the measure {method.measure!r}; expected one of {MEASURES}")
        if method.published and len(method.published) != len(streams):
            raise ConfigError(f"{name}: {method.row} has {len(method.published)} figures for {len(streams)} streams")
        if method.tuned_as is not None and method.tuned_as not in rows:
            raise ConfigError(f"{name}: {method.row} is tuned as {method.tuned_as!r}, which is no row")
        if method.tuned_as is not None and method.one_range != methods[rows.index(method.tuned_as)].one_range:
            raise ConfigError(f"{name}: {method.row} is tuned as {method.tuned_as!r}, but has another one_range")
        unknown = {*method.remarks, *method.one_seed, *method.one_range} - set(streams)
        if unknown:
            raise ConfigError(f"{name}: {method.row} names {', '.join(sorted(unknown))}, which it is not run on")
