"""A table of the paper: its runs planned and done, and what they gave beside what is published."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from driftline.experiments.provenance import command_of, provenance
from driftline.experiments.runs import Run
from driftline.experiments.spec import Experiment, Level, Method
from driftline.experiments.work import Outcome, Workers
from driftline.registry import describe as describe_model
from driftline.streams.catalogue import describe

PERCENT = ("error", "expected_error", "mean_bound")
FAR = 3.0
"""Points beyond which an error is far from the published one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of ours beside the published one.

    Attributes
    ----------
    value : float or None
        Ours; None if there is none.
    published : float, str or None
        The paper's: a number, why there is none, or None where the paper has no such cell.
    note : str
        Why there is no value, or what it is of.
    remark : str
        What is to be said of it, where it is far from the published one.
    is_summary : bool
        Whether it sums up its row.
    """

    value: float | None
    published: float | str | None = None
    note: str = ""
    remark: str = ""
    is_summary: bool = False

    @property
    def difference(self) -> float | None:
        """By how much ours is above the published one; None also where it sums up other streams."""
        if self.value is None or not isinstance(self.published, int | float) or (self.is_summary and self.note):
            return None
        return self.value - self.published


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; `ours` if the paper has none such."""

    name: str
    cells: tuple[Cell, ...]
    ours: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the paper beside its reproduction.

    Attributes
    ----------
    title, about : str
        Its heading, and what to know of it.
    columns : tuple of str
        Headings of the columns, without that of the rows' names.
    rows : tuple of Row
        The rows.
    digits : int
        How many digits after the point.
    provenance : str
        The command, versions and dates that made it.
    in_percent : bool
        Whether its figures are errors in percent.
    """

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    digits: int = 1
    provenance: str = ""
    in_percent: bool = False


def make_table(experiment: Experiment, level: str, workers: Workers) -> Table:
    """Do what is not done yet of an experiment, and return its table.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    level : {"quick", "usual", "full"}
        How much of it.
    workers : Workers
        Who does it, and where results are kept.

    Returns
    -------
    Table
        Ours beside the published figures; cells that failed say why.
    """
    command = command_of(experiment.name, level)
    if experiment.kind == "datasets":
        return replace(_datasets(experiment), provenance=provenance(command, []))
    plan = Plan(experiment, experiment.levels[level])
    chosen, evaluated = plan.carry_out(workers)
    rows = [plan.row(method, chosen, evaluated) for method in experiment.methods]
    made = [outcome.made for outcome in (*chosen.values(), *evaluated.values()) if outcome.made]
    return replace(_summarised(experiment, plan.level, rows), provenance=provenance(command, made))


class Plan:
    """The runs of an experiment at a level."""

    def __init__(self, experiment: Experiment, level: Level) -> None:
        self.level = level
        self._name = experiment.name
        self._is_course = experiment.kind == "course"
        self._is_quick = level == experiment.levels["quick"]
        self._methods = {method.row: method for method in experiment.methods}
        self._places = {stream: experiment.streams.index(stream) for stream in level.streams}

    def carry_out(self, workers: Workers) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
        """Return what came of the runs that choose scales, and of the others, by their keys."""
        chosen: dict[str, Outcome] = {}
        evaluated: dict[str, Outcome] = {}
        with workers.bar(self._name, self._n_runs()) as bar:
            for stream in sorted(self.level.streams, key=lambda stream: describe(stream).rows):  # columns fill early
                chosen |= workers.carry_out(self.scale_runs(stream), bar)
                evaluated |= workers.carry_out(self.evaluations(stream, chosen), bar)
        return chosen, evaluated

    def _n_runs(self) -> int:
        """Return how many runs there are, whatever the scales."""
        total = 0
        for stream in self.level.streams:
            scales = {run.key for run in self.scale_runs(stream)}
            any_scale = dict.fromkeys(scales, Outcome({"scale": 1.0}))
            total += len(scales) + len({run.key for run in self.evaluations(stream, any_scale)})
        return total

    def scale_runs(self, stream: str) -> list[Run]:
        """Return the runs that choose scales; those of AMRC, which are last and take longest, come first."""
        tuned = [method for method in self._methods.values() if method.tuned is not None]
        return [self._scale_run(method, stream) for method in reversed(tuned)]

    def evaluations(self, stream: str, chosen: dict[str, Outcome]) -> list[Run]:
        """Return the evaluations that can be done with the scales that were chosen."""
        return [run for method in reversed(self._methods.values()) for run in self.runs(method, stream, chosen)]

    def _scale_run(self, method: Method, stream: str) -> Run:
        n_rows = min(method.tuning_rows or self.level.tuning_rows, self.level.tuning_rows)
        return Run(
            "scale", method.model, stream, method.parameters | (method.tuned or {}), n_rows, _ranges(method, stream)
        )

    def _scale(self, method: Method, stream: str, chosen: dict[str, Outcome]) -> Outcome | None:
        """Return what is known of the scale of a method; None if it has none."""
        source = self._methods[method.tuned_as] if method.tuned_as else method
        return None if source.tuned is None else chosen[self._scale_run(source, stream).key]

    def runs(self, method: Method, stream: str, chosen: dict[str, Outcome]) -> list[Run]:
        """Return the runs that a cell is the mean of, one for each seed; none if its scale could not be chosen."""
        scale = self._scale(method, stream, chosen)
        if scale is not None and scale.result is None:
            return []
        parameters = method.parameters | (
            {} if scale is None or scale.result is None else {"scale": scale.result["scale"]}
        )
        seeded = "random_state" in describe_model(method.model).parameters
        return [
            Run(
                "course" if self._is_course else "timing" if method.measure == "milliseconds" else "evaluation",
                method.model,
                stream,
                parameters | ({"random_state": seed} if seeded else {}),
                self._n_rows(method, stream),
                _ranges(method, stream),
            )
            for seed in range(1 if stream in method.one_seed else method.seeds)
        ]

    def _n_rows(self, method: Method, stream: str) -> int | None:
        """Return how many rows are run; None for all, so that a stream that is short is run once for all levels."""
        n_rows = None if method.row in self.level.whole.get(stream, ()) else self.level.rows
        return None if n_rows is None or n_rows >= describe(stream).rows else n_rows

    def row(self, method: Method, chosen: dict[str, Outcome], evaluated: dict[str, Outcome]) -> Row:
        """Return the row of a method."""
        cells = tuple(self._cell(method, stream, chosen, evaluated) for stream in self.level.streams)
        return Row(method.row, cells, method.ours, "; ".join(filter(None, [method.note, self._seeds(method)])))

    def _seeds(self, method: Method) -> str:
        """Say over which seeds the mean is taken, if over several."""
        if method.seeds == 1:
            return ""
        single = [stream for stream in self.level.streams if stream in method.one_seed]
        return f"mean over the seeds 0 to {method.seeds - 1}" + (
            f", seed 0 alone on {', '.join(single)}" if single else ""
        )

    def _cell(self, method: Method, stream: str, chosen: dict[str, Outcome], evaluated: dict[str, Outcome]) -> Cell:
        published = method.published[self._places[stream]] if method.published else None
        scale = self._scale(method, stream, chosen)
        if scale is not None and scale.result is None:
            return Cell(None, published, scale.reason)
        outcomes = [evaluated[run.key] for run in self.runs(method, stream, chosen)]
        failed = next((outcome.reason for outcome in outcomes if outcome.result is None), None)
        if failed is not None:
            return Cell(None, published, failed)
        results = [outcome.result or {} for outcome in outcomes]
        factor = 100.0 if method.measure in PERCENT else 1.0
        value = factor * float(np.mean([result[method.measure] for result in results]))
        cell = Cell(value, published, _extent(stream, results))
        is_far = cell.difference is not None and abs(cell.difference) > FAR
        # What is said of a figure is said of that of the longer runs.
        return replace(cell, remark=method.remarks.get(stream, "")) if is_far and not self._is_quick else cell


def _ranges(method: Method, stream: str) -> str | None:
    """Return how a stream is scaled for a method, as a run knows it."""
    if method.ours:
        return None
    return "array" if stream in method.one_range else "column"


def _extent(stream: str, results: list[dict[str, Any]]) -> str:
    """Say of how many rows a cell is, if not of all."""
    n_rows = results[0]["n_rows"]
    return "" if n_rows == describe(stream).rows else f"first {n_rows:,} rows"


def _summarised(experiment: Experiment, level: Level, rows: list[Row]) -> Table:
    """Return a table with its last column."""
    columns = level.streams
    if experiment.summary:
        summaries = _ranks(rows) if experiment.summary == "rank" else _means(rows)
        published = {method.row: method.summary for method in experiment.methods}
        extents = {row.name: _number_of_streams(row, len(experiment.streams)) for row in rows}
        rows = [
            replace(row, cells=(*row.cells, _summary(summaries[row.name], published[row.name], extents[row.name])))
            for row in rows
        ]
        columns = (*columns, "average rank" if experiment.summary == "rank" else "mean")
    in_percent = all(method.measure in PERCENT for method in experiment.methods)
    digits = 1 if in_percent else 3
    return Table(experiment.title, experiment.about, columns, tuple(rows), digits, in_percent=in_percent)


def _number_of_streams(row: Row, n_streams: int) -> str:
    """Say over how many streams a row is summed up, if not over all."""
    n = sum(cell.value is not None for cell in row.cells)
    return "" if n == n_streams else f"over {n} of {n_streams} streams"


def _summary(value: float | None, published: float | None, extent: str) -> Cell:
    return Cell(value, published, extent if value is not None else "", is_summary=True)


def _ranks(rows: list[Row]) -> dict[str, float | None]:
    """Return the mean rank of each row of the paper over the streams on which it has a figure."""
    ranked = [row for row in rows if not row.ours]
    values = np.array([[np.nan if cell.value is None else cell.value for cell in row.cells] for row in ranked])
    ranks = np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        there = ~np.isnan(values[:, j])
        ranks[there, j] = rankdata(values[there, j])
    means = {
        row.name: None if np.isnan(own).all() else float(np.nanmean(own))
        for row, own in zip(ranked, ranks, strict=True)
    }
    return {row.name: means.get(row.name) for row in rows}


def _means(rows: list[Row]) -> dict[str, float | None]:
    values = {row.name: [cell.value for cell in row.cells if cell.value is not None] for row in rows}
    return {name: float(np.mean(some)) if some else None for name, some in values.items()}


def _datasets(experiment: Experiment) -> Table:
    """Return what the streams are, beside what the paper says of them."""
    rows = []
    for name in experiment.streams:
        dataset = describe(name)
        ours, theirs = dataset.measured, dataset.published
        pairs = [(getattr(ours, field, None), getattr(theirs, field, None)) for field in ("rows", "columns", "classes")]
        note = "not at hand" if ours is None else ""
        rows.append(Row(name, tuple(Cell(value, published, note) for value, published in pairs)))
    return Table(experiment.title, experiment.about, ("time steps", "features", "classes"), tuple(rows), digits=0)
