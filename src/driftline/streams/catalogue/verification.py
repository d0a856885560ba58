"""Verification that a file contains the published stream that it should contain."""

import hashlib
from pathlib import Path

import numpy as np

from driftline.errors import DataError
from driftline.streams.catalogue.datasets import Dataset
from driftline.streams.files.npz import ArrayReader, NpzStream, opened
from driftline.streams.protocol import BLOCK_ROWS


def check_dataset_file(dataset: Dataset, path: Path) -> None:
    """Raise a DataError if a file is not the converted file of a published stream.

    Parameters
    ----------
    dataset : Dataset
        The stream that the file should be.
    path : Path
        The file.
    """
    reason = find_mismatch(dataset, path)
    if reason:
        raise DataError(
            f"{path} is not the stream {dataset.name}: {reason}. "
            f"Move it away and run 'driftline data fetch {dataset.name}'"
        )


def find_mismatch(dataset: Dataset, path: Path) -> str | None:
    """Return the difference between a file and the converted file of a published stream; None if there is none.

    The digest of the file is compared first. If it differs, the digest of the arrays is compared, because the same
    arrays can be compressed in many ways. If no digest is known, the numbers of rows, columns and rows of each class
    are compared.

    Parameters
    ----------
    dataset : Dataset
        The stream that the file should be.
    path : Path
        The file.

    Returns
    -------
    str or None
        The expected and the actual digest or numbers.
    """
    try:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == dataset.sha256:
                return None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    found: object
    expected: object
    if dataset.content is None:
        what, expected = "rows, columns and rows of each class", (dataset.rows, len(dataset.columns), dataset.counts)
        found = _counts(path, len(dataset.counts))
    else:
        what, expected, found = "arrays with the digest", dataset.content, content_digest(path)
    return None if found == expected else f"expected {what} {expected}; got {found}"


def content_digest(path: Path) -> str:
    """Return the sha256 of the types, shapes and numbers of `X` and `y`, whatever the compression of the file.

    Parameters
    ----------
    path : Path
        An .npz file.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    NpzStream(path)  # raises a DataError if this is not such a file
    digest = hashlib.sha256()
    with opened(path) as archive:
        for key in ("X", "y"):
            reader = ArrayReader(archive, key)
            kind = reader.dtype.newbyteorder("<")
            digest.update(f"{key} {kind.str} {reader.shape}\n".encode())
            for first in range(0, reader.shape[0], BLOCK_ROWS):
                digest.update(reader.read(min(BLOCK_ROWS, reader.shape[0] - first)).astype(kind).tobytes())
            reader.finish()
    return digest.hexdigest()


def _counts(path: Path, n_classes: int) -> tuple[int, int, tuple[int, ...]]:
    stream = NpzStream(path)
    labels = np.concatenate([stream.classes()[:0], *(block.labels for block in stream.blocks())])
    return stream.n_rows, len(stream.columns), tuple(int(np.sum(labels == label)) for label in range(n_classes))
