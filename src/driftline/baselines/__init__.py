"""The methods that the paper compares AMRC with, and floors that any method should beat."""

from driftline.baselines.dwm import DWM
from driftline.baselines.floors import Majority, NoChange, WindowedMajority
from driftline.baselines.rbp import RBP

__all__ = ["DWM", "RBP", "Majority", "NoChange", "WindowedMajority"]
