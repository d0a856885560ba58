"""The command ``driftline run``: run a classifier over a stream."""

import json as json_format
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from sklearn.exceptions import NotFittedError

from driftline.cli import INTERRUPTED
from driftline.cli.costs import own_costs, read_costs
from driftline.cli.guarantees import create_model
from driftline.cli.output import (
    STDOUT,
    DataConsole,
    check_outputs,
    command,
    name_file_in_errors,
    print_written,
    wrapped,
    write,
    write_json,
)
from driftline.cli.source import ReadOptions, check_positive, column_records, open_source, print_columns
from driftline.errors import ConfigError, DataError, MissingExtraError
from driftline.evaluation import Change, evaluate
from driftline.evaluation.summary_table import summary_table
from driftline.guarantees import Guarantees
from driftline.registry import describe
from driftline.report import ReportEntry, summary_sentences, to_html
from driftline.report.formatting import format_change, format_count
from driftline.streams import FileStream, Stream
from driftline.streams.files import numeric_layout
from driftline.utils.versions import versions

SCHEMA = 2
"""Version of the JSON output; it increases when a field is removed or changes its meaning, not when one is added."""


def run_stream(
    source: str,
    reading: ReadOptions,
    name: str,
    parameters: Sequence[str],
    *,
    delay: int,
    limit: int | None,
    seed: int,
    guarantees: Guarantees | None,
    positive: str | None,
    label_memory: bool,
    costs: Path | None,
    report: Path | None,
    save: Path | None,
    json: Path | None,
    layout_file: Path | None,
    quiet: bool,
) -> None:
    """Run a classifier over a stream, print the results, and write the requested files."""
    check_report(report)
    check_outputs([source], report=report, save=save, json=json, write_layout=layout_file)
    if save == STDOUT:
        raise ConfigError("--save needs a file; a model cannot be written to the standard output")
    mistakes = read_costs(costs)
    given = _parameters(name, parameters, label_memory=label_memory) | own_costs(name, mistakes)
    model = create_model(name, guarantees, {"random_state": seed} | given)
    if save is not None and not describe(name).is_ours:
        raise ConfigError(f"{name} cannot be saved; omit --save, or choose another --model")
    stream = open_source(source, reading)
    quiet = quiet or STDOUT in (json, report)
    if layout_file is not None:
        _write_layout(stream, layout_file)
    if not quiet:
        print_columns(stream)
    check_positive(stream, positive)
    run = evaluate(
        model,
        stream,
        delay=delay,
        limit=limit,
        guarantees=guarantees,
        positive=positive,
        costs=mistakes,
        progress=not quiet,
        on_change=None if quiet else _print_change,
    )
    entry = ReportEntry(name, run.summary, run.timeline, run.finished)
    check_classes(entry, reading.label)
    try:
        write_outputs([entry], run_record(entry, model) | {"columns": column_records(stream)}, report, json)
        if save is not None:
            _save(run.model, save, _notes(stream, reading, run.summary.n_rows))
    finally:
        if not quiet:
            _show(entry)  # even if a file could not be written
    if not quiet:
        print_written(report, save, json, layout_file)
    if not run.finished:
        raise typer.Exit(INTERRUPTED)


def _write_layout(stream: Stream, path: Path) -> None:
    if not isinstance(stream, FileStream) or path == STDOUT:
        raise ConfigError("--write-layout needs a file to write, and a source that is a file other than NPZ")
    with name_file_in_errors(path):
        stream.write_layout(path)


def _print_change(change: Change) -> None:
    with suppress(OSError, ValueError):  # a closed standard error must not stop the run
        sys.stderr.write(f"{format_change(change)}\n")
        sys.stderr.flush()


def _save(model: Any, path: Path, notes: dict[str, Any]) -> None:
    try:
        with name_file_in_errors(path):
            model.save(path, notes=notes)
    except NotFittedError as error:
        raise DataError(
            f"there is no model to save to {path}: no label arrived before the end of the stream"
        ) from error


def check_report(path: Path | None) -> None:
    """Raise MissingExtraError before the run if a report is requested that could not be made."""
    if path is not None and find_spec("jinja2") is None:
        raise MissingExtraError("--report needs jinja2; pip install 'driftline[report]'")


def parse_parameters(assignments: Sequence[str]) -> dict[str, Any]:
    """Return parameters by name; a value that is not JSON is text."""
    values = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not sign or not name:
            raise ConfigError(f"--set expects NAME=VALUE, such as n_components=100; got {assignment!r}")
        try:
            values[name] = json_format.loads(value)
        except (ValueError, RecursionError):
            values[name] = value
    return values


def _parameters(name: str, assignments: Sequence[str], *, label_memory: bool) -> dict[str, Any]:
    """Return the parameters of a classifier, given by --set and --label-memory."""
    given = parse_parameters(assignments)
    if not label_memory:
        return given
    if "label_memory" not in describe(name).parameters:
        raise ConfigError(f"--label-memory needs a classifier that has this parameter, such as amrc; got {name}")
    return given | {"label_memory": True}


def check_classes(entry: ReportEntry, label: str | None) -> None:
    """Raise DataError if the label was the same in all rows, so that there was nothing to learn."""
    if entry.finished and entry.summary.n_classes == 1:
        which = "" if label is None else f" {label!r}"
        raise DataError(
            f"the label{which} is always {entry.timeline.classes[0]!r} ({format_count(entry.summary.n_rows, 'row')}); "
            "a classifier needs two or more: choose another --label, or more rows"
        )


def _notes(stream: Stream, reading: ReadOptions, n_rows: int) -> dict[str, Any]:
    """Return the notes that are saved with a model; they tell `driftline predict` how to read new files."""
    return {
        "layout": getattr(stream, "layout", None) or numeric_layout(stream.columns),
        "columns": list(stream.columns),
        "label": reading.label,
        "stream": stream.name,
        "n_rows": n_rows,
        "command": command(),
        "versions": versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def run_record(entry: ReportEntry, model: Any) -> dict[str, Any]:
    """Return the results of a run for the JSON output."""
    summary, searched = entry.summary, entry.timeline.searched_changes()
    return {
        "schema": SCHEMA,
        **summary.to_dict(),
        "model": entry.name,
        "estimator": summary.model,
        "parameters": model.get_params() if hasattr(model, "get_params") else {},
        "seconds_per_step": summary.seconds / summary.n_rows,
        "changes": [asdict(change) for change in entry.timeline.changes()],
        "change_search": None if searched is None else searched.to_dict(),
        "finished": entry.finished,
        "command": command(),
        "versions": versions(),
    }


def write_outputs(
    entries: Sequence[ReportEntry],
    content: dict[str, Any],
    report: Path | None,
    json: Path | None,
    failures: Mapping[str, str] | None = None,
    by: str = "error",
) -> None:
    """Write the report, which ranks classifiers by a measure, and the JSON output, where requested."""
    if report is not None:
        page = to_html(entries, command=command(), versions=versions(), failures=failures, by=by)
        write(report, page.encode())
    if json is not None:
        write_json(content, json)


def _show(entry: ReportEntry) -> None:
    """Print the results of a run, as sentences and as figures."""
    console = DataConsole(soft_wrap=True)
    for sentence in summary_sentences([entry]):
        console.print(wrapped(sentence, min(console.width, 100), 0))
    console.print()
    console.print(summary_table(entry.summary))
