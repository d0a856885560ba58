"""Figures drawn, as SVG and PNG."""

import io
from pathlib import Path
from typing import Any

from driftline.errors import MissingExtraError
from driftline.experiments.figure import Curve, Figure, Panel
from driftline.utils.atomic_write import replacing

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Those of Okabe and Ito, which people with any kind of colour vision tell apart."""
MARKERS = ("o", "^", "s", "D", "v", "P")
STYLES: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 1.6},
    "bound": {"linewidth": 1.6, "linestyle": (0, (5, 2))},
    "truth": {"linewidth": 1.0, "linestyle": (0, (1, 1.5)), "color": "black"},
    "points": {"linestyle": "none", "markersize": 4, "alpha": 0.55, "markeredgewidth": 0},
    "mark": {"linestyle": "none", "markersize": 11, "markeredgecolor": "black"},
    "ghost": {"linewidth": 1.2, "color": "0.6", "marker": "o", "markersize": 9, "markevery": [0]},
}
HEIGHT = 4.0
WIDTH = 4.4
"""Inches a panel."""
SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "driftline",  # the same figure, the same file
}


def drawing_library() -> Any:
    """Return matplotlib, or say what to install."""
    try:
        import matplotlib.figure  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError("figures need matplotlib; pip install 'driftline[plot]'") from error
    return matplotlib


def draw(figure: Figure) -> dict[str, bytes]:
    """Return a figure as files.

    Parameters
    ----------
    figure : Figure
        What to draw.

    Returns
    -------
    dict of str to bytes
        Content by suffix: ".svg" and ".png".
    """
    matplotlib = drawing_library()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user's settings are
        matplotlib.rcParams.update(SETTINGS)
        canvas = matplotlib.figure.Figure(figsize=(WIDTH * len(figure.panels), HEIGHT), layout="constrained")
        for axes, panel in zip(canvas.subplots(1, len(figure.panels), squeeze=False)[0], figure.panels, strict=True):
            _fill(axes, panel)
        return {
            ".svg": _saved(canvas, format="svg", metadata={"Date": None}),
            ".png": _saved(canvas, format="png", dpi=150, metadata={"Software": None}),
        }


def _fill(axes: Any, panel: Panel) -> None:
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


def _saved(canvas: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, **options)
    return file.getvalue()


def write_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure into a folder.

    Parameters
    ----------
    figure : Figure
        What to draw.
    folder : Path
        Where to; it must be there.
    name : str
        What the files are called, without suffix.

    Returns
    -------
    list of Path
        What was written.
    """
    paths = []
    for suffix, content in draw(figure).items():
        paths.append(folder / f"{name}{suffix}")
        with replacing(paths[-1]) as file:
            file.write(content)
    return paths
