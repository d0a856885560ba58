"""The command ``driftline compare``: compare classifiers on a stream."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer
from rich.measure import Measurement
from rich.table import Table

from driftline.adapters.imputed import ImputedClassifier
from driftline.cli import FAILED, INTERRUPTED, print_error
from driftline.cli.guarantees import create_model
from driftline.cli.output import STDOUT, DataConsole, check_outputs, print_written
from driftline.cli.run import check_classes, check_report, run_record, write_outputs
from driftline.cli.source import ReadOptions, check_positive, open_source, print_columns, readable_again
from driftline.errors import ConfigError, DataError, DriftlineError, PositiveLabelError
from driftline.evaluation import Comparison, compare, evaluate
from driftline.evaluation.metrics import METRICS, metric_named
from driftline.evaluation.summary_table import label_hint
from driftline.guarantees import Guarantees
from driftline.registry import describe
from driftline.report import ReportEntry
from driftline.report.formatting import format_mean_bound

MAX_WIDTH = 1000
"""Most characters in a line of the table."""


def compare_models(
    source: str,
    reading: ReadOptions,
    models: str,
    *,
    delay: int,
    limit: int | None,
    seed: int,
    guarantees: Guarantees | None,
    positive: str | None,
    by: str,
    report: Path | None,
    json: Path | None,
    quiet: bool,
) -> None:
    """Run classifiers one after the other, print a comparison, and write the requested files."""
    metric = metric_named(by)
    check_report(report)
    check_outputs([source], report=report, json=json)
    names = [name.strip() for name in models.split(",") if name.strip()]
    if len(set(names)) < len(names) or len(names) < 2:
        raise ConfigError(f"--models expects two or more different names, separated by commas; got {models!r}")
    candidates = {name: create_model(name, guarantees, {"random_state": seed}) for name in names}
    quiet = quiet or STDOUT in (json, report)
    entries: list[ReportEntry] = []
    failures: dict[str, DriftlineError] = {}
    imputed: dict[str, int] = {}
    interrupted = False
    with readable_again(source) as place:
        for name, model in candidates.items():
            stream = open_source(place, reading)
            if name == names[0]:
                if not quiet:
                    print_columns(stream)
                check_positive(stream, positive)
            # scikit-learn's classifiers refuse missing values; all others take them.
            wrapped = ImputedClassifier(model) if describe(name).family == "scikit-learn" else model
            try:
                run = evaluate(
                    wrapped,
                    stream,
                    delay=delay,
                    limit=limit,
                    guarantees=guarantees,
                    positive=positive,
                    progress=not quiet,
                )
            except PositiveLabelError:  # it concerns the stream, so that the others cannot succeed either
                raise
            except DriftlineError as error:  # the other classifiers may succeed
                failures[name] = error
                continue
            except Exception as error:  # libraries may raise anything
                failures[name] = DataError(f"{type(error).__name__}: {error}")
                continue
            metric.positive_class(run.timeline.support, positive)  # raises before the others run in vain
            if getattr(wrapped, "n_imputed_", 0):
                imputed[name] = wrapped.n_imputed_
            interrupted = not run.finished
            if interrupted:
                break
            summary = replace(run.summary, model=type(model).__name__)
            entries.append(ReportEntry(name, summary, run.timeline, run.finished))
            limit = run.summary.n_rows  # the same rows for all, even if the file grows
            check_classes(entries[-1], reading.label)
    if entries:
        ranked = compare({entry.name: entry.timeline for entry in entries}, by, positive)
        try:
            record = _record(entries, ranked, candidates, imputed, failures)
            write_outputs(entries, record, report, json, {name: str(error) for name, error in failures.items()}, by)
        finally:
            if not quiet:
                _show(entries, ranked, imputed, failures)
        if not quiet:
            print_written(report, json)
    for name, failure in failures.items():
        print_error(f"{name}: {failure.for_command_line()}")
    if failures or interrupted:
        raise typer.Exit(INTERRUPTED if interrupted else FAILED)


def _record(
    entries: Sequence[ReportEntry],
    ranked: Sequence[Comparison],
    candidates: dict[str, Any],
    imputed: Mapping[str, int],
    failures: Mapping[str, DriftlineError],
) -> dict[str, Any]:
    """Return the results for the JSON output, with the best classifier first."""
    by_name = {entry.name: run_record(entry, candidates[entry.name]) for entry in entries}
    first = by_name[entries[0].name]
    shared = {name: first[name] for name in ("schema", "stream", "n_rows", "n_classes", "command", "versions")}
    finished = len(entries) == len(candidates)
    models = [by_name[place.name] | asdict(place) | {"n_imputed": imputed.get(place.name, 0)} for place in ranked]
    failed = [{"name": name, "error": error.for_command_line()} for name, error in failures.items()]
    return {**shared, "finished": finished, "models": models, "failed": failed}


def _show(
    entries: Sequence[ReportEntry],
    ranked: Sequence[Comparison],
    imputed: Mapping[str, int],
    failures: Mapping[str, DriftlineError],
) -> None:
    console = DataConsole()
    summaries = {entry.name: entry.summary for entry in entries}
    first, by = entries[0].summary, ranked[0].by
    title = f"{first.stream}: {first.n_rows:,} rows, {first.n_classes} classes"
    if by != "error":
        metric = METRICS[by]
        is_of_class = metric.classes in ("positive", "ranked") and first.positive is not None
        title += f", by {metric.name}{f' of {first.positive}' if is_of_class else ''} ({metric.better})"
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    # The bounds are about the error; without them, most names and another measure fit into 80 columns.
    measure, bound = ([], ["bound"]) if by == "error" else ([METRICS[by].name.replace(" ", "\n")], [])
    for heading in ("rank", "model", "error", *measure, "behind the best", "p", *bound, "rows/s"):
        justify = "left" if heading == "model" else "right"
        table.add_column(heading, justify=justify, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    for place in ranked:
        summary = summaries[place.name]
        table.add_row(
            f"{place.rank:g}",
            place.name,
            f"{place.error:.2%}",
            *[_value(place) for _ in measure],
            _behind(place),
            "" if place.p is None else "<0.001" if place.p < 0.001 else f"{place.p:.3f}",
            *["" if summary.mean_bound is None else format_mean_bound(summary) for _ in bound],
            f"{summary.rows_per_second:,.0f}",
        )
    for name in failures:
        table.add_row("–", name, "failed")
    width = Measurement.get(console, console.options.update(max_width=MAX_WIDTH), table).maximum
    console.print(title, soft_wrap=True)
    DataConsole(width=max(width, console.width)).print(table)  # no cell is cut off in a narrow terminal
    for name, error in failures.items():
        console.print(f"{name} failed: {error.for_command_line()}")
    for name, n_values in imputed.items():
        values = "1 missing value was" if n_values == 1 else f"{n_values:,} missing values were"
        console.print(f"{name} cannot take missing values: {values} replaced by the running mean of the column.")
    for hint in label_hint(summaries[ranked[0].name], ranked[0].name):
        console.print(hint)


def _behind(place: Comparison) -> str:
    """Return how much worse than the best it is, in percentage points for shares, with the interval if there is one."""
    if not place.behind and place.low is None:
        return ""
    factor, decimals = (100, 2) if METRICS[place.by].is_share else (1, 3)
    behind, *interval = (
        f"{factor * value:+.{decimals}f}" for value in (place.behind, place.low, place.high) if value is not None
    )
    return f"{behind} [{', '.join(interval)}]" if interval else behind


def _value(place: Comparison) -> str:
    if place.value is None:
        return "–"
    return f"{place.value:.2%}" if METRICS[place.by].is_share else f"{place.value:.3f}"
