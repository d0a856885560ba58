"""The tables of a report, as HTML."""

from collections.abc import Iterable, Sequence
from html import escape

from driftline.evaluation import Change, Comparison, Shift
from driftline.report.entry import Entry
from driftline.report.findings import Findings
from driftline.report.wording import counted, moment, percent, said, two

NOTHING = "–"


def change_table(changes: Sequence[Change]) -> str:
    """Return the moments at which the stream changed most."""
    has_times = any(moment(change.time) for change in changes)
    head = ["", "After row", *["Time"] * has_times, "What moved", "Error before → after", "Strength"]
    rows = [
        [
            str(k),
            f"{change.row:,}",
            *[escape(moment(change.time))] * has_times,
            _shifts(change.shifts),
            f"{percent(change.error_before)} → {percent(change.error_after)}",
            f"{change.strength:.1f}",
        ]
        for k, change in enumerate(changes, 1)
    ]
    return _table("The strongest changes of the stream", head, rows, left=head.index("What moved"))


def _shifts(shifts: Sequence[Shift]) -> str:
    if not shifts:
        return NOTHING
    return "<ul>" + "".join(f"<li>{escape(_shift(shift))}</li>" for shift in shifts) + "</ul>"


def _shift(shift: Shift) -> str:
    label = said(shift.label)
    if shift.feature is None:
        return f"share of class {label}: {percent(shift.before)} → {percent(shift.after)}"
    before, after = two(shift.before, shift.after)
    return f"{said(shift.feature)} in class {label}: {before} → {after}"


def comparison_table(found: Findings) -> str:
    """Return the classifiers, the best first; those that cannot be ranked come last."""
    entries = {entry.name: entry for entry in found.entries}
    head = ["Rank", "Classifier", "Error", "Behind the best", "95% interval", "p", "Mean bound", "Rows/s"]
    rows = [_ranked(ranked, entries[ranked.name]) for ranked in found.ranking]
    ranked_names = {ranked.name for ranked in found.ranking}
    for entry in found.entries:
        if entry.name not in ranked_names:
            after = f"{escape(entry.name)}{_stopped(entry)}"
            rows.append([NOTHING, after, percent(entry.summary.error), *[NOTHING] * 3, *_own(entry)])
    return _table("The classifiers compared", head, rows, named=1, left=1)


def _stopped(entry: Entry) -> str:
    return "" if entry.finished else f" <small>stopped after {counted(entry.summary.n_rows, 'row')}</small>"


def _ranked(ranked: Comparison, entry: Entry) -> list[str]:
    is_tested = ranked.low is not None and ranked.high is not None
    interval = f"{100 * ranked.low:.1f} to {100 * ranked.high:.1f}" if is_tested else NOTHING  # type: ignore[operator]
    return [
        f"{ranked.rank:g}",
        escape(entry.name) + _stopped(entry),
        percent(ranked.error),
        f"{100 * ranked.behind:.1f}" if ranked.behind else NOTHING,
        interval,
        NOTHING if ranked.p is None else "< 0.001" if ranked.p < 0.001 else f"{ranked.p:.3f}",
        *_own(entry),
    ]


def _own(entry: Entry) -> list[str]:
    bound = entry.summary.mean_bound
    return [NOTHING if bound is None else percent(bound), f"{entry.summary.rows_per_second:,.0f}"]


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, named: int = 0, left: int) -> str:
    """Return a table of cells that are HTML already; `named` says what a row is about, `left` is text."""
    side = ["" if k != left else ' class="left"' for k in range(len(head))]
    titles = "".join(f'<th scope="col"{side[k]}>{title}</th>' for k, title in enumerate(head))
    lines = [
        "".join(
            f'<th scope="row"{side[k]}>{cell}</th>' if k == named else f"<td{side[k]}>{cell}</td>"
            for k, cell in enumerate(row)
        )
        for row in rows
    ]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    about = escape(caption)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{about}"><table>\n<caption>{about}</caption>\n'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
