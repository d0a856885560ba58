"""Streams in NumPy's .npz files, read one block at a time."""

import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from driftline.errors import DataError
from driftline.streams.preview import NotebookPreview
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import Block, LabelArray
from driftline.utils.validation import read_times, whole_number

SKIP_BYTES = 2**20
"""Number of bytes read at once of rows that are skipped."""
DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile)
"""The errors that reading a file raises if it is cut off, damaged, encrypted or of another format."""


class ArrayReader:
    """Reads one array of an .npz file row by row.

    Parameters
    ----------
    archive : ZipFile
        The file.
    key : str
        Name of the array.

    Attributes
    ----------
    shape : tuple of int
        Shape of the array.
    dtype : dtype
        Type of its values.
    """

    def __init__(self, archive: zipfile.ZipFile, key: str) -> None:
        info = archive.getinfo(f"{key}.npy")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{key} is compressed in a way that NumPy does not use")
        self._key = key
        self._file = archive.open(info)
        version = npy.read_magic(self._file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{key} is in version {version} of the .npy format, which plain arrays do not need")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        self.shape, by_columns, self.dtype = read_header(self._file)
        if by_columns:
            raise ValueError(f"{key} is stored by columns; save np.ascontiguousarray({key}) instead")

    def read(self, n_rows: int) -> LabelArray:
        """Return the next rows.

        Parameters
        ----------
        n_rows : int
            Number of rows; at least as many must be left.

        Returns
        -------
        ndarray
            The rows, in the byte order of the machine.
        """
        shape = (n_rows, *self.shape[1:])
        n_bytes = prod(shape) * self.dtype.itemsize
        data = self._file.read(n_bytes)
        if len(data) < n_bytes:
            raise EOFError(f"{self._key} ends before its last row")
        return np.frombuffer(data, self.dtype).reshape(shape).astype(self.dtype.newbyteorder("="))

    def skip(self, n_rows: int) -> None:
        """Skip rows.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        """
        # By reading them: after a seek, some versions of zipfile are wrong about how much is left.
        left = n_rows * prod(self.shape[1:]) * self.dtype.itemsize
        while left > 0:
            data = self._file.read(min(left, SKIP_BYTES))
            if not data:
                raise EOFError(f"{self._key} ends before its last row")
            left -= len(data)

    def finish(self) -> None:
        """Check that no data follow the last row; zipfile then verifies the checksum of the array, too."""
        if self._file.read(1):
            raise ValueError(f"{self._key} has data after its last row")


class NpzStream(NotebookPreview):
    """Rows and labels in an .npz file, read in constant memory.

    The file holds a matrix of numbers `X`, in C order (NumPy's usual one), a vector of labels `y` and, if the
    rows have times, a vector `times`: what ``np.savez_compressed(path, X=X, y=y)`` writes.

    Parameters
    ----------
    path : str or path-like
        The file.
    name : str, optional
        Name of the stream; by default that of the file without its extension.
    columns : sequence of str, optional
        Names of the columns; by default x0, x1, …

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> np.savez(folder / "small.npz", X=[[0.5, 1.0], [0.7, 2.0], [0.1, 0.0]], y=["no", "yes", "no"])
    >>> stream = NpzStream(folder / "small.npz")
    >>> stream.name, stream.columns, stream.n_rows, stream.classes().tolist()
    ('small', ('x0', 'x1'), 3, ['no', 'yes'])
    >>> next(stream.blocks(start=2)).rows
    array([[0.1, 0. ]])
    """

    def __init__(
        self, path: str | os.PathLike[str], *, name: str | None = None, columns: Sequence[str] | None = None
    ) -> None:
        self._path = Path(path)
        self.name = self._path.stem if name is None else name
        with opened(self._path) as archive:
            self._has_times = "times.npy" in archive.namelist()
            shape = _shape(archive, self._has_times)
        self.n_rows, n_columns = shape
        self.columns = tuple(f"x{j}" for j in range(n_columns)) if columns is None else tuple(map(str, columns))
        if len(self.columns) != n_columns:
            raise DataError(f"{self._path} has {n_columns} columns, but {len(self.columns)} names were given")

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read the rows one block at a time.

        Parameters
        ----------
        start : int, default=0
            Position of the first row to read.

        Yields
        ------
        Block
            At most `BLOCK_ROWS` rows.
        """
        whole_number("start", start, at_least=0)
        with opened(self._path) as archive:
            if _shape(archive, self._has_times) != (self.n_rows, len(self.columns)):
                raise ValueError("the file has changed since the stream was opened")
            readers = [ArrayReader(archive, key) for key in ("X", "y", "times")[: 3 if self._has_times else 2]]
            for reader in readers:
                reader.skip(min(start, self.n_rows))
            last = None
            for first in range(start, self.n_rows, BLOCK_ROWS):
                n_rows = min(BLOCK_ROWS, self.n_rows - first)
                rows, labels, *times = (reader.read(n_rows) for reader in readers)
                _check_labels(labels, first)
                try:
                    moments = read_times(times[0] if times else None, n_rows, last)
                except DataError as error:
                    raise ValueError(f"counting rows from {first} as 0, {error}") from error
                last = moments[-1] if times else None
                yield Block(rows.astype(np.float64), labels, moments)
            for reader in readers:
                reader.finish()

    def classes(self) -> LabelArray:
        """Return the labels that occur, sorted.

        Returns
        -------
        ndarray
            The labels.
        """
        with opened(self._path) as archive:
            reader = ArrayReader(archive, "y")
            labels = reader.read(0)
            for first in range(0, self.n_rows, BLOCK_ROWS):
                part = reader.read(min(BLOCK_ROWS, self.n_rows - first))
                _check_labels(part, first)
                labels = np.union1d(labels, part)
            return labels


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an .npz file; errors in reading it become a `DataError` that names the file.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    ZipFile
        The open file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except DAMAGE as error:
        raise DataError(
            f"{path} cannot be read: {error}; expected an .npz file, whole, with numbers X of shape (rows, columns) "
            "and labels y of shape (rows,)"
        ) from error


def open_rows(archive: zipfile.ZipFile) -> ArrayReader:
    """Return a reader of the rows, which must be a matrix of numbers.

    Parameters
    ----------
    archive : ZipFile
        The open file.

    Returns
    -------
    ArrayReader
        The reader of X.
    """
    _check_contains(archive, "X")
    X = ArrayReader(archive, "X")
    if len(X.shape) != 2 or X.shape[0] < 0 or X.shape[1] < 1 or X.dtype.kind not in "biuf":
        raise ValueError(f"X has the shape {X.shape} and the type {X.dtype}")
    return X


def _check_contains(archive: zipfile.ZipFile, key: str) -> None:
    if f"{key}.npy" not in archive.namelist():
        raise ValueError(f"it has no {key}, only {', '.join(archive.namelist())}")


def _shape(archive: zipfile.ZipFile, has_times: bool) -> tuple[int, int]:
    """Return the numbers of rows and columns; arrays that do not form a stream are an error."""
    X = open_rows(archive)
    _check_contains(archive, "y")
    y = ArrayReader(archive, "y")
    n_rows, n_columns = X.shape
    if y.shape != (n_rows,) or y.dtype.kind not in "biufU":
        raise ValueError(f"X has the shape {X.shape}, and y the shape {y.shape} and the type {y.dtype}")
    if has_times:
        times = ArrayReader(archive, "times")
        if times.shape != (n_rows,) or times.dtype.kind not in "iufM":
            raise ValueError(f"X has the shape {X.shape}, and times the shape {times.shape} and the type {times.dtype}")
    return n_rows, n_columns


def _check_labels(labels: LabelArray, first: int) -> None:
    """Raise an error if a label is missing or is not a whole number."""
    if labels.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(labels) | (labels != np.round(labels)))
        if wrong.size:
            raise ValueError(f"the label of row {first + wrong[0]} is {labels[wrong[0]]}, not a whole number or text")
