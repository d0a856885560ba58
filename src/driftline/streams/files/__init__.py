"""Streams from users' files: CSV, JSON lines, ARFF, Parquet, NPZ."""

from driftline.streams.files.rows import RowFile, numeric_layout
from driftline.streams.files.stream import FileStream, open_stream

__all__ = ["FileStream", "RowFile", "numeric_layout", "open_stream"]
