"""The checks that apply to a classifier, and a run of them all."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest import SkipTest

from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from driftline.checks import columns, course, evaluations, independence, labels, order
from driftline.checks.subjects import is_multi_class, takes_any_class
from driftline.errors import ConfigError

Check = Callable[[Any], None]
"""Takes an unfitted estimator and raises AssertionError if it does not do what is expected; has a `__name__`."""

ALWAYS: tuple[Check, ...] = (
    order.check_same_rows_give_same_model,
    order.check_grouping_into_batches_changes_nothing,
    order.check_global_random_numbers_are_left_alone,
    independence.check_prediction_changes_nothing,
    independence.check_copies_are_independent,
    independence.check_rows_stay_the_callers,
    labels.check_labels_may_be_of_any_kind,
    labels.check_labels_are_one_for_each_row,
    labels.check_one_class_is_enough,
    columns.check_constant_columns_do_no_harm,
    columns.check_rows_of_zeros_do_no_harm,
    columns.check_rows_that_repeat_do_no_harm,
    columns.check_one_column_is_enough,
    columns.check_scales_do_no_harm,
    columns.check_infinities_are_refused,
    columns.check_other_columns_are_refused,
    columns.check_empty_batches_are_refused,
    course.check_memory_is_bounded,
    evaluations.check_evaluation_is_as_by_hand,
    evaluations.check_evaluation_with_late_labels_is_as_by_hand,
)
"""Our checks that any classifier should pass."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a check.

    Attributes
    ----------
    check : str
        Its name.
    status : {"passed", "skipped", "failed as expected"}
        Checks of scikit-learn are skipped that need a package which is not installed.
    reason : str
        Why, if it was not passed.
    """

    check: str
    status: str
    reason: str = ""


def check_online_classifier(
    estimator: Any, *, expected_failed_checks: Mapping[str, str] | None = None
) -> list[Outcome]:
    """Check that a classifier with `partial_fit` behaves as those who feed it a stream rely on.

    All checks of scikit-learn are run, then ours: predictions change nothing, batches do not matter, copies are
    independent, what is refused leaves no trace, memory is bounded, and so on; see `online_checks`.

    What a classifier can do is seen from what it has:

    - `random_state`: it is set to fixed seeds.
    - `predict_proba`: its rows are finite and sum to 1.
    - `save` and `load` (called on the class): a loaded model goes on as if it had never stopped.
    - `prequential` and `assess`, the methods that `driftline.evaluation.evaluate` prefers: classes need no
      announcement, and new ones join. Others may refuse classes not announced, by a ValueError.
    - the tag `input_tags.allow_nan`: missing values are learned and predicted; without it, refused.
    - the tag `input_tags.positive_only`: rows are moved accordingly.
    - the tag `classifier_tags.multi_class`: more than two classes.
    - the tag `classifier_tags.poor_score`: it need not learn what is easy.

    Parameters
    ----------
    estimator : estimator
        An instance. Make windows and budgets small, and what is slow quick: some hundred models learn.
    expected_failed_checks : dict, optional
        Names of checks that may fail, each with the reason.

    Returns
    -------
    list of Outcome
        What came of each check.

    Raises
    ------
    ExceptionGroup
        If checks failed that were not expected to: what each of them raised, an AssertionError if it is ours.

    Examples
    --------
    >>> from driftline.baselines import RBP
    >>> from driftline.checks import check_online_classifier
    >>> outcomes = check_online_classifier(RBP())
    >>> len(outcomes) > 70, [outcome.check for outcome in outcomes if "failed" in outcome.status]
    (True, [])
    """
    expected = expected_failed_checks or {}
    outcomes, failures = [], []
    for subject, check in online_checks(estimator):
        name = check.__name__
        try:
            check(subject)
        except SkipTest as reason:
            outcomes.append(Outcome(name, "skipped", str(reason)))
        except Exception as error:
            error.add_note(f"This is {name} of {subject!r}.")
            if name in expected:
                outcomes.append(Outcome(name, "failed as expected", expected[name]))
            else:
                failures.append(error)
        else:
            outcomes.append(Outcome(name, "passed"))
    if failures:
        total = len(outcomes) + len(failures)
        raise ExceptionGroup(f"{estimator!r} fails {len(failures)} of {total} checks", failures)
    return outcomes


def online_checks(estimator: Any) -> list[tuple[Any, Check]]:
    """Return the checks that apply to a classifier, for a test case each.

    Parameters
    ----------
    estimator : estimator
        As for `check_online_classifier`.

    Returns
    -------
    list of tuple
        Each an estimator, as the check is to have it, and the check: ``check(estimator)``; it has a ``__name__``.

    Examples
    --------
    In a file of tests, a case for each check:

    .. code-block:: python

        @pytest.mark.parametrize(("estimator", "check"), online_checks(MyClassifier()))
        def test_my_classifier_keeps_to_what_streams_need(estimator, check):
            check(estimator)

    >>> from driftline.baselines import RBP
    >>> from driftline.checks import online_checks
    >>> names = [check.__name__ for _, check in online_checks(RBP())]
    >>> "check_memory_is_bounded" in names, "check_estimators_pickle" in names
    (True, True)
    """
    lacking = [name for name in ("partial_fit", "predict", "get_params") if not hasattr(estimator, name)]
    if isinstance(estimator, type) or lacking or get_tags(estimator).classifier_tags is None:
        raise ConfigError(
            "estimator must be an instance of a scikit-learn classifier (ClassifierMixin, BaseEstimator) with "
            f"partial_fit and predict; got {estimator!r}"
        )
    theirs = list(estimator_checks_generator(estimator))
    for _, check in theirs:
        check.__name__ = check.func.__name__
    return [*theirs, *((estimator, _saying_what_was_expected(check)) for check in _own_checks(estimator))]


def _own_checks(estimator: Any) -> Iterator[Check]:
    """Yield our checks: those for all, and those for what this one can do."""
    yield from ALWAYS
    tags, any_class = get_tags(estimator), takes_any_class(estimator)
    if hasattr(estimator, "save") and hasattr(estimator, "load"):
        yield independence.check_saved_models_go_on_alike
    if tags.input_tags.allow_nan:
        yield columns.check_missing_values_are_learned_and_predicted
    else:
        yield columns.check_missing_values_are_refused
    if not tags.classifier_tags.poor_score:
        yield course.check_it_learns
    if any_class:
        yield evaluations.check_prequential_is_as_by_hand
    if is_multi_class(estimator):
        yield labels.check_many_classes_can_be_told_apart
        if any_class:
            yield labels.check_a_class_that_comes_unannounced_joins
        else:
            yield labels.check_a_class_that_comes_unannounced_joins_or_is_refused


def _saying_what_was_expected(check: Check) -> Check:
    """Return a check that fails with an AssertionError also where the classifier raises an error of its own."""

    @wraps(check)
    def checked(estimator: Any) -> None:
        try:
            check(estimator)
        except AssertionError:
            raise
        except Exception as error:
            expected = (check.__doc__ or "").splitlines()[0].removeprefix("Check ")
            came = f"{type(error).__name__}: {error}".splitlines()[0]
            raise AssertionError(f"expected {expected} Got {came}") from error

    return checked
