"""Loading of published streams by name: found on disk, or downloaded and converted."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from driftline.errors import ConfigError, DataError, DownloadError, DriftlineError
from driftline.streams.catalogue.bundled import read_bundled
from driftline.streams.catalogue.conversion import convert
from driftline.streams.catalogue.datasets import Dataset, describe
from driftline.streams.catalogue.download import fetch_file
from driftline.streams.catalogue.encoding import EncodedStream
from driftline.streams.catalogue.locations import cache_folder, find_dataset, search_folders
from driftline.streams.catalogue.verification import check_dataset_file, find_mismatch
from driftline.streams.files.npz import NpzStream
from driftline.streams.protocol import Stream
from driftline.utils.atomic_write import replacing
from driftline.utils.progress import ProgressBar

TIMEOUT_SECONDS = 30.0
"""Longest time without an answer from a server."""
DOWNLOAD_FOLDER_PREFIX = ".driftline-download-"
"""Beginning of the names of the temporary folders for downloads."""
STALE_AFTER_SECONDS = 86400.0
"""Age at which a temporary file in the cache is taken for a leftover of a killed process, and removed."""


def load(name: str, *, nominal: str = "codes", with_leaks: bool = False, download: bool = True) -> Stream:
    """Return a published stream.

    The stream *flights* comes with this package. Any other is searched for in the folder named by the environment
    variable DRIFTLINE_DATA, then in the user's cache (or the folder named by DRIFTLINE_CACHE). If it is in neither, it
    is downloaded, converted and written to the cache. Its file is always checked to be that stream.

    Parameters
    ----------
    name : str
        One of `catalogue.names()`; `catalogue.describe(name)` describes it.
    nominal : {"codes", "onehot"}, default="codes"
        Return nominal columns as codes, or as one column of 0 and 1 for each category, such as "airline=AA".
    with_leaks : bool, default=False
        Whether to keep columns that determine the label; among the published streams, only smartgrid has one.
    download : bool, default=True
        Whether to download the stream if it is not on this computer.

    Returns
    -------
    Stream
        The stream; its labels are 0, 1, …, those of *flights* "late" and "on time".

    Examples
    --------
    >>> flights = load("flights")
    >>> flights.n_rows, flights.columns[:4], flights.classes().tolist()
    (8857, ('carrier', 'minutes', 'weekday', 'recent_delay'), ['late', 'on time'])
    >>> stream = load("weather")  # doctest: +SKIP
    >>> stream.n_rows, stream.columns[:2]  # doctest: +SKIP
    (18159, ('temperature', 'dew_point'))
    >>> load("wether")
    Traceback (most recent call last):
        ...
    driftline.errors.ConfigError: there is no published stream 'wether' (...); did you mean weather?
    """
    dataset = describe(name)
    if nominal not in ("codes", "onehot"):
        raise ConfigError(f"nominal must be 'codes' or 'onehot'; got {nominal!r}")
    if dataset.format == "bundled":
        stream: Stream = read_bundled(dataset)
    else:
        path = converted_file(dataset, download=download)
        stream = NpzStream(path, name=dataset.name, columns=[column.name for column in dataset.columns])
    encoded = EncodedStream(stream, dataset.columns, with_leaks=with_leaks, onehot=nominal == "onehot")
    return stream if encoded.columns == stream.columns else encoded


def converted_file(dataset: Dataset, *, download: bool = True) -> Path:
    """Return the converted file of a published stream; download and convert the original files if necessary.

    Parameters
    ----------
    dataset : Dataset
        The stream.
    download : bool, default=True
        Whether to download the original files if they are not on this computer.

    Returns
    -------
    Path
        The converted file, checked.
    """
    found = find_dataset(dataset)
    if found is None:
        if not download:
            raise DownloadError(f"the stream {dataset.name} is not on this computer; {_manual_instructions(dataset)}")
        return fetch(dataset)
    if found.is_original:
        return _convert_into_cache(dataset, found.paths)
    if dataset.format != "bundled":
        check_dataset_file(dataset, found.paths[0])
    return found.paths[0]


def fetch(dataset: Dataset, *, timeout: float = TIMEOUT_SECONDS) -> Path:
    """Download a published stream from the first server that has it, and convert it.

    Parameters
    ----------
    dataset : Dataset
        The stream.
    timeout : float, default=30.0
        Longest time in seconds without an answer from a server.

    Returns
    -------
    Path
        The converted file, in the cache.
    """
    failures = []
    for originals in dataset.originals:
        if any(original.by_hand for original in originals):
            continue
        # The original files are not kept: the converted file is smaller, and only it is read again.
        with _writable_cache(dataset) as cache, TemporaryDirectory(prefix=DOWNLOAD_FOLDER_PREFIX, dir=cache) as folder:
            try:
                paths = [fetch_file(original, Path(folder), timeout=timeout) for original in originals]
                return _convert_into_cache(dataset, paths)
            except DownloadError as error:
                failures.append(str(error))
            except DataError as error:
                failures.append(f"{originals[0].address}: {error}".replace(f"{folder}{os.sep}", ""))
    reason = f" ({'; '.join(failures)})" if failures else " automatically"
    raise DownloadError(f"the stream {dataset.name} cannot be downloaded{reason}; {_manual_instructions(dataset)}")


def _convert_into_cache(dataset: Dataset, originals: Sequence[Path]) -> Path:
    """Convert original files, check the result, write it to the cache and return its path."""
    with _writable_cache(dataset) as cache, ProgressBar(f"converting {dataset.name}", None, unit="rows", shown=True):
        X, y = convert(dataset, originals)
        with replacing(cache / dataset.file) as file:
            np.savez_compressed(file, X=X, y=y)
            file.flush()
            reason = find_mismatch(dataset, Path(file.name))
            if reason:
                raise DataError(
                    f"{' and '.join(map(str, originals))}, converted, is not the stream {dataset.name}: {reason}; "
                    "download it again"
                )
        return cache / dataset.file


@contextmanager
def _writable_cache(dataset: Dataset) -> Iterator[Path]:
    """Create the cache folder and remove stale temporary files from it; failures to write raise a ConfigError."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for path in (*cache.glob(f"{DOWNLOAD_FOLDER_PREFIX}*"), *cache.glob(f".{dataset.file}.*")):
            with suppress(FileNotFoundError):  # another process may remove the same files
                if path.stat().st_mtime < time.time() - STALE_AFTER_SECONDS:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield cache
    except DriftlineError:
        raise
    except OSError as error:
        raise ConfigError(
            f"the folder {cache} cannot be written to ({error}); free some space, or set DRIFTLINE_CACHE to another "
            "folder"
        ) from error


def _manual_instructions(dataset: Dataset) -> str:
    """Return how a person can get the original files, and where to put them."""
    folder = next(iter(search_folders().values()), "the folder named by DRIFTLINE_DATA")
    originals = dataset.originals[0]
    files = " and ".join(
        f"{original.name} {'with a browser from the page' if original.by_hand else 'from'} {original.address}"
        for original in originals
    )
    return f"download {files}, and put {'it' if len(originals) == 1 else 'them'} into {folder}"
