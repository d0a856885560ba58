"""The methods that the paper compares AMRC with, and baselines that ignore the features."""

from driftline.baselines.adaraker import AdaRaker
from driftline.baselines.dwm import DWM
from driftline.baselines.fogd import FOGD
from driftline.baselines.forgetron import Forgetron
from driftline.baselines.label_only import Majority, NoChange, WindowedMajority
from driftline.baselines.lambda_perceptron import LambdaPerceptron
from driftline.baselines.nogd import NOGD
from driftline.baselines.norma import NORMA
from driftline.baselines.projectron import Projectron
from driftline.baselines.projectron_plus import ProjectronPlusPlus
from driftline.baselines.rbp import RBP

__all__ = [
    "DWM",
    "FOGD",
    "NOGD",
    "NORMA",
    "RBP",
    "AdaRaker",
    "Forgetron",
    "LambdaPerceptron",
    "Majority",
    "NoChange",
    "Projectron",
    "ProjectronPlusPlus",
    "WindowedMajority",
]
