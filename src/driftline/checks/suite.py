"""The list of checks for a classifier, and the function that runs them all."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest import SkipTest

from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from driftline.checks import determinism, difficult_rows, evaluations, labels, long_streams, side_effects
from driftline.checks.classifier_under_test import accepts_new_classes, is_multi_class
from driftline.errors import ConfigError

Check = Callable[[Any], None]
"""A function with a `__name__` that takes an unfitted estimator and raises AssertionError if the check fails."""

COMMON_CHECKS: tuple[Check, ...] = (
    determinism.check_same_rows_give_same_model,
    determinism.check_grouping_into_batches_changes_nothing,
    determinism.check_global_random_state_is_unchanged,
    side_effects.check_prediction_changes_nothing,
    side_effects.check_copies_are_independent,
    side_effects.check_input_arrays_are_not_changed,
    labels.check_labels_may_have_any_type,
    labels.check_wrong_number_of_labels_is_refused,
    labels.check_one_class_is_enough,
    difficult_rows.check_constant_columns_do_no_harm,
    difficult_rows.check_rows_of_zeros_do_no_harm,
    difficult_rows.check_repeated_rows_do_no_harm,
    difficult_rows.check_one_column_is_enough,
    difficult_rows.check_scales_do_no_harm,
    difficult_rows.check_infinities_are_refused,
    difficult_rows.check_wrong_number_of_columns_is_refused,
    difficult_rows.check_empty_batches_are_refused,
    long_streams.check_memory_is_bounded,
    evaluations.check_evaluation_matches_manual_loop,
    evaluations.check_evaluation_with_late_labels_matches_manual_loop,
)
"""Checks that apply to every classifier."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Attributes
    ----------
    check : str
        Name of the check.
    status : {"passed", "skipped", "failed as expected"}
        A check of scikit-learn is skipped if it needs a package that is not installed.
    reason : str
        Why the check was skipped or expected to fail.
    """

    check: str
    status: str
    reason: str = ""


def check_online_classifier(
    estimator: Any, *, expected_failed_checks: Mapping[str, str] | None = None
) -> list[CheckResult]:
    """Check that a classifier with `partial_fit` is fit for streams.

    All checks of scikit-learn are run, then those of driftline: predictions do not change the model, the batch size
    does not matter, copies are independent, refused rows do not change the model, memory is bounded, and so on; see
    `online_checks`.

    Some checks depend on the methods, parameters and tags of the classifier:

    - `random_state`: it is set to fixed seeds.
    - `predict_proba`: its rows must be finite and sum to 1.
    - `save` and `load` (a class method): a loaded model must continue exactly like the saved one.
    - `prequential` and `assess`, the methods that `driftline.evaluation.evaluate` prefers: classes need not be
      announced, and new classes must be added. Other classifiers may refuse unannounced classes with a ValueError.
    - the tag `input_tags.allow_nan`: missing values must be learned and predicted; without it, they must be refused.
    - the tag `input_tags.positive_only`: all numbers are shifted to be positive.
    - the tag `classifier_tags.multi_class`: checks with more than two classes are run.
    - the tag `classifier_tags.poor_score`: the classifier need not learn two well-separated classes.

    Parameters
    ----------
    estimator : estimator
        An instance. Make windows and budgets small and training fast: several hundred models are fitted.
    expected_failed_checks : dict, optional
        Names of checks that may fail, each with the reason.

    Returns
    -------
    list of CheckResult
        The result of each check.

    Raises
    ------
    ExceptionGroup
        If other checks failed. It contains the exception of each; those of driftline's checks are AssertionErrors.

    Examples
    --------
    >>> from driftline.baselines import RBP
    >>> from driftline.checks import check_online_classifier
    >>> results = check_online_classifier(RBP())
    >>> len(results) > 70, [result.check for result in results if "failed" in result.status]
    (True, [])
    """
    expected = expected_failed_checks or {}
    results, failures = [], []
    for subject, check in online_checks(estimator):
        name = check.__name__
        try:
            check(subject)
        except SkipTest as reason:
            results.append(CheckResult(name, "skipped", str(reason)))
        except Exception as error:
            error.add_note(f"Raised by {name} for {subject!r}.")
            if name in expected:
                results.append(CheckResult(name, "failed as expected", expected[name]))
            else:
                failures.append(error)
        else:
            results.append(CheckResult(name, "passed"))
    if failures:
        total = len(results) + len(failures)
        raise ExceptionGroup(f"{estimator!r} fails {len(failures)} of {total} checks", failures)
    return results


def online_checks(estimator: Any) -> list[tuple[Any, Check]]:
    """Return the checks that apply to a classifier, so that each can be a test case.

    Parameters
    ----------
    estimator : estimator
        As for `check_online_classifier`.

    Returns
    -------
    list of tuple
        Pairs of an estimator and a check, to be called as ``check(estimator)``; a check has a ``__name__``.

    Examples
    --------
    In a file of tests, one case for each check:

    .. code-block:: python

        @pytest.mark.parametrize(("estimator", "check"), online_checks(MyClassifier()))
        def test_my_classifier_is_fit_for_streams(estimator, check):
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
    sklearn_checks = list(estimator_checks_generator(estimator))
    for _, check in sklearn_checks:
        check.__name__ = check.func.__name__
    return [*sklearn_checks, *((estimator, _with_expectation(check)) for check in _own_checks(estimator))]


def _own_checks(estimator: Any) -> Iterator[Check]:
    """Yield driftline's checks: the common ones, and those that depend on methods and tags."""
    yield from COMMON_CHECKS
    tags, any_class = get_tags(estimator), accepts_new_classes(estimator)
    if hasattr(estimator, "save") and hasattr(estimator, "load"):
        yield side_effects.check_saved_models_continue_identically
    if tags.input_tags.allow_nan:
        yield difficult_rows.check_missing_values_are_learned_and_predicted
    else:
        yield difficult_rows.check_missing_values_are_refused
    if not tags.classifier_tags.poor_score:
        yield long_streams.check_easy_classes_are_learned
    if any_class:
        yield evaluations.check_prequential_matches_manual_loop
    if is_multi_class(estimator):
        yield labels.check_many_classes_are_supported
        if any_class:
            yield labels.check_unannounced_class_is_added
        else:
            yield labels.check_unannounced_class_is_added_or_refused


def _with_expectation(check: Check) -> Check:
    """Return a check that raises an AssertionError with the expectation if the classifier raises another error."""

    @wraps(check)
    def checked(estimator: Any) -> None:
        try:
            check(estimator)
        except AssertionError:
            raise
        except Exception as error:
            expected = (check.__doc__ or "").splitlines()[0].removeprefix("Check ")
            actual = f"{type(error).__name__}: {error}".splitlines()[0]
            raise AssertionError(f"expected {expected} Got {actual}") from error

    return checked
