"""The sentence about a rare class, in the words of somebody who looks for its rows."""

from dataclasses import replace

import numpy as np
import pytest

from driftline.evaluation import evaluate
from driftline.registry import create
from driftline.report import ReportEntry, summary_sentences
from driftline.report.rare_class_text import rare_class_sentences
from driftline.streams import ArrayStream


def run_of(labels, model="no-change", **options):
    stream = ArrayStream(np.zeros((len(labels), 1)), np.array(labels))
    return evaluate(create(model), stream, progress=False, **options)


def test_a_rare_class_is_told_with_what_was_found_and_what_was_right():
    run = run_of(["fine"] * 95 + ["fraud"] * 3 + ["fine"] * 98 + ["fraud"] * 4)
    told = (
        "Class fraud is rare, with 7 rows (3.5% of all): 5 of them were found (71.4%), and of the 6 that were "
        "predicted to be fraud, 5 were right (83.3%)."
    )
    assert rare_class_sentences(run.summary) == [told]
    assert told in summary_sentences([ReportEntry("no-change", run.summary, run.timeline, run.finished)])


def test_a_class_that_was_never_predicted_is_called_that():
    summary = run_of(["fine"] * 95 + ["fraud"] * 3, model="majority").summary
    assert rare_class_sentences(summary) == [
        "Class fraud is rare, with 3 rows (3.1% of all); none was found, because this class was never predicted."
    ]


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ([1] * 20 + [0] * 80, None),
        ([1] * 19 + [0] * 81, 1),
        ([0] * 19 + [1] * 81, 0),
        ([0] * 13 + [1] * 43 + [2] * 44, 0),
        ([0] * 14 + [1] * 43 + [2] * 43, None),
        ([0] * 50, None),
    ],
)
def test_of_two_classes_one_is_rare_below_20_percent_and_of_more_below_less(labels, label):
    sentences = rare_class_sentences(run_of(labels).summary)
    assert [text.split()[1] for text in sentences] == ([] if label is None else [str(label)])


def test_the_chosen_class_is_told_if_it_is_rare():
    summary = run_of([0] * 5 + [1] * 10 + [2] * 85, positive=1).summary
    assert [text.split()[1] for text in rare_class_sentences(summary)] == ["1"]
    assert rare_class_sentences(replace(summary, positive=2)) == []
