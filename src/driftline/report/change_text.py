"""What a search for changes compared, in sentences, where it found none."""

from driftline.evaluation import SearchedChanges
from driftline.report.formatting import format_count, format_points, join_words

TOO_SHORT = "The stream is too short to search it for changes."


def no_change_text(searched: SearchedChanges | None) -> str:
    """Return what was searched without finding a change, and how large a change would have been found.

    Parameters
    ----------
    searched : SearchedChanges or None
        What was compared; None if the stream was too short.

    Returns
    -------
    str
        One or two sentences.

    Examples
    --------
    >>> print(no_change_text(SearchedChanges(312, 32, 2, 3, 25_000, 0.01, 1_024, 0.42, 1.5, 0.041, None)))
    No change was detected in the levels, spreads and missing values of 3 columns, class by class, or in the shares of
    2 classes. The search would probably have found a shift of a column by 0.42 standard deviations, a standard
    deviation 1.5 times as large or 4.1 percentage points more missing values, lasting 1,024 rows.
    """
    if searched is None:
        return TOO_SHORT
    shares = f"the shares of {format_count(searched.n_classes, 'class', 'classes')}"
    columns = format_count(searched.n_columns, "column")
    scope = f"the levels, spreads and missing values of {columns}, class by class, or in {shares}"
    text = f"No change was detected in {scope if searched.n_columns else shares}."
    sizes = _sizes(searched)
    if not sizes:
        return f"{text} There were too few rows to find any but the largest."
    rows = format_count(searched.n_rows, "row")
    return f"{text} The search would probably have found {join_words(sizes, 'or')}, lasting {rows}."


def _sizes(searched: SearchedChanges) -> list[str]:
    """Return the smallest changes that would have been found."""
    texts = []
    if searched.shift is not None:
        texts.append(f"a shift of a column by {searched.shift:.2g} standard deviations")
    if searched.spread_ratio is not None:
        texts.append(f"a standard deviation {searched.spread_ratio:.2g} times as large")
    if searched.missing_rise is not None:
        texts.append(f"{format_points(searched.missing_rise)} more missing values")
    if searched.class_share_rise is not None:
        texts.append(f"a share of a class higher by {format_points(searched.class_share_rise)}")
    return texts
