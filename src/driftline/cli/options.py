"""Options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from driftline import registry

READING = "Reading the file"
OUTPUT = "Output"


class OnBadRow(StrEnum):
    """What becomes of malformed rows."""

    STOP = "stop"
    SKIP = "skip"


def _models(incomplete: str) -> list[str]:
    return [name for name in registry.names() if name.startswith(incomplete)]


def _several_models(incomplete: str) -> list[str]:
    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in _models(last)]


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file (CSV, JSON lines, ARFF, Parquet, NPZ; gzip), - for the standard input, or a published stream "
        "(driftline data list).",
        show_default=False,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="COLUMN", help="The column to predict: its name, or its position from 0.", show_default=False
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The column that says when a row came, as numbers or ISO dates.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMN",
        help="A column to leave out; may be repeated.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="A column of categories that look like numbers; may be repeated.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
BadRows = Annotated[
    OnBadRow,
    typer.Option("--on-bad-row", help="Stop at a malformed row, or skip and count such.", rich_help_panel=READING),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a CSV file names the columns; by default that is found out.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        help="What stands between the cells of a CSV file; by default that is found out.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="Encoding of a text file.", rich_help_panel=READING)
]
Model = Annotated[
    str,
    typer.Option(
        "--model", metavar="NAME", help="The classifier (driftline models lists all).", autocompletion=_models
    ),
]
Models = Annotated[
    str,
    typer.Option(
        "--models",
        metavar="NAMES",
        help="The classifiers, with commas between them (driftline models lists all).",
        autocompletion=_several_models,
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the classifier (driftline models NAME shows them); may be repeated.",
        show_default=False,
    ),
]
Delay = Annotated[
    int, typer.Option("--delay", metavar="ROWS", min=0, help="How many rows later a label comes than its row.")
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="ROWS", min=1, help="How many rows to stop after.", show_default=False),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of whatever is random in a classifier.")]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a report to read in a browser, one HTML file that needs nothing else.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save",
        metavar="FILE",
        help="Write the model as it is after the last row, for driftline predict and explain.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the figures for programs; - is the standard output, and nothing else is printed.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and draw no bar.", rich_help_panel=OUTPUT)
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A file that driftline run --save wrote, or a model's save.", show_default=False
    ),
]
