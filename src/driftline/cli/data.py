"""The commands ``driftline data``: list, describe and download published streams."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from driftline.cli import print_error
from driftline.cli.output import DataConsole, print_line, wrapped, write_json_or_show
from driftline.errors import DriftlineError
from driftline.streams.catalogue import Dataset, DatasetColumn, DatasetStatistics, describe, names
from driftline.streams.catalogue.loading import converted_file
from driftline.streams.catalogue.locations import DatasetFiles, find_dataset

HEADING_CHARACTERS = 12
"""Width of the headings in the description of a stream."""


def list_all(json: Path | None) -> None:
    """List the published streams."""
    datasets = [describe(name) for name in names()]
    write_json_or_show([_record(dataset) for dataset in datasets], json, partial(_print_table, datasets))


def _print_table(datasets: Sequence[Dataset]) -> None:
    table = Table(caption="! has caveats: 'driftline data info NAME' shows them", caption_justify="left")
    table.box, table.padding, table.pad_edge = None, (0, 2, 0, 0), False
    for heading in ("name", "rows", "columns", "classes", "majority", "no change", "where"):
        table.add_column(heading, justify="left" if heading in ("name", "where") else "right", no_wrap=True)
    for dataset in datasets:
        statistics = dataset.measured or dataset.published
        table.add_row(
            f"{dataset.name} !" if dataset.caveats else dataset.name,
            f"{dataset.rows:,}",
            str(len(dataset.columns)),
            str(len(dataset.classes)),
            *(("", "") if statistics is None else (f"{statistics.majority:.1f}", f"{statistics.no_change:.2f}")),
            _location(find_dataset(dataset)),
        )
    DataConsole().print(table)


def show_one(name: str, json: Path | None) -> None:
    """Show the description of a published stream."""
    dataset = describe(name)
    write_json_or_show(_record(dataset), json, partial(_print_description, dataset))


def _print_description(dataset: Dataset) -> None:
    console = DataConsole(soft_wrap=True)
    console.print(wrapped(f"{dataset.name}: {dataset.title}", console.width, indent=0), style="bold", end="\n\n")
    for heading, text in _description(dataset, find_dataset(dataset)):
        for i, paragraph in enumerate(text.splitlines()):
            console.print(f"{'' if i else heading:<{HEADING_CHARACTERS}}", style="bold", end="")
            console.print(wrapped(paragraph, console.width, HEADING_CHARACTERS))


def fetch_all(wanted: Sequence[str]) -> None:
    """Download streams; if one fails, go on with the others."""
    datasets = [describe(name) for name in (names() if list(wanted) == ["all"] else wanted)]
    failed = []
    for dataset in datasets:
        try:
            print_line(f"{dataset.name}: {converted_file(dataset)}")
        except DriftlineError as error:
            failed.append(dataset.name)
            print_error(str(error))
    if failed:
        print_error(f"not downloaded: {', '.join(failed)}")
        raise typer.Exit(1)


def _location(found: DatasetFiles | None) -> str:
    if found is None:
        return "not downloaded"
    return f"{found.place}, raw" if found.is_original else found.place


def _record(dataset: Dataset) -> dict[str, Any]:
    """Return the description of a stream for JSON; `place` is None and `files` empty if it is not on this computer."""
    found = find_dataset(dataset)
    return {
        **asdict(dataset),
        "rows": dataset.rows,
        "place": found and found.place,
        "files": [str(path) for path in found.paths] if found else [],
        "raw": found is not None and found.is_original,
    }


def _description(dataset: Dataset, found: DatasetFiles | None) -> list[tuple[str, str]]:
    """Return headings and the texts below them; each line of a text is a paragraph."""
    groups: dict[tuple[Any, ...], list[DatasetColumn]] = {}
    for column in dataset.columns:
        groups.setdefault((column.kind, column.meaning, column.values, column.leaks), []).append(column)
    is_bundled = dataset.format == "bundled"
    return [
        ("where", "\n".join([_location(found), *map(str, found.paths if found else ())])),
        ("caveats", "\n".join(dataset.caveats)),
        ("notes", "\n".join(dataset.notes)),
        ("columns", "\n".join([f"{len(dataset.columns)} in total", *map(_describe_columns, groups.values())])),
        ("classes", ", ".join(dataset.classes if is_bundled else _numbered(dataset.classes))),
        ("measured", _describe_statistics(dataset.measured)),
        ("published", _describe_statistics(dataset.published)),
        ("cite", dataset.citation),
        ("home", "\n".join(dataset.home)),
        ("licence", dataset.licence),
        ("derivation", dataset.derivation),
        ("originals", "\nor\n".join("\n".join(file.address for file in files) for files in dataset.originals)),
        ("file", f"{dataset.file}: {_describe_content(dataset)}"),
        ("sha256", dataset.sha256 or "unknown"),
        ("content", dataset.content or "unknown"),
    ]


def _numbered(classes: Sequence[str]) -> list[str]:
    return [f"{label}: {name}" for label, name in enumerate(classes)]


def _describe_content(dataset: Dataset) -> str:
    """Describe what is in the file of a stream."""
    if dataset.format == "bundled":
        return f"{dataset.rows:,} rows: the time, {len(dataset.columns)} columns and the label"
    return f"X of {dataset.rows:,} × {len(dataset.columns)}, y of {dataset.rows:,}"


def _describe_columns(group: list[DatasetColumn]) -> str:
    """Describe columns that differ only in their names."""
    column, names = group[0], [column.name for column in group]
    listed_names = ", ".join(names) if len(names) <= 10 else f"{names[0]} … {names[-1]}"
    values = " ".join(column.values) if len(column.values) <= 20 else f"{' '.join(column.values[:9])} …"
    listed_values = f" with {len(column.values)} values, {values}" if column.values else ""
    return f"{listed_names}: {column.kind}{listed_values}{'; ' if column.meaning else ''}{column.meaning}"


def _describe_statistics(statistics: DatasetStatistics | None) -> str:
    if statistics is None:
        return ""
    return (
        f"{statistics.rows:,} rows × {statistics.columns}, {statistics.classes} classes, "
        f"majority {statistics.majority}%, no change {statistics.no_change}%"
    )
