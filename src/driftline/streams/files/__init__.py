"""Streams from users' files: CSV, JSON lines, ARFF, Parquet, NPZ.

The modules, in the order in which data pass through them::

    input_file      opens a file or pipe, recognises its format, and reads its lines
    delimited, json_lines, arff      cut lines into rows of cells;   parquet      reads chunks of cells
    reader          one pass over a file of any of these formats: chunks of cells, and the malformed rows
    options         which columns are features, label and time
    cells, encoders, layout          encode the cells of a chunk as numbers and labels
    stream          `open_stream`, and the stream as blocks of rows
    row_file        rows to predict, encoded as in an earlier stream
    npz             arrays, which need nothing of all this
"""

from driftline.streams.files.row_file import RowFile, numeric_layout
from driftline.streams.files.stream import FileStream, open_stream

__all__ = ["FileStream", "RowFile", "numeric_layout", "open_stream"]
