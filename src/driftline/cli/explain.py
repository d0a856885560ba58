"""The command ``driftline explain``: show which class means are moving."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from driftline.cli.output import DataConsole, check_outputs, wrapped, write_json_or_show
from driftline.cli.source import check_files_exist
from driftline.core.bounds import is_informative
from driftline.errors import ConfigError
from driftline.registry import load_model
from driftline.types import Status

MIN_SURPRISE = 3.0
"""Smallest surprise for which a mean is shown as moving; see `AMRC.drift`."""
FIELDS = ("label", "feature", "mean", "mean_error", "rate", "rate_error", "surprise")


def explain_model(path: Path, top: int, json: Path | None, max_bytes: int) -> None:
    """Print the drift table of a saved model, and write it as JSON if requested."""
    check_files_exist(path)
    check_outputs([path], json=json)
    model = load_model(path, max_bytes)
    if not hasattr(model, "drift"):
        raise ConfigError(
            f"{path} contains a {type(model).__name__}, which does not track drift; amrc, amrc-randomised, amrc-linear "
            "and amrc-order0 do"
        )
    notes = getattr(model, "notes_", {})
    rows = [dict(zip(FIELDS, row.item(), strict=True)) for row in model.drift(columns=notes.get("columns"))]
    content = {
        "schema": 1,
        "stream": notes.get("stream"),
        "n_steps": model.n_steps_,
        "error_bound": model.error_bound_,
        "bound_status": str(model.bound_status_),
        "bound_is_informative": is_informative(model.error_bound_, len(model.classes_)),
        "drift": rows,
    }
    write_json_or_show(content, json, partial(_show, content, top))


def _show(content: dict[str, Any], top: int) -> None:
    console = DataConsole()
    rows = content["drift"]
    moving = [row for row in rows if row["surprise"] >= MIN_SURPRISE]
    of = "" if content["stream"] is None else f" of {content['stream']}"
    text = (
        f"After {content['n_steps']:,} rows{of}, {len(moving)} of {len(rows)} class means are moving by more than "
        f"chance (surprise {MIN_SURPRISE:g} or more). {_bound_text(content)}"
    )
    console.print(wrapped(text, min(console.width, 100), 0), end="\n\n")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("class", "column", "mean", "change per unit of time", "surprise", ""):
        table.add_column(heading, justify="left" if heading in ("class", "column", "") else "right")
    for row in rows[:top]:
        table.add_row(
            str(row["label"]),
            row["feature"],
            f"{row['mean']:.4g} ± {row['mean_error']:.2g}",
            "" if np.isnan(row["rate"]) else f"{row['rate']:+.2g} ± {row['rate_error']:.2g}",
            f"{row['surprise']:.1f}",
            _in_words(row),
        )
    console.print(table)
    if len(rows) > top:
        console.print(f"… and {len(rows) - top:,} more rows; --top shows more")


def _bound_text(content: dict[str, Any]) -> str:
    bound = f"{content['error_bound']:.1%}"
    if content["bound_is_informative"]:
        return f"The error of the next step is bounded by {bound}."
    if content["bound_status"] == Status.OK:
        return "The bound on the error of the next step is uninformative: it is hardly better than guessing."
    return (
        "There is no useful bound on the error of the next step: the labels so far showed more mistakes than guessing "
        f"makes ({bound})."
    )


def _in_words(row: dict[str, Any]) -> str:
    if row["surprise"] < MIN_SURPRISE:
        return "steady"
    if np.isnan(row["rate"]) or abs(row["rate"]) < 2.0 * row["rate_error"]:
        return "moving"
    return "rising" if row["rate"] > 0.0 else "falling"
