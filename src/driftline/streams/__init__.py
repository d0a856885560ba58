"""Streams of labelled rows: from files, from arrays, published and synthetic."""

from driftline.streams import catalogue
from driftline.streams.arrays import ArrayStream
from driftline.streams.catalogue.loading import load
from driftline.streams.derived import RangeScaled
from driftline.streams.files import FileStream, open_stream
from driftline.streams.files.columns import ColumnDescription, ColumnDescriptions, ColumnWarning
from driftline.streams.files.npz import NpzStream
from driftline.streams.protocol import Stream
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.gaussians import DriftingFeatures, GaussianClasses, MovingClass, RotatingGaussians
from driftline.streams.synthetic.mixtures import DriftingGaussians, SyntheticStream
from driftline.streams.synthetic.risk import ErrorProbability
from driftline.streams.synthetic.schedules import AbruptDrift, GradualDrift, RecurringDrift, ReoccurringClasses

__all__ = [
    "AbruptDrift",
    "ArrayStream",
    "ColumnDescription",
    "ColumnDescriptions",
    "ColumnWarning",
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
