"""Streams: where instances and labels come from."""

from driftline.streams.synthetic import RotatingGaussians

__all__ = ["RotatingGaussians"]
