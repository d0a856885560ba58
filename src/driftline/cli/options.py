"""The options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from driftline import registry

READING = "Options for reading a file"
OUTPUT = "Output options"
GUARANTEES = "Guarantees"


class OnBadRow(StrEnum):
    """What to do with malformed rows."""

    STOP = "stop"
    SKIP = "skip"


def _complete_model(incomplete: str) -> list[str]:
    return [name for name in registry.names() if name.startswith(incomplete)]


def _complete_models(incomplete: str) -> list[str]:
    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in _complete_model(last)]


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file (CSV, JSON lines, ARFF, Parquet or NPZ; also gzip-compressed), - for the standard input, or the "
        "name of a published stream (see driftline data list).",
        show_default=False,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="The column to predict: its name, or its position counted from 0.",
        show_default=False,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The column with the arrival time of each row, as numbers or ISO dates.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMN",
        help="A column to ignore. Can be repeated.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="A column whose numbers are codes of categories. Can be repeated.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        "--use",
        metavar="COLUMN",
        help="A column to learn from although it looks like a time or an identifier. Can be repeated.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
LayoutFile = Annotated[
    Path | None,
    typer.Option(
        "--layout",
        metavar="FILE",
        help="Read the file as this TOML file says, which run --write-layout writes; other options override it.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
BadRows = Annotated[
    OnBadRow,
    typer.Option("--on-bad-row", help="Stop at a malformed row, or skip it and count it.", rich_help_panel=READING),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a CSV file contains the names of the columns. Detected by default.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        help="The character between the cells of a CSV file. Detected by default.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="The encoding of a text file.", rich_help_panel=READING)
]
Model = Annotated[
    str,
    typer.Option(
        "--model", metavar="NAME", help="The classifier (see driftline models).", autocompletion=_complete_model
    ),
]
Models = Annotated[
    str,
    typer.Option(
        "--models",
        metavar="NAMES",
        help="The classifiers, separated by commas (see driftline models).",
        autocompletion=_complete_models,
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the classifier (see driftline models NAME). Can be repeated.",
        show_default=False,
    ),
]
Delay = Annotated[
    int, typer.Option("--delay", metavar="ROWS", min=0, help="Number of rows by which each label arrives late.")
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="ROWS", min=1, help="Stop after this number of rows.", show_default=False),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers of a classifier.")]
LabelMemory = Annotated[
    bool,
    typer.Option(
        "--label-memory",
        help="Also predict with the last labels, for labels that come in runs (parameter label_memory of amrc).",
    ),
]
CostsFile = Annotated[
    Path | None,
    typer.Option(
        "--costs",
        metavar="FILE",
        help='Predict by the costs of mistakes in a JSON or TOML file, such as {"fraud": {"fine": 50}} with the true '
        "label first. Pairs that are left out cost 1.",
        show_default=False,
    ),
]
ErrorLevel = Annotated[
    float | None,
    typer.Option(
        "--error",
        metavar="SHARE",
        help="Answer only the rows that are sure enough, so that in the long run at most this share of the answers is "
        "wrong; the other rows are handed over, for somebody else to decide. By default 0.05, which is 5 %.",
        show_default=False,
        rich_help_panel=GUARANTEES,
    ),
]
CoverageLevel = Annotated[
    float | None,
    typer.Option(
        "--coverage",
        metavar="SHARE",
        help="Give a set of labels for each row, as small as possible, so that in the long run at least this share "
        "of the sets contains the true label. By default 0.9. (AMRC's parameter coverage is another: of its bound.)",
        show_default=False,
        rich_help_panel=GUARANTEES,
    ),
]
ToleratedLevel = Annotated[
    float | None,
    typer.Option(
        "--tolerated",
        metavar="SHARE",
        help="Raise an alarm if the error exceeds this share. An alarm is also raised, with or without this option, if "
        "the error exceeds what it was before by more than 5 points.",
        show_default=False,
        rich_help_panel=GUARANTEES,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="LABEL",
        help="The class that precision, recall and the areas under curves are about. By default the rarer of two "
        "classes.",
        show_default=False,
    ),
]
By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="MEASURE",
        help="What the ranking goes by: error, kappa, balanced-accuracy, g-mean, macro-f1, recall, precision, f1, "
        "roc-auc, average-precision, log-loss or brier-score.",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a report for the browser: one HTML file that needs no other files.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save",
        metavar="FILE",
        help="Save the model after the last row, for driftline predict and driftline explain.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the results as JSON; with - to the standard output, and print nothing else.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors, and show no progress bar.", rich_help_panel=OUTPUT)
]
MAX_BYTES = 2**30
"""Largest size in memory of a model; that of `load`, whose module is imported only when a model is loaded."""
MaxBytes = Annotated[
    int,
    typer.Option(
        "--max-bytes",
        metavar="N",
        min=1,
        help="Largest size of the model in memory, in bytes. Allow more only for files that you trust.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model file, written by driftline run --save or by a model's method save.",
        show_default=False,
    ),
]
