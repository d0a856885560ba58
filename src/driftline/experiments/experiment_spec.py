"""Specifications of the experiments, read from the TOML files in `specs` and checked."""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from driftline import registry
from driftline.errors import ConfigError
from driftline.streams.catalogue import describe
from driftline.utils.suggestions import close_names, did_you_mean

LEVELS = ("quick", "usual", "full")
"""Amounts of work: a few minutes; what the repository keeps results of; every row of every stream."""
MEASURES = ("error", "expected_error", "mean_bound", "milliseconds")
TABLE_KINDS = ("runs", "datasets")
FIGURE_KINDS = ("opening", "bounds", "mistakes", "course")


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A row of a table, or a curve of a figure.

    Attributes
    ----------
    row : str
        Its name in the table.
    model : str
        The classifier's name in the registry.
    parameters : dict
        Parameters that differ from the classifier's defaults.
    measure : str
        The quantity shown: one of `MEASURES`.
    published : tuple
        The paper's figure for each stream, or the text that the paper prints instead.
    summary : float, optional
        The paper's figure in the last column.
    tuned : dict, optional
        Additional parameters while the scale of the kernel is chosen; None if no scale is chosen for this row.
    tuned_as : str, optional
        Another row whose chosen scale this row uses.
    tuning_rows : int, optional
        Number of rows for choosing the scale, if fewer than for the other methods.
    seeds : int
        Number of seeds that the mean is taken over.
    one_seed : tuple of str
        Streams on which it is slow and is therefore run with the first seed only.
    one_range : tuple of str
        Streams that are scaled by one range for all columns, not by the range of each column.
    ours : bool
        Whether the paper has no such row. Such methods see no future rows: their streams are not scaled in advance.
    note : str
        A note about the row.
    remarks : dict of str to str
        For some streams, a comment that is shown if the error is far from the published one.
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
class LevelSpec:
    """How much of an experiment is run at a level.

    Attributes
    ----------
    streams : tuple of str
        Names of the streams.
    rows : int, optional
        Number of rows of each stream, from the first; None for all.
    tuning_rows : int
        Number of these rows that may be used to choose scales.
    all_rows : dict of str to list of str
        For some streams, the methods that are run on all rows regardless of `rows`.
    simulations : int
        Number of runs on the synthetic stream.
    """

    streams: tuple[str, ...]
    rows: int | None
    tuning_rows: int
    all_rows: dict[str, list[str]]
    simulations: int


@dataclass(frozen=True, slots=True)
class ExperimentSpec:
    """A table or a figure of the paper.

    Attributes
    ----------
    name, title, about : str
        Its name, its heading, and how it was made.
    kind : str
        One of `TABLE_KINDS` or `FIGURE_KINDS`.
    streams : tuple of str
        All streams, in the order of the published figures.
    summary : {"rank", "mean", ""}
        Content of the last column; empty for none.
    levels : dict of str to LevelSpec
        What is run at each of `LEVELS`.
    methods : tuple of MethodSpec
        The rows or curves.
    cost : str
        How long it takes.
    steps : int
        Length of a run on the synthetic stream.
    claim : str
        What the paper says that the figure shows.
    """

    name: str
    title: str
    about: str
    kind: str
    streams: tuple[str, ...]
    summary: str
    levels: dict[str, LevelSpec]
    methods: tuple[MethodSpec, ...]
    cost: str
    steps: int
    claim: str

    @property
    def is_figure(self) -> bool:
        """Whether it is a figure; otherwise it is a table."""
        return self.kind in FIGURE_KINDS


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments.

    Returns
    -------
    tuple of str
        Figures, then tables.

    Examples
    --------
    >>> experiment_names()
    ('figure1', 'figure3', 'figure4', 'figure5', 'figure6', 'table1', 'table2', 'table3', 'table4')
    """
    found = (entry.name for entry in files(__package__).joinpath("specs").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def read_spec(name: str) -> ExperimentSpec:
    """Return the specification of an experiment.

    Parameters
    ----------
    name : str
        One of `experiment_names`.

    Returns
    -------
    ExperimentSpec
        The content of its file, checked.

    Examples
    --------
    >>> experiment = read_spec("table1")
    >>> len(experiment.methods) >= 13, len(experiment.streams)
    (True, 12)
    """
    known = experiment_names()
    if name not in known:
        hint = did_you_mean(close_names(name, known))
        raise ConfigError(f"there is no experiment {name!r}; the experiments are {', '.join(known)}{hint}")
    content = tomllib.loads(files(__package__).joinpath("specs", f"{name}.toml").read_text(encoding="utf-8"))
    return parse_spec(name, content)


def parse_spec(name: str, content: dict[str, Any]) -> ExperimentSpec:
    """Return the specification in the content of a TOML file; raise `ConfigError` if it is not valid."""
    if content["kind"] not in (*TABLE_KINDS, *FIGURE_KINDS):
        raise ConfigError(f"{name}: kind is {content['kind']!r}; expected one of {(*TABLE_KINDS, *FIGURE_KINDS)}")
    streams = tuple(content.get("streams", ()))
    for stream in streams:
        describe(stream)
    methods = tuple(
        MethodSpec(**entry | {each: tuple(entry.get(each, ())) for each in ("published", "one_seed", "one_range")})
        for entry in content.get("method", ())
    )
    _check_methods(name, methods, streams)
    return ExperimentSpec(
        name=name,
        title=content["title"],
        about=content["about"].strip(),
        kind=content["kind"],
        streams=streams,
        summary=content.get("summary", ""),
        levels={level: _parse_level(name, content, level, streams, methods) for level in LEVELS},
        methods=methods,
        cost=content.get("cost", ""),
        steps=content.get("steps", 0),
        claim=content.get("claim", "").strip(),
    )


def _parse_level(
    name: str, content: dict[str, Any], level: str, streams: tuple[str, ...], methods: tuple[MethodSpec, ...]
) -> LevelSpec:
    given = content.get(level, {})
    all_rows, rows = given.get("all_rows", {}), {method.row for method in methods}
    for stream, some in all_rows.items():
        if stream not in streams or not rows.issuperset(some):
            raise ConfigError(
                f"{name}: {level}.all_rows names {stream!r} and {some}; expected a stream and rows of this experiment"
            )
    return LevelSpec(
        streams=tuple(given.get("streams", streams)),
        rows=given.get("rows"),
        tuning_rows=given.get("tuning_rows", content.get("tuning_rows", 0)),
        all_rows=all_rows,
        simulations=given.get("simulations", content.get("simulations", 0)),
    )


def _check_methods(name: str, methods: tuple[MethodSpec, ...], streams: tuple[str, ...]) -> None:
    rows = {method.row: method for method in methods}
    for method in methods:
        registry.describe(method.model)
        if method.measure not in MEASURES:
            raise ConfigError(f"{name}: {method.row} has the measure {method.measure!r}; expected one of {MEASURES}")
        if method.published and len(method.published) != len(streams):
            raise ConfigError(
                f"{name}: {method.row} has {len(method.published)} published figures for {len(streams)} streams"
            )
        if method.tuned_as is not None and method.tuned_as not in rows:
            raise ConfigError(f"{name}: {method.row} is tuned as {method.tuned_as!r}, which is not a row")
        if method.tuned_as is not None and method.one_range != rows[method.tuned_as].one_range:
            raise ConfigError(f"{name}: {method.row} is tuned as {method.tuned_as!r}, but has a different one_range")
        unknown = {*method.remarks, *method.one_seed, *method.one_range} - set(streams)
        if unknown:
            raise ConfigError(
                f"{name}: {method.row} names {', '.join(sorted(unknown))}, not among the experiment's streams"
            )
