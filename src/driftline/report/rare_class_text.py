"""What an evaluation says about a rare class, in a sentence."""

from driftline.evaluation import Summary
from driftline.report.formatting import format_count, format_percent, visible_text

RARE_SHARE = 0.4
"""A class is rare if it has less than this share of the rows that each would have if all were equally frequent."""


def rare_class_sentences(summary: Summary) -> list[str]:
    """Return a sentence about the positive class, or else the rarest one, if it is rare; none if it is not.

    Of two classes, one is rare if it has less than 20 % of the rows.

    Parameters
    ----------
    summary : Summary
        The summary of an evaluation.

    Returns
    -------
    list of str
        One sentence or none.
    """
    classes = {figures.label: figures for figures in summary.per_class}
    if len(classes) < 2:
        return []
    rarest = min(summary.per_class, key=lambda figures: figures.support)
    figures = classes[rarest.label if summary.positive is None else summary.positive]
    share = figures.support / summary.n_rows
    if share >= RARE_SHARE / len(classes):
        return []
    label, n_found = visible_text(figures.label), round(figures.recall * figures.support)
    rows = format_count(figures.support, "row")
    start = f"Class {label} is rare, with {rows} ({format_percent(share)} of all)"
    if not figures.predicted:
        return [f"{start}; none was found, because this class was never predicted."]
    reported = f"{figures.predicted:,} that were predicted to be {label}"
    return [
        f"{start}: {n_found:,} of them were found ({format_percent(figures.recall)}), and of the {reported}, "
        f"{n_found:,} were right ({format_percent(n_found / figures.predicted)})."
    ]
