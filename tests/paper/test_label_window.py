import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.paper.label_window import LabelWindow

label_lists = st.lists(st.integers(0, 2), min_size=1, max_size=30)


def filled(labels, variance, size=7):
    window = LabelWindow(size, variance)
    for _ in range(3):
        window.add_classes(1)
    for label in labels:
        window.push(label)
    return window


@given(label_lists)
def test_probabilities_are_the_fractions_among_the_last_labels(labels):
    recent = labels[-7:]
    expected = [recent.count(j) / len(recent) for j in range(3)]
    assert np.allclose(filled(labels, "binomial").probabilities, expected)


@given(label_lists)
def test_variances_are_those_named(labels):
    window = filled(labels, "binomial")
    p = window.probabilities
    assert np.allclose(window.variance, p * (1 - p) / min(len(labels), 7))
    assert np.allclose(filled(labels, "printed").variance, p * (1 - p))
    history = [filled(labels[: t + 1], "sample").probabilities for t in range(len(labels))][-7:]
    expected = np.var(history, axis=0, ddof=1) if len(history) > 1 else np.zeros(3)
    assert np.allclose(filled(labels, "sample").variance, expected)


def test_a_class_that_joins_late_had_probability_zero():
    window = LabelWindow(4, "sample")
    window.add_classes(1)
    window.push(0)
    window.add_classes(1)
    window.push(1)
    assert np.array_equal(window.probabilities, [0.5, 0.5])
    assert np.allclose(window.variance, np.var([[1, 0], [0.5, 0.5]], axis=0, ddof=1))
