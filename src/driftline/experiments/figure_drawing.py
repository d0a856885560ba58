"""Figures of the paper as data, and drawn as SVG and PNG."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftline.utils.atomic_write import replacing
from driftline.utils.extras import import_matplotlib

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito, which people with any kind of colour vision can tell apart."""
MARKERS = ("o", "^", "s", "D", "v", "P")
STYLES: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 1.6},
    "bound": {"linewidth": 1.6, "linestyle": (0, (5, 2))},
    "truth": {"linewidth": 1.0, "linestyle": (0, (1, 1.5)), "color": "black"},
    "points": {"linestyle": "none", "markersize": 4, "alpha": 0.55, "markeredgewidth": 0},
    "mark": {"linestyle": "none", "markersize": 11, "markeredgecolor": "black"},
    "path": {"linewidth": 1.2, "color": "0.6", "marker": "o", "markersize": 9, "markevery": [0]},
}
PANEL_HEIGHT_INCHES = 4.0
PANEL_WIDTH_INCHES = 4.4
SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "driftline",  # equal figures give equal files
}


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to draw.

    Attributes
    ----------
    label : str
        Entry in the legend; empty for none.
    x, y : sequence of float
        The points.
    style : {"line", "bound", "truth", "points", "mark", "path"}
        How they are drawn: bounds are dashed, true values are dotted, and the path of a mean is grey.
    colour : int
        Index of the colour; curves with the same number have the same colour.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "line"
    colour: int = 0


@dataclass(frozen=True, slots=True)
class Panel:
    """A pair of axes with its curves.

    Attributes
    ----------
    title, x_label, y_label : str
        Its texts.
    curves : tuple of Curve
        The curves.
    x_range, y_range : tuple of float
        Limits of the axes, as in the paper.
    logarithmic : bool
        Whether the x axis is logarithmic.
    equal : bool
        Whether both axes have the same scale.
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
    """A statement about a figure, and whether it agrees with the paper."""

    text: str
    holds: bool


@dataclass(frozen=True, slots=True)
class ResultFigure:
    """A figure of the paper, reproduced.

    Attributes
    ----------
    title, about : str
        Its heading, and how it was made.
    claim : str
        What the paper says that it shows.
    panels : tuple of Panel
        From left to right; none if a run is missing.
    findings : tuple of Finding
        What it shows here.
    provenance : str
        The command, versions, dates and code that made it, and which results are stale.
    reasons : tuple of str
        Why runs are missing, if any are.
    """

    title: str
    about: str
    claim: str
    panels: tuple[Panel, ...]
    findings: tuple[Finding, ...]
    provenance: str = ""
    reasons: tuple[str, ...] = ()


def points_csv(figure: ResultFigure) -> str:
    """Return CSV with a line for each point: panel, curve, x, y."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["panel", "curve", "x", "y"])
    for panel in figure.panels:
        for curve in panel.curves:
            points = zip(curve.x, curve.y, strict=True)
            writer.writerows([panel.title, curve.label or curve.style, f"{x:.6g}", f"{y:.6g}"] for x, y in points)
    return text.getvalue()


def draw(figure: ResultFigure) -> dict[str, bytes]:
    """Return a drawn figure.

    Parameters
    ----------
    figure : ResultFigure
        The figure.

    Returns
    -------
    dict of str to bytes
        Content of a file for each suffix: ".svg" and ".png".
    """
    matplotlib = import_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # ignore the user's settings
        matplotlib.rcParams.update(SETTINGS)
        size = (PANEL_WIDTH_INCHES * len(figure.panels), PANEL_HEIGHT_INCHES)
        canvas = matplotlib.figure.Figure(figsize=size, layout="constrained")
        for axes, panel in zip(canvas.subplots(1, len(figure.panels), squeeze=False)[0], figure.panels, strict=True):
            _draw_panel(axes, panel)
        return {
            ".svg": _file_content(canvas, format="svg", metadata={"Date": None}),
            ".png": _file_content(canvas, format="png", dpi=150, metadata={"Software": None}),
        }


def _draw_panel(axes: Any, panel: Panel) -> None:
    for curve in panel.curves:
        axes.plot(curve.x, curve.y, label=curve.label or None, **_style(curve))
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, xlim=panel.x_range, ylim=panel.y_range)
    if panel.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    if panel.equal:
        axes.set_aspect("equal")
    axes.grid(color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
    n_labels = sum(bool(curve.label) for curve in panel.curves)
    if n_labels:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2 if n_labels > 3 else n_labels)


def _style(curve: Curve) -> dict[str, Any]:
    style = {"color": COLOURS[curve.colour % len(COLOURS)]} | STYLES[curve.style]
    if curve.style in {"points", "mark"}:
        style["marker"] = MARKERS[curve.colour % len(MARKERS)]
    return style


def _file_content(canvas: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, **options)
    return file.getvalue()


def write_figure(figure: ResultFigure, folder: Path, name: str) -> list[Path]:
    """Draw a figure and write its files into a folder.

    Parameters
    ----------
    figure : ResultFigure
        The figure.
    folder : Path
        An existing folder.
    name : str
        Name of the files, without suffix.

    Returns
    -------
    list of Path
        The files that were written.
    """
    paths = []
    for suffix, content in draw(figure).items():
        paths.append(folder / f"{name}{suffix}")
        with replacing(paths[-1]) as file:
            file.write(content)
    return paths
