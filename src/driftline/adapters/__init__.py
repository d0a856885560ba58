"""Classifiers of other libraries behind our interface: each module is the only importer of its library."""

from driftline.adapters.capymoa import CapyMOAClassifier
from driftline.adapters.river import RiverClassifier
from driftline.adapters.scaled import ScaledClassifier

__all__ = ["CapyMOAClassifier", "RiverClassifier", "ScaledClassifier"]
