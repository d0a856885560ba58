"""What a search for changes compared, in sentences, where it found none."""

from driftline.evaluation import SearchedChanges
from driftline.report.formatting import format_count, format_points, join_words


def no_change_sentences(searched: SearchedChanges | None) -> list[str]:
    """Return what was searched without finding a change, and how large a change would have been found.

    Parameters
    ----------
    searched : SearchedChanges or None
        What was compared; None if the stream was too short.

    Returns
    -------
    list of str
        One or two sentences.

    Examples
    --------
    >>> searched = SearchedChanges(312, 32, 2, 3, 25_000, 0.01, 1_024, 0.42, None, 0.041, None)
    >>> found, missed = no_change_sentences(searched)
    >>> found
    'No change was found in the shares of 2 classes or, in 3 columns, in level, spread and missing values.'
    >>> missed.startswith("It would probably have been found if a column had shifted by 0.42 standard deviations")
    True
    >>> missed.endswith("for 1,024 rows; no such size can be given for spread and class shares.")
    True
    """
    if searched is None:
        return ["The stream is too short to search it for changes."]
    text = f"No change was found in the shares of {format_count(searched.n_classes, 'class', 'classes')}"
    if searched.n_columns:
        text += f" or, in {format_count(searched.n_columns, 'column')}, in level, spread and missing values"
    sizes = _sizes(searched)
    if not sizes:
        return [f"{text}; there were too few rows to find any but the largest."]
    rows = format_count(searched.n_rows, "row")
    unknown = _kinds_without_size(searched)
    rest = f"; no such size can be given for {join_words(unknown)}" if unknown else ""
    return [f"{text}.", f"It would probably have been found if {join_words(sizes, 'or')}, for {rows}{rest}."]


def _sizes(searched: SearchedChanges) -> list[str]:
    """Return the smallest changes that would have been found."""
    texts = []
    if searched.shift is not None:
        texts.append(f"a column had shifted by {searched.shift:.2g} standard deviations")
    if searched.spread_ratio is not None:
        texts.append(f"the standard deviation of one had become {searched.spread_ratio:.2g} times as large")
    if searched.missing_rise is not None:
        texts.append(f"missing values had risen by {format_points(searched.missing_rise)}")
    if searched.class_share_rise is not None:
        texts.append(f"the share of a class had risen by {format_points(searched.class_share_rise)}")
    return texts


def _kinds_without_size(searched: SearchedChanges) -> list[str]:
    """Return what was compared, but for which no change is large enough, or none that is small enough to be stated."""
    of_columns = {"level": searched.shift, "spread": searched.spread_ratio, "missing values": searched.missing_rise}
    sizes = (of_columns if searched.n_columns else {}) | {"class shares": searched.class_share_rise}
    return [name for name, size in sizes.items() if size is None]
