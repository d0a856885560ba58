"""Tracking: from labelled instances to the uncertainty set in force at the next step."""

from driftline.tracking.base import Tracker
from driftline.tracking.kinematic import KinematicTracker
from driftline.tracking.window import LabelWindow

__all__ = ["KinematicTracker", "LabelWindow", "Tracker"]
