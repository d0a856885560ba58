"""The commands about published streams: list them, say what is known of one, fetch them."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from driftline.cli.output import wrapped, write_json_or_show
from driftline.errors import DriftlineError
from driftline.streams.catalogue import Column, Dataset, Statistics, describe, names
from driftline.streams.catalogue.loading import normal_form
from driftline.streams.catalogue.locations import Found, find

INDENT = 12
"""Width of the headings of what is known of a stream."""


def list_all(json: Path | None) -> None:
    """List the published streams."""
    datasets = [describe(name) for name in names()]
    write_json_or_show([_record(dataset) for dataset in datasets], json, partial(_show_all, datasets))


def _show_all(datasets: Sequence[Dataset]) -> None:
    table = Table(caption="! beware: driftline data info NAME says of what", caption_justify="left")
    table.box, table.padding, table.pad_edge = None, (0, 2, 0, 0), False
    for heading in ("name", "rows", "columns", "classes", "majority", "no change", "where"):
        table.add_column(heading, justify="left" if heading in ("name", "where") else "right", no_wrap=True)
    for dataset in datasets:
        statistics = dataset.measured or dataset.published
        table.add_row(
            f"{dataset.name} !" if dataset.traps else dataset.name,
            f"{dataset.rows:,}",
            str(len(dataset.columns)),
            str(len(dataset.classes)),
            *(("", "") if statistics is None else (f"{statistics.majority:.1f}", f"{statistics.no_change:.2f}")),
            _where(find(dataset)),
        )
    Console().print(table, highlight=False)


def show_one(name: str, json: Path | None) -> None:
    """Say all that is known of a published stream."""
    dataset = describe(name)
    write_json_or_show(_record(dataset), json, partial(_show, dataset))


def _show(dataset: Dataset) -> None:
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    console.print(wrapped(f"{dataset.name}: {dataset.title}", console.width, indent=0), style="bold", end="\n\n")
    for heading, text in _facts(dataset, find(dataset)):
        for i, paragraph in enumerate(text.splitlines()):
            console.print(f"{'' if i else heading:<{INDENT}}", style="bold", end="")
            console.print(wrapped(paragraph, console.width, INDENT))


def fetch_all(wanted: Sequence[str]) -> None:
    """Download streams; where one fails, the others are fetched all the same."""
    datasets = [describe(name) for name in (names() if list(wanted) == ["all"] else wanted)]
    failed = []
    for dataset in datasets:
        try:
            typer.echo(f"{dataset.name}: {normal_form(dataset)}")
        except DriftlineError as error:
            failed.append(dataset.name)
            typer.echo(f"driftline: {error}", err=True)
    if failed:
        typer.echo(f"driftline: not fetched: {', '.join(failed)}", err=True)
        raise typer.Exit(1)


def _where(found: Found | None) -> str:
    if found is None:
        return "not here"
    return f"{found.place}, raw" if found.is_original else found.place


def _record(dataset: Dataset) -> dict[str, Any]:
    """Return all that is known of a stream, for programs; `place` is None and `files` empty if it is not here."""
    found = find(dataset)
    return {
        **asdict(dataset),
        "rows": dataset.rows,
        "place": found and found.place,
        "files": [str(path) for path in found.paths] if found else [],
        "raw": found is not None and found.is_original,
    }


def _facts(dataset: Dataset, found: Found | None) -> list[tuple[str, str]]:
    """Return headings and what is below them, paragraph by paragraph."""
    groups: dict[tuple[Any, ...], list[Column]] = {}
    for column in dataset.columns:
        groups.setdefault((column.kind, column.meaning, column.values, column.leaks), []).append(column)
    return [
        ("where", "\n".join([_where(found), *map(str, found.paths if found else ())])),
        ("beware", "\n".join(dataset.traps)),
        ("note", "\n".join(dataset.notes)),
        ("columns", "\n".join([f"{len(dataset.columns)} in all", *map(_columns, groups.values())])),
        ("classes", ", ".join(f"{label}: {name}" for label, name in enumerate(dataset.classes))),
        ("measured", _statistics(dataset.measured)),
        ("published", _statistics(dataset.published)),
        ("cite", dataset.citation),
        ("home", "\n".join(dataset.home)),
        ("licence", dataset.licence),
        ("derivation", dataset.derivation),
        ("originals", "\nor\n".join("\n".join(file.address for file in files) for files in dataset.originals)),
        ("file", f"{dataset.file}: X of {dataset.rows:,} × {len(dataset.columns)}, y of {dataset.rows:,}"),
        ("sha256", dataset.sha256 or "not known"),
        ("content", dataset.content or "not known"),
    ]


def _columns(group: list[Column]) -> str:
    column, several = group[0], [column.name for column in group]
    label = ", ".join(several) if len(several) <= 10 else f"{several[0]} … {several[-1]}"
    values = " ".join(column.values) if len(column.values) <= 20 else f"{' '.join(column.values[:9])} …"
    listed = f" of {len(column.values)} values, {values}" if column.values else ""
    return f"{label}: {column.kind}{listed}{'; ' if column.meaning else ''}{column.meaning}"


def _statistics(statistics: Statistics | None) -> str:
    if statistics is None:
        return ""
    return (
        f"{statistics.rows:,} rows × {statistics.columns}, {statistics.classes} classes, "
        f"majority {statistics.majority}%, no change {statistics.no_change}%"
    )
