"""The confusion matrix has all rows, the most frequent classes first; of many classes, some are together."""

from dataclasses import replace

import numpy as np
import pytest

from driftline.evaluation import Confusion
from driftline.report.analysis import analyse
from driftline.report.confusion_table import confusion_table, listed_classes
from driftline.report.sections import report_sections
from helpers.report_entries import entry


def counts_of(table):
    return np.array([[cell.count for cell in row] for row in table.rows])


@pytest.mark.parametrize(("n_classes", "n_shown"), [(2, 2), (8, 8), (20, 20), (21, 20), (60, 20)])
def test_every_row_is_counted_once(n_classes, n_shown):
    one = entry(4000, labels=tuple(range(n_classes)))
    table = confusion_table(one.summary)
    counts = counts_of(table)
    assert counts.shape == (n_shown, n_shown)
    assert counts.sum() == 4000
    support = sorted(one.timeline.support.values(), reverse=True)
    named = n_shown if n_classes <= 20 else 19
    assert counts.sum(axis=1)[:named].tolist() == support[:named]
    assert table.names[-1] == (f"{n_classes - 19} others" if n_classes > 20 else table.names[-1])
    assert table.has_counts == (n_classes <= 8)


def test_cells_have_shares_of_their_class_and_the_right_ones_are_marked():
    summary = replace(entry().summary, confusion=Confusion(["a", "b"], [[1, 1], [2, 996]]))
    table = confusion_table(summary)
    assert table.names == ["b", "a"]
    assert [[cell.share for cell in row] for row in table.rows] == [["100", "<1"], ["50", "50"]]
    assert [[cell.is_right for cell in row] for row in table.rows] == [[True, False], [False, True]]
    assert table.rows[0][1].note == "2 of 998 rows of b were predicted as a"
    assert 0 < table.rows[0][1].shade < table.rows[1][0].shade < table.rows[0][0].shade <= 50


def test_right_predictions_of_merged_classes_are_told_from_mistakes_among_them():
    one = entry(4000, labels=tuple(range(60)), error=0.2)
    cell = confusion_table(one.summary).rows[-1][-1]
    matrix, labels = np.array(one.summary.confusion.matrix), one.summary.confusion.labels
    rare = sorted(range(60), key=lambda k: -matrix[k].sum())[19:]
    assert cell.note.endswith(f", {sum(matrix[k, k] for k in rare):,} of them as the right one")
    assert len(labels) == 60


def test_too_many_classes_have_a_table_of_the_most_frequent_and_the_positive_one():
    one = entry(6000, labels=(*(k % 110 for k in range(220)), 200), positive=200)
    assert one.summary.confusion is None
    (section,) = [each for each in report_sections(analyse([one])) if each.name == "confusion"]
    assert section.title == "Precision and recall by class"
    listed = [figures.label for figures in listed_classes(one.summary)]
    assert len(listed) == 21
    assert listed[-1] == 200
