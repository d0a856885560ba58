"""The map of drift: which columns of which classes moved, when, and how far."""

import numpy as np

from driftline.evaluation.changes import LEAST_VALUES, columns_by_strength
from driftline.report.drawing import Chart, ends_of, json_ready, layout, plain, spans_of
from driftline.report.entry import Entry
from driftline.report.wording import said, shortened, two

MOST_ROWS, MOST_WINDOWS = 25, 64
WIDE, NARROW = 26, 13
"""Letters of a column's name beside the map, on a wide screen and on a narrow one."""


def drift_chart(entry: Entry) -> Chart | None:
    """Draw how far means were from those of the whole stream; there is none without means of columns."""
    course = entry.course
    pairs = columns_by_strength(course, MOST_ROWS)
    if not pairs:
        return None
    windows = course.windows(MOST_WINDOWS)
    labels, columns = np.array(pairs).T
    means = course.means(windows)[:, labels, columns].T
    known = course.column_sums(windows)[1][:, labels, columns].T
    overall = course.means(course.windows(1))[0, labels, columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        shifts = (means - overall[:, np.newaxis]) / course.deviations()[labels, columns][:, np.newaxis]
    shifts = np.where((known >= LEAST_VALUES) & np.isfinite(shifts), shifts, np.nan)
    limit = _limit(shifts)
    spans = spans_of(windows)
    texts = [
        [_text(names, span, mean, whole, shift) for span, mean, shift in zip(spans, row, row_shifts, strict=True)]
        for names, row, row_shifts, whole in zip(
            [(said(course.columns[j]), said(course.classes[i])) for i, j in pairs],
            means.tolist(),
            shifts.tolist(),
            overall.tolist(),
            strict=True,
        )
    ]
    short, shorter = (
        [plain(f"{shortened(said(course.columns[j]), n)} · {shortened(said(course.classes[i]), 8)}") for i, j in pairs]
        for n in (WIDE, NARROW)
    )
    cells = {
        "type": "heatmap",
        "x": [0, *ends_of(windows)],
        "y": list(range(len(pairs))),
        "z": json_ready(shifts),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": [[k / 4, f"--drift{k + 1}"] for k in range(5)],
        "xgap": 0,
        "ygap": 1,
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {
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
        },
    }
    ticks = {"tickvals": list(range(len(pairs))), "showgrid": False, "nticks": 0}
    strongest = said(course.columns[pairs[0][1]])
    return Chart(
        "drift",
        f"Heat map of {len(pairs)} means of features in classes over the rows of the stream. "
        f"The strongest movement is that of {strongest} in class {said(course.classes[pairs[0][0]])}.",
        110 + 22 * len(pairs),
        [cells],
        layout(
            x_range=[0, course.n_rows],
            y_range=[len(pairs) - 0.5, -0.5],
            yaxis=ticks | {"ticktext": short},
            hovermode="closest",
            margin={"l": _room(short, 7.6), "t": 50},
        ),
        narrow={
            "yaxis": {"ticktext": shorter, "tickfont": {"size": 11, "color": "--quiet"}},
            "margin": {"l": _room(shorter, 6.6)},
        },
    )


def _room(texts: list[str], width: float) -> int:
    """Return the pixels that the longest text needs, with letters of some width."""
    return 12 + round(width * max(map(len, texts)))


def _limit(shifts: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    """Return the shift at which the colours end: nearly the largest, lest one window pale all others."""
    sizes = np.abs(shifts[np.isfinite(shifts)])
    return max(float(np.quantile(sizes, 0.99)), 0.1) if sizes.size else 1.0


def _text(names: tuple[str, str], span: str, mean: float, overall: float, shift: float) -> str:
    if not np.isfinite(shift):
        return ""
    here, usual = two(mean, overall)
    feature, label = map(plain, names)
    means = f"mean {here}, overall {usual}"
    return f"<b>{feature}</b> in class {label}<br>{span}<br>{means}<br>{shift:+.2f} standard deviations"
