"""The default AMRC: members with different memories and features, mixed online, with a calibrated bound."""

from driftline.ensemble.assembly import assemble_ensemble
from driftline.ensemble.drift import drift_table
from driftline.ensemble.learner import EnsembleLearner
from driftline.ensemble.plan import MemberPlan, SpacePlan, default_plan

__all__ = ["EnsembleLearner", "MemberPlan", "SpacePlan", "assemble_ensemble", "default_plan", "drift_table"]
