"""The map of drift: which columns of which classes moved, when, and how far."""

from dataclasses import dataclass

import numpy as np

from driftline.evaluation import Course, Stretch
from driftline.evaluation.changes import LEAST_VALUES, columns_by_strength
from driftline.report.drawing import Chart, Json, ends_of, json_ready, layout, plain, spans_of
from driftline.report.wording import said, shortened, two
from driftline.types import Labels, Matrix, Vector

MOST_ROWS = 25
MOST_WINDOWS, LEAST_WINDOWS = 64, 8
FILLED = 0.5
"""Share of the cells that should have enough values; windows are longer where fewer have."""
WIDE, NARROW = 26, 13
"""Letters of a column's name beside the map, on a wide screen and on a narrow one."""
COLOUR_BAR: Json = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": 1,
    "yanchor": "bottom",
    "len": 240,
    "lenmode": "pixels",
    "thickness": 8,
    "outlinewidth": 0,
    "nticks": 5,
    "ticks": "",
    "tickfont": {"color": "--quiet", "size": 11},
    "title": {"text": "standard deviations", "side": "top", "font": {"color": "--quiet", "size": 11}},
}


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """How far means of columns in classes were from those of the whole stream.

    Attributes
    ----------
    names
        Column and class of each row of the map, those that moved most first.
    windows
        The columns of the map.
    means : ndarray of shape (n_names, n_windows)
        Means, in the units of the columns.
    overall : ndarray of shape (n_names,)
        The same over the whole stream.
    shifts : ndarray of shape (n_names, n_windows)
        The difference in standard deviations; NaN where there are too few values.
    """

    names: list[tuple[str, str]]
    windows: list[Stretch]
    means: Matrix
    overall: Vector
    shifts: Matrix


def drift_of(course: Course) -> Drift | None:
    """Return how far means moved; None if means are not kept, or none moved."""
    pairs = columns_by_strength(course, MOST_ROWS)
    if not pairs:
        return None
    labels, columns = np.array(pairs).T
    windows = _windows(course, labels, columns)
    means = course.means(windows)[:, labels, columns].T
    known = course.column_sums(windows)[1][:, labels, columns].T
    overall = course.means(course.windows(1))[0, labels, columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        shifts = (means - overall[:, np.newaxis]) / course.deviations()[labels, columns][:, np.newaxis]
    return Drift(
        [(said(course.columns[column]), said(course.classes[label])) for label, column in pairs],
        windows,
        means,
        overall,
        np.where((known >= LEAST_VALUES) & np.isfinite(shifts), shifts, np.nan),
    )


def _windows(course: Course, labels: Labels, columns: Labels) -> list[Stretch]:
    """Return windows as short as leaves most of the cells with enough values, and as many as can be seen."""
    most = MOST_WINDOWS
    while True:
        windows = course.windows(most)
        known = course.column_sums(windows)[1][:, labels, columns]
        if most <= LEAST_WINDOWS or np.mean(known >= LEAST_VALUES) >= FILLED:
            return windows
        most //= 2


def drift_chart(drift: Drift) -> Chart:
    """Draw how far means moved."""
    n, limit = len(drift.names), _limit(drift.shifts)
    short, shorter = (_ticks(drift.names, letters) for letters in (WIDE, NARROW))
    cells = {
        "type": "heatmap",
        "x": [0, *ends_of(drift.windows)],
        "y": list(range(n)),
        "z": json_ready(drift.shifts),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": [[k / 4, f"--drift{k + 1}"] for k in range(5)],
        "ygap": 1,
        "text": _texts(drift),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
        "colorbar": COLOUR_BAR,
    }
    feature, label = drift.names[0]
    return Chart(
        "drift",
        f"Heat map of {n} means of features in classes over the rows of the stream. The strongest movement is that of "
        f"{feature} in class {label}.",
        110 + 22 * n,
        [cells],
        layout(
            x_range=[0, ends_of(drift.windows)[-1]],
            y_range=[n - 0.5, -0.5],
            yaxis={"tickvals": list(range(n)), "ticktext": short, "showgrid": False},
            hovermode="closest",
            margin={"l": _room(drift.names, WIDE, 7.6), "t": 50},
        ),
        narrow={
            "yaxis": {"ticktext": shorter, "tickfont": {"size": 11}},
            "margin": {"l": _room(drift.names, NARROW, 6.6)},
        },
    )


def _short(names: tuple[str, str], letters: int) -> str:
    feature, label = names
    return f"{shortened(feature, letters)} · {shortened(label, letters // 2)}"


def _ticks(names: list[tuple[str, str]], letters: int) -> list[str]:
    return [plain(_short(each, letters)) for each in names]


def _room(names: list[tuple[str, str]], letters: int, width: float) -> int:
    """Return the pixels that the longest tick needs, with letters of some width."""
    return 12 + round(width * max(len(_short(each, letters)) for each in names))


def _limit(shifts: Matrix) -> float:
    """Return the shift at which the colours end: nearly the largest, lest one window pale all others."""
    sizes = np.abs(shifts[np.isfinite(shifts)])
    return max(float(np.quantile(sizes, 0.99)), 0.1) if sizes.size else 1.0


def _texts(drift: Drift) -> list[list[str]]:
    """Say of each cell what it is, and nothing of those that are blank."""
    spans = spans_of(drift.windows)
    rows = zip(drift.names, drift.means.tolist(), drift.shifts.tolist(), drift.overall.tolist(), strict=True)
    return [
        [_text(names, *cell, overall) for cell in zip(spans, means, shifts, strict=True)]
        for names, means, shifts, overall in rows
    ]


def _text(names: tuple[str, str], span: str, mean: float, shift: float, overall: float) -> str:
    if not np.isfinite(shift):
        return ""
    feature, label = map(plain, names)
    here, usual = two(mean, overall)
    means = f"mean {here}, overall {usual}"
    return f"<b>{feature}</b> in class {label}<br>{span}<br>{means}<br>{shift:+.2f} standard deviations"
