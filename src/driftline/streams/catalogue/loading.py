"""Published streams by their names: found, or downloaded and converted."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from driftline.errors import ConfigError, DataError, DownloadError, DriftlineError
from driftline.streams.catalogue.conversion import convert
from driftline.streams.catalogue.datasets import Dataset, describe
from driftline.streams.catalogue.download import fetch_file
from driftline.streams.catalogue.encoding import EncodedStream
from driftline.streams.catalogue.locations import cache_folder, find, folders
from driftline.streams.catalogue.verification import check, mismatch
from driftline.streams.files.npz import NpzStream
from driftline.streams.protocol import Stream
from driftline.utils.atomic_write import replacing
from driftline.utils.progress import ProgressBar

TIMEOUT = 30.0
"""How many seconds a server may be silent."""
TEMPORARY = ".driftline-download-"
"""How the names of folders begin into which originals are downloaded."""
STALE = 86400.0
"""After how many seconds a temporary file in the cache is what a killed process left behind."""


def load(name: str, *, nominal: str = "codes", with_leaks: bool = False, download: bool = True) -> Stream:
    """Return a published stream.

    It is looked for in the folder that the environment variable DRIFTLINE_DATA names, then in the user's cache (or the
    folder that DRIFTLINE_CACHE names); else it is downloaded, converted and put into the cache. Whatever is loaded
    is checked to be that stream.

    Parameters
    ----------
    name : str
        One of `catalogue.names()`; `catalogue.describe(name)` says what it is.
    nominal : {"codes", "onehot"}, default="codes"
        Nominal columns as codes, or as a column of 0 and 1 for each value, such as "airline=AA".
    with_leaks : bool, default=False
        Whether to keep columns that decide the label; among the published streams, only smartgrid has one.
    download : bool, default=True
        Whether to download the stream if it is not here.

    Returns
    -------
    Stream
        The stream; its labels are 0, 1, …

    Examples
    --------
    >>> stream = load("weather")  # doctest: +SKIP
    >>> stream.n_rows, stream.columns[:2]  # doctest: +SKIP
    (18159, ('temperature', 'dew_point'))
    >>> load("wether")
    Traceback (most recent call last):
        ...
    driftline.errors.ConfigError: there is no published stream 'wether'; did you mean weather? ...
    """
    dataset = describe(name)
    if nominal not in ("codes", "onehot"):
        raise ConfigError(f"nominal must be 'codes' or 'onehot'; got {nominal!r}")
    path = normal_form(dataset, download=download)
    stream = NpzStream(path, name=dataset.name, columns=[column.name for column in dataset.columns])
    encoded = EncodedStream(stream, dataset.columns, with_leaks=with_leaks, onehot=nominal == "onehot")
    return stream if encoded.columns == stream.columns else encoded


def normal_form(dataset: Dataset, *, download: bool = True) -> Path:
    """Return the file of the normal form of a published stream, made from its originals if it must be.

    Parameters
    ----------
    dataset : Dataset
        The stream.
    download : bool, default=True
        Whether to download the originals if they are not here.

    Returns
    -------
    Path
        The file, checked.
    """
    found = find(dataset)
    if found is None:
        if not download:
            raise DownloadError(f"the stream {dataset.name} is not here; {_by_hand(dataset)}")
        return fetch(dataset)
    if found.is_original:
        return _write(dataset, found.paths)
    check(dataset, found.paths[0])
    return found.paths[0]


def fetch(dataset: Dataset, *, timeout: float = TIMEOUT) -> Path:
    """Download a published stream from the first place that has it, and convert it.

    Parameters
    ----------
    dataset : Dataset
        The stream.
    timeout : float, default=30.0
        How many seconds a server may be silent.

    Returns
    -------
    Path
        The file of the normal form, in the cache.
    """
    failures = []
    for originals in dataset.originals:
        if any(original.by_hand for original in originals):
            continue
        # Originals are not kept: the normal form is smaller, and all that is ever read again.
        with _cache(dataset) as cache, TemporaryDirectory(prefix=TEMPORARY, dir=cache) as folder:
            try:
                paths = [fetch_file(original, Path(folder), timeout=timeout) for original in originals]
                return _write(dataset, paths)
            except DownloadError as error:
                failures.append(str(error))
            except DataError as error:
                failures.append(f"{originals[0].address}: {error}".replace(f"{folder}{os.sep}", ""))
    reason = f" ({'; '.join(failures)})" if failures else " by program"
    raise DownloadError(f"the stream {dataset.name} cannot be downloaded{reason}; {_by_hand(dataset)}")


def _write(dataset: Dataset, originals: Sequence[Path]) -> Path:
    """Convert originals, check what comes out, and put it into the cache."""
    with _cache(dataset) as cache, ProgressBar(f"converting {dataset.name}", None, unit="rows", shown=True):
        X, y = convert(dataset, originals)
        with replacing(cache / dataset.file) as file:
            np.savez_compressed(file, X=X, y=y)
            file.flush()
            reason = mismatch(dataset, Path(file.name))
            if reason:
                raise DataError(
                    f"what {' and '.join(map(str, originals))} gives is not the stream {dataset.name}: {reason}; "
                    "get it again"
                )
        return cache / dataset.file


@contextmanager
def _cache(dataset: Dataset) -> Iterator[Path]:
    """Provide the folder of the cache, without what killed processes left there, or say why it cannot be written."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for path in (*cache.glob(f"{TEMPORARY}*"), *cache.glob(f".{dataset.file}.*")):
            with suppress(FileNotFoundError):  # another process may be at the same work
                if path.stat().st_mtime < time.time() - STALE:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield cache
    except DriftlineError:
        raise
    except OSError as error:
        raise ConfigError(
            f"the folder {cache} cannot be written ({error}); make room in it, or name another in DRIFTLINE_CACHE"
        ) from error


def _by_hand(dataset: Dataset) -> str:
    """Return what a person can do."""
    folder = next(iter(folders().values()), "a folder that DRIFTLINE_DATA names")
    originals = dataset.originals[0]
    files = " and ".join(
        f"{original.name} {'with a browser, on the page' if original.by_hand else 'from'} {original.address}"
        for original in originals
    )
    return f"get {files}, and put {'it' if len(originals) == 1 else 'them'} into {folder}"
