"""Streams whose rows lie in this package, as CSV compressed by gzip, so that nothing is downloaded."""

import csv
import gzip
import io
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

from driftline.streams.arrays import ArrayStream
from driftline.streams.catalogue.datasets import Dataset, DatasetColumn
from driftline.types import Vector


def bundled_file(dataset: Dataset) -> Traversable:
    """Return the file of a bundled stream.

    Parameters
    ----------
    dataset : Dataset
        A stream of the format "bundled".

    Returns
    -------
    Traversable
        The file, inside this package.
    """
    return files("driftline.streams.catalogue") / dataset.file


def read_bundled(dataset: Dataset) -> ArrayStream:
    """Read a bundled stream: the time in the first column of the file, the label in the last.

    Parameters
    ----------
    dataset : Dataset
        A stream of the format "bundled".

    Returns
    -------
    ArrayStream
        The rows with their times, codes in the nominal columns, and the labels as text.
    """
    text = gzip.decompress(bundled_file(dataset).read_bytes()).decode()
    times, *cells, labels = np.array(list(csv.reader(io.StringIO(text)))[1:]).T
    columns = dataset.columns
    X = np.column_stack([_numbers(texts, column) for texts, column in zip(cells, columns, strict=True)])
    return ArrayStream(
        X, labels, times.astype("datetime64[s]"), name=dataset.name, columns=[column.name for column in columns]
    )


def _numbers(texts: "np.ndarray[tuple[int], np.dtype[np.str_]]", column: DatasetColumn) -> Vector:
    """Return the cells of a column as numbers: categories as their codes, empty cells as NaN."""
    if column.values:
        codes = {value: column.code + i for i, value in enumerate(column.values)}
        return np.array([codes[text] for text in texts.tolist()], np.float64)
    return np.where(texts == "", "nan", texts).astype(np.float64)
