"""The test-kit: all our classifiers pass it, and whatever is wrong with one is noticed."""

import re

import pytest
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from driftline import AMRC, ConfigError, baselines
from driftline.adapters import ScaledClassifier
from driftline.checks import check_online_classifier, online_checks
from helpers.centroid_classifiers import Centroids, JoiningCentroids
from helpers.faulty_models import BROKEN, KeepsAllRows
from helpers.quick_models import fourier, linear, paper, widened

QUICK = {"budget": 40, "n_components": 20}


def quick(*names):
    """Return baselines, with small budgets and few components."""
    estimators = [getattr(baselines, name)() for name in names]
    for estimator in estimators:
        estimator.set_params(**{name: QUICK[name] for name in QUICK.keys() & estimator.get_params().keys()})
    return estimators


REPRESENTATIVES = [linear(), paper(n_iterations=200, n_subgradients=60), *quick("DWM", "FOGD", "Majority", "RBP")]
"""One estimator of each family. The others are built from the same parts; the slow tests check them too."""
OTHERS = [
    fourier(n_components=10),
    linear(deterministic=False),
    widened(n_iterations=200, features="fourier", n_components=10),
    *quick(*(name for name in baselines.__all__ if name not in {type(each).__name__ for each in REPRESENTATIVES})),
]
BUDGETED = [name for name in baselines.__all__ if "budget" in getattr(baselines, name)().get_params()]
WEIGHTS = "a step with weight 2 is not two steps"
NARROW = "of the first row of a class the variance is 0, and the probabilities are no numbers"
THEIRS = {
    SGDClassifier(shuffle=False): {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
    ScaledClassifier(SGDClassifier(loss="log_loss", shuffle=False, random_state=0)): {
        "check_grouping_into_batches_changes_nothing": "the scaler learns a batch before any of it is scaled",
    },
    Perceptron(): {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
        "check_grouping_into_batches_changes_nothing": "it shuffles the rows of a batch",
    },
    GaussianNB(): {
        "check_grouping_into_batches_changes_nothing": "variances are smoothed by that of the latest batch",
        "check_unannounced_class_is_added_or_refused": "the smoothing is set before the class is refused",
        "check_one_class_is_enough": NARROW,
        "check_constant_columns_do_no_harm": NARROW,
        "check_rows_of_zeros_do_no_harm": NARROW,
        "check_repeated_rows_do_no_harm": NARROW,
        "check_one_column_is_enough": NARROW,
        "check_scales_do_no_harm": NARROW,
        "check_missing_values_are_refused": "a first batch that is refused leaves it half fitted",
        "check_infinities_are_refused": "a first batch that is refused leaves it half fitted",
    },
}


REPEATED = (
    "it is fitted with shuffled rows, and the order matters; and a row that is learned three times is predicted once"
)
FLOODED = "100 copies of a row fill memories of 300 rows, so that few different rows are left in them"


def expected_failures(estimator):
    failures = {}
    if isinstance(estimator, AMRC):
        failures |= {"check_sample_weight_equivalence_on_dense_data": REPEATED}
        failures |= {"check_class_weight_classifiers": FLOODED}
    if not getattr(estimator, "deterministic", True):
        reason = "the randomised rule draws by the place of a row"
        names = ("classifiers_train", "methods_sample_order_invariance", "methods_subset_invariance")
        failures |= {f"check_{name}": reason for name in names}
    return failures


def cases():
    for estimator in REPRESENTATIVES + OTHERS:
        expected = expected_failures(estimator)
        for subject, check in online_checks(estimator):
            reason = expected.get(check.__name__)
            marks = [] if estimator in REPRESENTATIVES else [pytest.mark.slow]
            if reason is not None:
                marks.append(pytest.mark.xfail(reason=reason, strict=True))
            name = "".join(repr(subject).split())
            yield pytest.param(subject, check, marks=marks, id=f"{name}-{check.__name__}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_our_classifiers_keep_to_what_streams_need(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        "grouping_into_batches_changes_nothing",
        "saved_models_continue_identically",
        "copies_are_independent",
        "memory_is_bounded",
    ],
)
@pytest.mark.parametrize("name", BUDGETED)
def test_a_full_budget_changes_nothing_of_that(name, check):
    estimator = getattr(baselines, name)(budget=4)
    checks = {check.__name__: check for _, check in online_checks(estimator)}
    checks[f"check_{check}"](estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [  # whatever SGDClassifier fails, the Perceptron fails too
        pytest.param(each, marks=[pytest.mark.slow] if type(each) is SGDClassifier else []) for each in THEIRS
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_classifiers_of_scikit_learn_fail_where_they_should(estimator):
    outcomes = check_online_classifier(estimator, expected_failed_checks=THEIRS[estimator])
    failed = {outcome.check: outcome.reason for outcome in outcomes if outcome.status == "failed as expected"}
    assert failed == THEIRS[estimator]
    assert sum(outcome.status == "passed" for outcome in outcomes) > 50


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [Centroids(), JoiningCentroids()])
def test_a_classifier_that_does_all_right_passes(estimator):
    outcomes = check_online_classifier(estimator)
    assert {outcome.status for outcome in outcomes} <= {"passed", "skipped"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_what_is_wrong_is_noticed(broken):
    checks = {check.__name__: check for _, check in online_checks(broken())}
    with pytest.raises(AssertionError, match="expected") as caught:
        checks[f"check_{BROKEN[broken]}"](broken())
    assert str(caught.value).count("\n") == 0


def test_every_check_has_been_seen_to_fail():
    ours = {
        check.__name__
        for kind in {Centroids, JoiningCentroids, *BROKEN}
        for _, check in online_checks(kind())
        if check.__module__.startswith("driftline.")
    }
    assert ours == {f"check_{name}" for name in BROKEN.values()}


@pytest.mark.filterwarnings("ignore")
def test_all_failures_are_told_at_once_each_with_its_check():
    with pytest.raises(ExceptionGroup, match=r"KeepsAllRows\(\) fails 2 of \d+ checks") as caught:
        check_online_classifier(KeepsAllRows())
    theirs, ours = caught.value.exceptions
    assert theirs.__notes__ == ["Raised by check_dont_overwrite_parameters for KeepsAllRows()."]  # `rows` is public
    assert isinstance(ours, AssertionError)
    assert re.match("4,000 rows: expected less than 2,000 bytes more than in the first 2,000 rows", str(ours))
    assert ours.__notes__ == ["Raised by check_memory_is_bounded for KeepsAllRows()."]


@pytest.mark.parametrize("estimator", [Centroids, LinearSVC(), SGDRegressor(), None])
def test_what_is_no_online_classifier_is_refused(estimator):
    with pytest.raises(ConfigError, match="estimator must be an instance of a scikit-learn classifier"):
        online_checks(estimator)
