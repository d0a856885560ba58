"""The test-kit: what any classifier that learns online should keep to, checked."""

from driftline.checks.kit import Outcome, check_online_classifier, online_checks

__all__ = ["Outcome", "check_online_classifier", "online_checks"]
