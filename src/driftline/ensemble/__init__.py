"""The default AMRC: members with different memories and features, mixed online, with a calibrated bound."""

from driftline.ensemble.estimator import AMRC
from driftline.ensemble.plan import EnsemblePlan, MemberPlan, SpacePlan, default_plan

__all__ = ["AMRC", "EnsemblePlan", "MemberPlan", "SpacePlan", "default_plan"]
