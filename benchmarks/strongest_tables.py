"""The tables of strongest.py, made from its results."""

import numpy as np

from generators import CHOICE, VALIDATION
from ranks import critical_difference, friedman, mean_ranks, signed_rank_tests

OURS = "amrc"


def tables(store, names, real, n_rows_of):
    """Return the lines of all tables, in Markdown.

    Parameters
    ----------
    store : Store
        The results.
    names : mapping
        The title of each classifier's column.
    real : sequence of str
        The published streams.
    n_rows_of : callable
        Number of rows wanted of a stream, by its name and whether the short form is meant.
    """
    groups = {"published": real, "generated, used for choices": CHOICE, "left out of all choices": VALIDATION}
    lines = []
    for title, quick in ((FULL_TITLE, False), (QUICK_TITLE, True)):
        grid = Grid.of(store, names, groups, lambda stream, quick=quick: n_rows_of(stream, quick))
        if not grid.streams:
            continue
        lines += [f"## {title}", "", *grid.error_table(), "", *grid.rank_table(), ""]
    return [*lines, *versions(store)]


FULL_TITLE = "Whole streams, at most 100,000 rows"
QUICK_TITLE = "Short forms: 20,000 generated rows, the first 10,000 of published streams"


class Grid:
    """Results of all classifiers on streams of one length; NaN where there is no run."""

    def __init__(self, names, groups, streams, cells):
        self.names = names
        self.groups = groups
        self.streams = streams
        self.rows = [next(cell["rows"] for cell in line if cell) for line in cells]
        self.errors = self._figures(cells, "error")
        self.speeds = np.array([self.rows]).T / np.maximum(self._figures(cells, "seconds"), 0.05)
        self.sizes = self._figures(cells, "megabytes")

    @classmethod
    def of(cls, store, names, groups, n_rows_of):
        """Return the results of the streams that have any."""
        streams, cells = [], []
        for stream in (stream for group in groups.values() for stream in group):
            line = [store.best(stream, n_rows_of(stream), model) for model in names]
            if any(line):
                streams.append(stream)
                cells.append(line)
        return cls(names, groups, streams, cells)

    @staticmethod
    def _figures(cells, name):
        return np.array([[cell[name] if cell else None for cell in line] for line in cells], dtype=float)

    def error_table(self):
        """Return the table of errors: one line for each stream, the smallest error in bold."""
        lines = head(["stream", "rows", *self.names.values()])
        for group, members in self.groups.items():
            of_group = [position for position, stream in enumerate(self.streams) if stream in members]
            if of_group:
                lines.append(f"| *{group}* |" + " |" * (len(self.names) + 1))
            for position in of_group:
                errors = np.round(self.errors[position], 1)
                best = np.nanmin(errors)
                shown = ["–" if np.isnan(e) else f"**{e:.1f}**" if e == best else f"{e:.1f}" for e in errors]
                lines.append(f"| {self.streams[position]} | {self.rows[position]:,} | {' | '.join(shown)} |")
        return lines

    def rank_table(self):
        """Return mean ranks, comparisons with AMRC, times and sizes: one line for each classifier that was run."""
        used = np.flatnonzero(~np.isnan(self.errors).all(axis=0))
        complete = np.flatnonzero(~np.isnan(self.errors[:, used]).any(axis=1))
        unseen = [position for position in complete if self.streams[position] in VALIDATION]
        if min(len(used), len(complete)) < 3:
            return ["There are too few streams on which all classifiers were run to rank them."]
        errors = self.errors[np.ix_(complete, used)]
        columns = [
            mean_ranks(errors),
            mean_ranks(self.errors[np.ix_(unseen, used)]) if unseen else [np.nan] * len(used),
        ]
        columns += [np.nanmedian(figures[:, used], axis=0) for figures in (self.speeds, self.sizes)]
        against = self._against_ours(used)
        lines = [sentence(errors, len(unseen)), "", *head(RANK_COLUMNS)]
        for j, (rank, unseen_rank, speed, size) in zip(used, zip(*columns, strict=True), strict=True):
            title = list(self.names.values())[j]
            line = (
                f"| {title} | {rank:.2f} | {unseen_rank:.2f} | {against.get(j, ' | ')} | {speed:,.0f} | {size:,.1f} |"
            )
            lines.append(line.replace("nan", "–"))
        return lines

    def _against_ours(self, used):
        """Return for each other classifier on how many streams AMRC is better, equal and worse, and the p-value."""
        ours = list(self.names).index(OURS)
        if ours not in used:
            return {}
        others = [j for j in used if j != ours]
        p_values = signed_rank_tests(self.errors[:, [ours, *others]])
        counts = {}
        for j, p_value in zip(others, p_values, strict=True):
            signs = np.sign(np.round(self.errors[:, j], 1) - np.round(self.errors[:, ours], 1))
            won, drawn, lost = (np.count_nonzero(signs == sign) for sign in (1, 0, -1))
            counts[j] = f"{won} : {drawn} : {lost} | {p_value:.2g}"
        return counts


RANK_COLUMNS = ("classifier", "mean rank", "left out", "AMRC better : equal : worse", "p", "rows/s", "MB")


def sentence(errors, n_unseen):
    """Return a sentence about the test of mean ranks."""
    n_streams, n_classifiers = errors.shape
    return (
        f"Mean ranks over the {n_streams} streams on which all {n_classifiers} classifiers were run; *left out* is the "
        f"same over the {n_unseen} of them that were left out of all choices. Friedman's test that all rank alike: "
        f"p = {friedman(errors):.1g}. By Nemenyi's test, two mean ranks over all of them differ significantly if they "
        f"differ by more than {critical_difference(n_classifiers, n_streams):.2f}."
    )


def head(columns):
    """Return the first two lines of a table."""
    return [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]


def versions(store):
    """Return a sentence that names the versions and dates of all runs."""
    found = sorted({f"{name} {version}" for cell in store.cells.values() for name, version in cell["with"].items()})
    dates = sorted({cell["date"] for cell in store.cells.values()})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return [f"The runs were made on {days}, with {', '.join(found)}; strongest.json has those of each run."]
