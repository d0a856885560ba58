"""Classifiers of scikit-learn, River and CapyMOA with driftline's interface, AMRC with theirs, and fleets on Spark."""

from driftline.adapters.capymoa import CapyMOAClassifier
from driftline.adapters.river import RiverClassifier
from driftline.adapters.scaled import ScaledClassifier

__all__ = ["CapyMOAClassifier", "RiverClassifier", "ScaledClassifier"]
