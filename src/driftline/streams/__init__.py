"""Streams: where instances and labels come from."""

from driftline.streams import catalogue
from driftline.streams.arrays import ArrayStream
from driftline.streams.base import Stream
from driftline.streams.loading import load
from driftline.streams.npz import NpzStream
from driftline.streams.scaling import RangeScaled
from driftline.streams.synthetic import RotatingGaussians

__all__ = ["ArrayStream", "NpzStream", "RangeScaled", "RotatingGaussians", "Stream", "catalogue", "load"]
