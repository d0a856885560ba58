"""The command that says which columns of which classes are moving."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from driftline.cli.output import check_outputs, shown_or_written, wrapped
from driftline.cli.source import check_files_exist
from driftline.errors import ConfigError
from driftline.registry import load_model

NO_ACCIDENT = 3.0
"""From this surprise on, a mean that moves is no accident; see `AMRC.drift`."""
FIELDS = ("label", "feature", "mean", "mean_error", "rate", "rate_error", "surprise")


def explain_model(path: Path, top: int, json: Path | None) -> None:
    """Show the table of drift of a model."""
    check_files_exist(path)
    check_outputs([path], json=json)
    model = load_model(path)
    if not hasattr(model, "drift"):
        raise ConfigError(
            f"{path} holds a {type(model).__name__}, which does not say what moves; amrc, amrc-randomised, amrc-linear "
            "and amrc-order0 do"
        )
    known = getattr(model, "notes_", {})
    rows = [dict(zip(FIELDS, row.item(), strict=True)) for row in model.drift(columns=known.get("columns"))]
    content = {
        "schema": 1,
        "stream": known.get("stream"),
        "n_steps": model.n_steps_,
        "error_bound": model.error_bound_,
        "drift": rows,
    }
    shown_or_written(content, json, partial(_show, content, top))


def _show(content: dict[str, Any], top: int) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    rows = content["drift"]
    moving = [row for row in rows if row["surprise"] >= NO_ACCIDENT]
    of = "" if content["stream"] is None else f" of {content['stream']}"
    said = (
        f"After {content['n_steps']:,} rows{of}, {len(moving)} of {len(rows)} class means are moving by more than "
        f"accident (surprise {NO_ACCIDENT:g} or more). The error of the next step is bounded by "
        f"{content['error_bound']:.1%}."
    )
    console.print(wrapped(said, min(console.width, 100), 0), end="\n\n")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("class", "column", "mean", "change in a unit of time", "surprise", ""):
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
        console.print(f"… and {len(rows) - top:,} more; --top shows them")


def _in_words(row: dict[str, Any]) -> str:
    if row["surprise"] < NO_ACCIDENT:
        return "steady"
    if np.isnan(row["rate"]) or abs(row["rate"]) < 2.0 * row["rate_error"]:
        return "moving"
    return "rising" if row["rate"] > 0.0 else "falling"
