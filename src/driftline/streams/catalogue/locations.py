"""Where published streams are looked for: the folder that DRIFTLINE_DATA names, then the user's cache."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from driftline.errors import ConfigError, MissingExtraError
from driftline.streams.catalogue.datasets import Dataset
from driftline.streams.catalogue.download import import_pooch


@dataclass(frozen=True, slots=True)
class Found:
    """Files of a published stream.

    Attributes
    ----------
    place : {"data folder", "cache"}
        Where they are.
    paths : tuple of Path
        The file of the normal form, or the originals.
    is_original : bool
        Which of the two.
    """

    place: str
    paths: tuple[Path, ...]
    is_original: bool


def folders() -> dict[str, Path]:
    """Return the folders in which streams are looked for, in that order.

    Returns
    -------
    dict
        From "data folder" and "cache" to the folders, if they are known; the second need not exist yet.
    """
    found = {}
    data = os.environ.get("DRIFTLINE_DATA")
    if data:
        found["data folder"] = Path(data).expanduser().absolute()
        if not found["data folder"].is_dir():
            raise ConfigError(f"DRIFTLINE_DATA is {data!r}, which is not a folder; name one that exists, or unset it")
    with suppress(MissingExtraError):
        found["cache"] = cache_folder()
    return found


def cache_folder() -> Path:
    """Return the folder into which downloaded streams go.

    Returns
    -------
    Path
        The one that DRIFTLINE_CACHE names, or that of the system's conventions; it need not exist yet.
    """
    named = os.environ.get("DRIFTLINE_CACHE")
    return Path(named).expanduser().absolute() if named else Path(import_pooch().os_cache("driftline"))


def find(dataset: Dataset) -> Found | None:
    """Return where a published stream is: its normal form, or else its originals, put there by hand.

    Parameters
    ----------
    dataset : Dataset
        The stream.

    Returns
    -------
    Found or None
        None if it is nowhere.
    """
    places = folders()
    for place, folder in places.items():
        if (folder / dataset.file).is_file():
            return Found(place, (folder / dataset.file,), is_original=False)
    for place, folder in places.items():
        for originals in dataset.originals:
            paths = tuple(_packed_or_not(folder / original.name) for original in originals)
            if all(path.is_file() for path in paths):
                return Found(place, paths, is_original=True)
    return None


def _packed_or_not(path: Path) -> Path:
    unpacked = path.with_suffix("") if path.suffix in (".zip", ".gz") else path
    return unpacked if unpacked.is_file() else path
