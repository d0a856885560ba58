"""Checks that every classifier with `partial_fit` should pass."""

from driftline.checks.suite import CheckResult, check_online_classifier, online_checks

__all__ = ["CheckResult", "check_online_classifier", "online_checks"]
