"""Streams from users' files: CSV, JSON lines, ARFF, Parquet, NPZ."""

from driftline.streams.files.stream import FileStream, open_stream

__all__ = ["FileStream", "open_stream"]
