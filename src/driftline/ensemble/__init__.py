"""The default AMRC: members with different memories and features, mixed online, with a calibrated bound."""

from driftline.ensemble.estimator import AMRC
from driftline.ensemble.plan import MemberPlan, SpacePlan, default_plan

__all__ = ["AMRC", "MemberPlan", "SpacePlan", "default_plan"]
