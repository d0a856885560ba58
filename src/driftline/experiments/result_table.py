"""Tables of the paper: our figures beside the published ones."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from driftline.experiments.experiment_spec import ExperimentSpec, MethodSpec
from driftline.experiments.provenance import command_of, provenance
from driftline.experiments.run_executor import RunExecutor
from driftline.experiments.run_plan import Outcomes, RunPlan
from driftline.streams.catalogue import describe

PERCENT_MEASURES = ("error", "expected_error", "mean_bound")
FAR_POINTS = 3.0
"""An error that differs from the published one by more percentage points is far from it."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A figure of ours beside the published one.

    Attributes
    ----------
    value : float or None
        Our figure; None if there is none.
    published : float, str or None
        The paper's figure, or the text that it prints instead; None where the paper has no such cell.
    note : str
        Why there is no value, or which part of the stream it is for.
    remark : str
        A comment, where the value is far from the published one.
    is_summary : bool
        Whether it is the mean or average rank of its row.
    """

    value: float | None
    published: float | str | None = None
    note: str = ""
    remark: str = ""
    is_summary: bool = False

    @property
    def difference(self) -> float | None:
        """Our figure minus the published one; None if one is missing or if they summarise different streams."""
        if self.value is None or not isinstance(self.published, int | float) or (self.is_summary and self.note):
            return None
        return self.value - self.published


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table; `ours` if the paper has no such row."""

    name: str
    cells: tuple[TableCell, ...]
    ours: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table of the paper, reproduced.

    Attributes
    ----------
    title, about : str
        Its heading, and how it was made.
    columns : tuple of str
        Headings of the columns, without that of the row names.
    rows : tuple of TableRow
        The rows.
    digits : int
        Number of digits after the decimal point.
    provenance : str
        The command, versions, dates and code that made it, and which results are stale.
    in_percent : bool
        Whether its figures are errors in percent.
    """

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    digits: int = 1
    provenance: str = ""
    in_percent: bool = False


def make_table(experiment: ExperimentSpec, level: str, executor: RunExecutor) -> ResultTable:
    """Do the runs of an experiment that have no result yet, and return its table.

    Parameters
    ----------
    experiment : ExperimentSpec
        The experiment.
    level : {"quick", "usual", "full"}
        How much of it is run.
    executor : RunExecutor
        Does the runs and keeps their results.

    Returns
    -------
    ResultTable
        Our figures beside the published ones; a cell whose run failed gives the reason.
    """
    command = command_of(experiment.name, level)
    if experiment.kind == "datasets":
        return replace(_stream_sizes(experiment), provenance=provenance(command, []))
    plan = RunPlan(experiment, experiment.levels[level])
    chosen, evaluated = plan.outcomes(executor)
    with_remarks = plan.level != experiment.levels["quick"]  # remarks are about the longer runs
    rows = [_row(experiment, method, plan, chosen, evaluated, with_remarks) for method in experiment.methods]
    sources = provenance(command, [*chosen.values(), *evaluated.values()])
    return replace(_with_summary(experiment, plan.level.streams, rows), provenance=sources)


def _row(
    experiment: ExperimentSpec,
    method: MethodSpec,
    plan: RunPlan,
    chosen: Outcomes,
    evaluated: Outcomes,
    with_remarks: bool,
) -> TableRow:
    cells = []
    for stream in plan.level.streams:
        published = method.published[experiment.streams.index(stream)] if method.published else None
        cell = replace(_cell(method, stream, plan, chosen, evaluated), published=published)
        is_far = cell.difference is not None and abs(cell.difference) > FAR_POINTS
        cells.append(replace(cell, remark=method.remarks.get(stream, "")) if is_far and with_remarks else cell)
    notes = filter(None, [method.note, _seeds_note(method, plan.level.streams)])
    return TableRow(method.row, tuple(cells), method.ours, "; ".join(notes))


def _cell(method: MethodSpec, stream: str, plan: RunPlan, chosen: Outcomes, evaluated: Outcomes) -> TableCell:
    """Return the mean over the seeds, or why there is none."""
    scale = plan.scale_outcome(method, stream, chosen)
    outcomes = [evaluated[run.key] for run in plan.runs(method, stream, chosen)]
    failed = next((one for one in (scale, *outcomes) if one is not None and one.result is None), None)
    if failed is not None:
        return TableCell(None, note=failed.reason)
    results = [outcome.result or {} for outcome in outcomes]
    factor = 100.0 if method.measure in PERCENT_MEASURES else 1.0
    value = factor * float(np.mean([result[method.measure] for result in results]))
    return TableCell(value, note=_rows_note(stream, results))


def _seeds_note(method: MethodSpec, streams: tuple[str, ...]) -> str:
    """Return which seeds the mean is taken over, if there are several."""
    if method.seeds == 1:
        return ""
    single = [stream for stream in streams if stream in method.one_seed]
    return f"mean over the seeds 0 to {method.seeds - 1}" + (f", seed 0 only on {', '.join(single)}" if single else "")


def _rows_note(stream: str, results: list[dict[str, Any]]) -> str:
    """Return how many rows a cell is for, if not for all."""
    n_rows = results[0]["n_rows"]
    return "" if n_rows == describe(stream).rows else f"first {n_rows:,} rows"


def _with_summary(experiment: ExperimentSpec, columns: tuple[str, ...], rows: list[TableRow]) -> ResultTable:
    """Return the table with its last column."""
    if experiment.summary:
        summaries = _average_ranks(rows) if experiment.summary == "rank" else _means(rows)
        published = {method.row: method.summary for method in experiment.methods}
        rows = [
            replace(row, cells=(*row.cells, _summary_cell(row, summaries[row.name], published[row.name], experiment)))
            for row in rows
        ]
        columns = (*columns, "average rank" if experiment.summary == "rank" else "mean")
    in_percent = all(method.measure in PERCENT_MEASURES for method in experiment.methods)
    digits = 1 if in_percent else 3
    return ResultTable(experiment.title, experiment.about, columns, tuple(rows), digits, in_percent=in_percent)


def _summary_cell(row: TableRow, value: float | None, published: float | None, experiment: ExperimentSpec) -> TableCell:
    """Return the last cell of a row, with a note if the row does not have a value for every stream."""
    n, n_streams = sum(cell.value is not None for cell in row.cells), len(experiment.streams)
    note = f"over {n} of {n_streams} streams" if value is not None and n != n_streams else ""
    return TableCell(value, published, note, is_summary=True)


def _average_ranks(rows: list[TableRow]) -> dict[str, float | None]:
    """Return the mean rank of each of the paper's rows, over the streams for which it has a value."""
    ranked = [row for row in rows if not row.ours]
    values = np.array([[np.nan if cell.value is None else cell.value for cell in row.cells] for row in ranked])
    ranks = np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        present = ~np.isnan(values[:, j])
        ranks[present, j] = rankdata(values[present, j])
    means = {
        row.name: None if np.isnan(own).all() else float(np.nanmean(own))
        for row, own in zip(ranked, ranks, strict=True)
    }
    return {row.name: means.get(row.name) for row in rows}


def _means(rows: list[TableRow]) -> dict[str, float | None]:
    values = {row.name: [cell.value for cell in row.cells if cell.value is not None] for row in rows}
    return {name: float(np.mean(some)) if some else None for name, some in values.items()}


def _stream_sizes(experiment: ExperimentSpec) -> ResultTable:
    """Return the sizes of the streams beside those that the paper gives."""
    rows = []
    for name in experiment.streams:
        dataset = describe(name)
        ours, theirs = dataset.measured, dataset.published
        pairs = [(getattr(ours, field, None), getattr(theirs, field, None)) for field in ("rows", "columns", "classes")]
        note = "not available" if ours is None else ""
        rows.append(TableRow(name, tuple(TableCell(value, published, note) for value, published in pairs)))
    return ResultTable(experiment.title, experiment.about, ("time steps", "features", "classes"), tuple(rows), digits=0)
