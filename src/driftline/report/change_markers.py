"""Marks of the changes of a stream in a chart over its rows."""

from collections.abc import Sequence

from driftline.evaluation import Change
from driftline.report.chart_elements import Json


def change_markers(changes: Sequence[Change]) -> Json:
    """Return a vertical line for each change, with its number in the table of changes."""
    shapes = [
        {
            "type": "line",
            "x0": change.row,
            "x1": change.row,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": "--mark", "width": 1, "dash": "dot"},
        }
        for change in changes
    ]
    numbers = [
        {
            "text": str(k),
            "x": change.row,
            "yref": "paper",
            "y": 1,
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"color": "--quiet", "size": 12},
        }
        for k, change in enumerate(changes, 1)
    ]
    return {"shapes": shapes, "annotations": numbers}
