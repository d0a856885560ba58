"""Streams: where instances and labels come from."""

from driftline.streams.arrays import ArrayStream
from driftline.streams.base import Stream
from driftline.streams.scaling import RangeScaled
from driftline.streams.synthetic import RotatingGaussians

__all__ = ["ArrayStream", "RangeScaled", "RotatingGaussians", "Stream"]
