"""Streams: where instances and labels come from."""

from driftline.streams import catalogue
from driftline.streams.arrays import ArrayStream
from driftline.streams.base import Stream
from driftline.streams.components import GaussianComponents
from driftline.streams.files import FileStream, open_stream
from driftline.streams.loading import load
from driftline.streams.mixtures import DriftingGaussians, SyntheticStream
from driftline.streams.npz import NpzStream
from driftline.streams.risk import ErrorProbability
from driftline.streams.scaling import RangeScaled
from driftline.streams.schedules import AbruptDrift, GradualDrift, RecurringDrift, ReoccurringClasses
from driftline.streams.synthetic import DriftingFeatures, GaussianClasses, MovingClass, RotatingGaussians

__all__ = [
    "AbruptDrift",
    "ArrayStream",
    "DriftingFeatures",
    "DriftingGaussians",
    "ErrorProbability",
    "FileStream",
    "GaussianClasses",
    "GaussianComponents",
    "GradualDrift",
    "MovingClass",
    "NpzStream",
    "RangeScaled",
    "RecurringDrift",
    "ReoccurringClasses",
    "RotatingGaussians",
    "Stream",
    "SyntheticStream",
    "catalogue",
    "load",
    "open_stream",
]
