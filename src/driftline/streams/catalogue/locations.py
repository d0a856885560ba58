"""Where published streams are searched for: this package, the folder named by DRIFTLINE_DATA, then the user's cache."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from driftline.errors import ConfigError, MissingExtraError
from driftline.streams.catalogue.bundled import bundled_file
from driftline.streams.catalogue.datasets import Dataset
from driftline.streams.catalogue.download import import_pooch


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """Files of a published stream on this computer.

    Attributes
    ----------
    place : {"package", "data folder", "cache"}
        The kind of folder that they are in.
    paths : tuple of Path
        The converted file, or the original files.
    is_original : bool
        Whether they are the original files.
    """

    place: str
    paths: tuple[Path, ...]
    is_original: bool


def search_folders() -> dict[str, Path]:
    """Return the folders in which streams are searched for, in this order.

    Returns
    -------
    dict
        Folders by the names "data folder" (if DRIFTLINE_DATA is set) and "cache" (if pooch is installed or
        DRIFTLINE_CACHE is set). The cache need not exist yet.
    """
    found = {}
    data = os.environ.get("DRIFTLINE_DATA")
    if data:
        found["data folder"] = Path(data).expanduser().absolute()
        if not found["data folder"].is_dir():
            raise ConfigError(
                f"DRIFTLINE_DATA is {data!r}, which is not a folder; set it to one that exists, or unset it"
            )
    with suppress(MissingExtraError):
        found["cache"] = cache_folder()
    return found


def cache_folder() -> Path:
    """Return the folder for downloaded streams.

    Returns
    -------
    Path
        The folder named by DRIFTLINE_CACHE, or else the usual cache folder of the operating system. It need not
        exist yet.
    """
    named = os.environ.get("DRIFTLINE_CACHE")
    return Path(named).expanduser().absolute() if named else Path(import_pooch().os_cache("driftline"))


def find_dataset(dataset: Dataset) -> DatasetFiles | None:
    """Return the files of a published stream on this computer: the converted file, or else the original files.

    Parameters
    ----------
    dataset : Dataset
        The stream.

    Returns
    -------
    DatasetFiles or None
        None if there are none.
    """
    if dataset.format == "bundled":
        return DatasetFiles("package", (Path(str(bundled_file(dataset))),), is_original=False)
    places = search_folders()
    for place, folder in places.items():
        if (folder / dataset.file).is_file():
            return DatasetFiles(place, (folder / dataset.file,), is_original=False)
    for place, folder in places.items():
        for originals in dataset.originals:
            paths = tuple(_unpacked_if_exists(folder / original.name) for original in originals)
            if all(path.is_file() for path in paths):
                return DatasetFiles(place, paths, is_original=True)
    return None


def _unpacked_if_exists(path: Path) -> Path:
    unpacked = path.with_suffix("") if path.suffix in (".zip", ".gz") else path
    return unpacked if unpacked.is_file() else path
