"""Confidences, decisions and sets: the compiled kernels agree with the formulas in plain NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.guarantees import Guarantees
from driftline.guarantees.row_guarantees import RowGuarantees
from helpers.reference_statements import ReferenceStatements
from helpers.strategies import seeds

levels = st.sampled_from(
    [
        {"errors": (0.05, 0.2, 0.01)},
        {"errors": ({0: 0.05, 1: 0.3},)},
        {"errors": (0.1, {0: 0.02, 2: 0.4})},
    ]
)
kinds = st.fixed_dictionaries({"per_class": st.booleans(), "allows_empty": st.booleans()})


def rows_of_classifier(rng, n, c):
    """Return probabilities, predictions and labels: the classifier is good, then bad, then good again."""
    h = rng.dirichlet(np.full(c, rng.choice([0.1, 0.5, 2.0])), n)
    predicted = np.where(rng.random(n) < 0.95, h.argmax(axis=1), rng.integers(c, size=n))
    error = np.where(np.arange(n) // (n // 3 + 1) == 1, 0.6, 0.03)
    labels = np.where(rng.random(n) < error, rng.integers(c, size=n), predicted)
    return h, predicted, labels


def assert_agree(said, expected, t=0):
    assert said.predicted[t] == expected.k
    assert np.allclose(said.features[t], expected.f, rtol=1e-9, atol=1e-12)
    assert np.isclose(said.confidences[t], expected.confidence, rtol=1e-9)
    assert np.allclose(said.like_errors[t], expected.like, rtol=1e-9, atol=1e-12)
    assert said.decisions[t].tolist() == expected.decisions
    assert np.allclose(said.class_probabilities[t], expected.q, rtol=1e-9, atol=1e-14)
    assert np.array_equal(said.sets[t], expected.sets)


@settings(max_examples=10)
@given(seeds, levels, kinds, st.integers(2, 5), st.booleans())
def test_the_kernels_agree_with_the_formulas(seed, level, kind, c, is_hostile):
    rng = np.random.default_rng(seed)
    settings_ = level | {"coverages": (0.9, 0.6)} | kind
    rows, reference = RowGuarantees(Guarantees(**settings_)), ReferenceStatements(**settings_)
    for each in (rows, reference):
        each.add_classes(2)
    rows.name_classes(np.arange(2))
    h, predicted, labels = rows_of_classifier(rng, 700, c)
    waiting, known = [], 2
    for t in range(len(h)):
        while labels[t] >= known and t > 150:  # a class joins, and this is its first row
            known += 1
            said = now, expected = state_both(rows, reference, h[t, : known - 1], predicted[t] % (known - 1))
            for each in (rows, reference):
                each.add_classes(1)
            rows.name_classes(np.arange(known))
            waiting.append((now, expected, known - 1))
        said = state_both(rows, reference, h[t, :known], predicted[t] % known)
        is_wrong = is_hostile and (said[0].decisions == 1).any()  # until there is so much debt that rows are on trial
        waiting.append((*said, (said[0].predicted[0] + 1 if is_wrong else labels[t]) % known))
        while waiting and rng.random() < 0.8:  # labels come late, and out of order
            now, expected, label = waiting.pop(rng.integers(len(waiting)))
            rows.learn_rows(now, np.array([label]))
            reference.learn(expected, label)
    assert_same_counts(rows, reference, known)


def state_both(rows, reference, h, k):
    h = h / h.sum()
    said, expected = rows.state_rows(h[None], np.array([k])), reference.state(h, k)
    assert_agree(said, expected)
    return said, expected


def assert_same_counts(rows, reference, c):
    for e, level in enumerate(reference.errors):
        groups = range(c) if isinstance(level, dict) else [None]
        each = [reference.answering[e, group] for group in groups]
        total = [sum(getattr(a, name) for a in each) for name in ("n_answered", "n_wrong", "n_tried")]
        counts = rows.answer_counts(e)
        assert [counts.n_answered, counts.n_wrong, counts.n_tried] == total
        for group, one in zip(groups, each, strict=True):
            if group is not None:
                assert rows.answer_counts(e, group).n_wrong == one.n_wrong
    for s in range(len(reference.coverages)):
        for group in range(c) if reference.per_class else [None]:
            counts, one = rows.set_counts(s, group), reference.covering[s, group]
            assert (counts.n_rows, counts.n_missed, counts.n_labels) == (one.n_rows, one.n_missed, one.n_labels)


@settings(max_examples=4)
@given(seeds, levels, kinds)
def test_rows_at_once_are_rows_one_after_the_other(seed, level, kind):
    """Debts, thresholds and weights too, after more rows than a stretch of a bin has."""
    settings_ = level | {"coverages": 0.9} | kind
    rows, reference = (
        RowGuarantees(Guarantees(**settings_)),
        ReferenceStatements(**settings_ | {"coverages": (0.9,)}),
    )
    for each in (rows, reference):
        each.add_classes(3)
    rows.name_classes(np.arange(3))
    h, predicted, labels = rows_of_classifier(np.random.default_rng(seed), 1200, 3)
    said = rows.state_then_learn(h, predicted, labels)
    for t in range(len(h)):
        expected = reference.state(h[t], predicted[t])
        assert_agree(said, expected, t)
        reference.learn(expected, labels[t])
    arrays = rows.state()
    assert np.allclose(arrays["confidence_weights"], reference.w, rtol=1e-7, atol=1e-9)
    assert np.allclose(arrays["confidence_covariance"], reference.S, rtol=1e-7, atol=1e-9)
    assert np.allclose(arrays["confidence_bins"][:, 2], [row.log_factor for row in reference.bins], atol=1e-12)
    assert np.isclose(arrays["weight"][0], reference.weight, rtol=1e-12)
    groups = [None, *range(3)] if arrays["answers_debts"].shape[1] > 1 else [None]
    for e, g in np.ndindex(arrays["answers_debts"].shape):
        one = reference.answering[e, groups[g]]
        assert np.isclose(arrays["answers_debts"][e, g], one.debt, atol=1e-9)
    for g in range(arrays["sets_debts"].shape[1]):
        one = reference.covering[0, g if kind["per_class"] else None]
        assert np.isclose(arrays["sets_debts"][0, g], one.debt, atol=1e-9)
        assert np.isclose(arrays["sets_thresholds"][0, g], one.threshold, atol=1e-12)


def test_old_rows_count_less_also_when_all_weights_are_scaled_down():
    rows = RowGuarantees(Guarantees(errors=0.1, coverages=0.9))
    rows.add_classes(2)
    h, predicted, labels = rows_of_classifier(np.random.default_rng(0), 3000, 2)
    rows.state_then_learn(h, predicted, labels)
    scaled = RowGuarantees(rows.guarantees)
    scaled.add_classes(2)
    arrays = rows.state()
    factor = 1e9 / arrays["weight"][0] * (1 - 1e-9)
    scaled.restore(arrays | {name: arrays[name] * factor for name in ("weight", "answers_rows", "sets_rows")})
    h, predicted, labels = rows_of_classifier(np.random.default_rng(1), 3000, 2)
    one, other = (each.state_then_learn(h, predicted, labels) for each in (rows, scaled))
    assert scaled.state()["weight"][0] < 2
    assert np.array_equal(one.decisions, other.decisions)
    assert np.mean(one.sets != other.sets) < 1e-3  # thresholds differ by rounding
