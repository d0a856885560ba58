"""The names of lines and areas, beside their ends."""

from collections.abc import Sequence

import numpy as np

from driftline.report.chart_elements import Json, Line, escape_for_plotly
from driftline.report.formatting import truncate
from driftline.types import Vector

MIN_LABEL_GAP = 0.065
"""Distance between the labels of two lines, as a share of the chart's height."""


def end_labels(lines: Sequence[Line], top: float, *, bottom: float = 0.0, gap: float = MIN_LABEL_GAP) -> list[Json]:
    """Return labels with the names of lines beside their ends, without overlaps, for an axis from `bottom` to `top`."""
    last = np.array([line.values[np.isfinite(line.values)][-1] for line in lines])
    heights = bottom + spread_out((last - bottom) / (top - bottom), gap) * (top - bottom)
    return [end_label(line.name, line.colour, height) for line, height in zip(lines, heights.tolist(), strict=True)]


def end_label(name: str, colour: str, height: float) -> Json:
    """Return a label with the name of a line or an area beside its end."""
    return {
        "text": escape_for_plotly(truncate(name, 20)),
        "font": {"color": f"--{colour}-text"},
        "x": 1.0,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 8,
        "y": height,
        "yanchor": "middle",
        "align": "left",
        "showarrow": False,
    }


def spread_out(positions: Vector, gap: float) -> Vector:
    """Return positions between 0 and 1 moved at least `gap` from each other, in the same order.

    Examples
    --------
    >>> spread_out(np.array([0.5, 0.52, 0.1]), 0.1)
    array([0.5, 0.6, 0.1])
    """
    order = np.argsort(positions, kind="stable")
    moved = positions[order].astype(np.float64)
    for k in range(1, len(moved)):
        moved[k] = max(moved[k], moved[k - 1] + gap)
    ceiling = 1.0
    for k in range(len(moved) - 1, -1, -1):
        moved[k] = min(moved[k], ceiling)
        ceiling = moved[k] - gap
    result = np.empty_like(moved)
    result[order] = moved
    return result
