"""A figure of the paper: its curves, and whether they show what the paper says."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Curve:
    """Some points to be drawn.

    Attributes
    ----------
    label : str
        What they are; empty if that is said by another curve with the same colour.
    x, y : sequence of float
        The points.
    style : {"line", "bound", "truth", "points", "mark", "ghost"}
        How they are drawn: bounds are dashed, what is known to be true is dotted, and a ghost is grey.
    colour : int
        The same number, the same colour.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "line"
    colour: int = 0


@dataclass(frozen=True, slots=True)
class Panel:
    """A pair of axes.

    Attributes
    ----------
    title, x_label, y_label : str
        What is written at it.
    curves : tuple of Curve
        What is drawn.
    x_range, y_range : tuple of float
        From where to where the axes go: as far as the paper's.
    logarithmic : bool
        Whether time is.
    equal : bool
        Whether a unit is as long in both directions.
    """

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    logarithmic: bool = False
    equal: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen, and whether that is what the paper says."""

    text: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper, reproduced.

    Attributes
    ----------
    title, about : str
        Its heading, and what to know of it.
    says : str
        What the paper says that it shows.
    panels : tuple of Panel
        From left to right.
    findings : tuple of Finding
        What it shows here.
    provenance : str
        The command, versions and dates that made it.
    reasons : tuple of str
        Why curves are missing, if any are.
    """

    title: str
    about: str
    says: str
    panels: tuple[Panel, ...]
    findings: tuple[Finding, ...]
    provenance: str = ""
    reasons: tuple[str, ...] = field(default=())


def points_csv(figure: Figure) -> str:
    """Return a line for each point: panel, curve, x, y."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["panel", "curve", "x", "y"])
    for panel in figure.panels:
        for curve in panel.curves:
            rows: Any = zip(curve.x, curve.y, strict=True)
            writer.writerows([panel.title, curve.label or curve.style, f"{x:.6g}", f"{y:.6g}"] for x, y in rows)
    return text.getvalue()
