"""Descriptions of the published streams: columns, sources, statistics that identify them, and caveats."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from driftline.errors import ConfigError
from driftline.utils.suggestions import close_names, did_you_mean


@dataclass(frozen=True, slots=True)
class DatasetColumn:
    """A column of a published stream.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"numeric", "binary", "nominal"}
        Numbers; 0 and 1; or codes of categories, which have no order.
    meaning : str
        What the column contains, if the name does not say it.
    values : tuple of str
        The categories of a nominal column, in the order of their codes.
    code : int
        The code of the first category.
    leaks : bool
        Whether the column determines the label, so that a classifier should not see it.
    """

    name: str
    kind: str = "numeric"
    meaning: str = ""
    values: tuple[str, ...] = ()
    code: int = 0
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class DatasetStatistics:
    """Counts and simple error rates by which a published stream can be recognised.

    Attributes
    ----------
    rows, columns, classes : int
        Number of rows, columns and classes.
    majority : float
        Share of the largest class, in percent.
    no_change : float
        Error of predicting the previous label, in percent.
    """

    rows: int
    columns: int
    classes: int
    majority: float
    no_change: float


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """A file as it is published on the web.

    Attributes
    ----------
    name : str
        Name of the file.
    address : str
        Its URL.
    sha256 : str, optional
        Digest of the file, if known.
    by_hand : bool
        Whether the address is a web page from which a person has to download the file.
    """

    name: str
    address: str
    sha256: str | None = None
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """A published stream.

    The original files are converted to one .npz file with the arrays `X` (rows in the order of the stream; single
    precision if that loses nothing) and `y` (labels 0, 1, …). Nothing is scaled, shuffled or filled in. A stream of the
    format "bundled" lies in this package instead, as CSV with the times of the rows and their labels as text.

    Attributes
    ----------
    name, title : str
        Short name; description and question in one line.
    file : str
        Name of the converted file.
    columns : tuple of DatasetColumn
        The columns of `X`.
    classes : tuple of str
        Meaning of the labels 0, 1, …
    citation, licence, derivation : str
        The publication to cite; the licence, if one is stated; how the converted file is made from the originals.
    home : tuple of str
        Web pages of the original data.
    format : {"table", "csv", "arff", "bundled"}
        Format of the original files; "bundled" if none are needed.
    labels : tuple of str
        The labels in the original files, in the order of ``classes``.
    originals : tuple of tuple of OriginalFile
        Each inner tuple is a complete set of original files; the sets are tried in this order.
    published, measured : DatasetStatistics, optional
        Statistics according to the paper and the README of its code; statistics of the converted file.
    sha256, content : str, optional
        Digest of the converted file as first made; digest of its arrays (of its text, if it is bundled), whatever the
        compression.
    counts : tuple of int
        Number of rows of each class, given if no digest is known.
    caveats, notes : tuple of str
        Warnings for users; other remarks.
    """

    name: str
    title: str
    file: str
    columns: tuple[DatasetColumn, ...]
    classes: tuple[str, ...]
    citation: str
    licence: str
    derivation: str
    home: tuple[str, ...]
    format: str
    labels: tuple[str, ...]
    originals: tuple[tuple[OriginalFile, ...], ...]
    published: DatasetStatistics | None = None
    measured: DatasetStatistics | None = None
    sha256: str | None = None
    content: str | None = None
    counts: tuple[int, ...] = ()
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows of the converted file."""
        return sum(self.counts) if self.measured is None else self.measured.rows


def names() -> tuple[str, ...]:
    """Return the names of the published streams.

    Returns
    -------
    tuple of str
        The streams of the paper in its order, then the others.

    Examples
    --------
    >>> names()[:4]
    ('weather', 'elec2', 'airlines', 'german')
    """
    return tuple(_catalogue())


def describe(name: str) -> Dataset:
    """Return the description of a published stream.

    Parameters
    ----------
    name : str
        Name of the stream.

    Returns
    -------
    Dataset
        The description.

    Examples
    --------
    >>> weather = describe("weather")
    >>> weather.rows, len(weather.columns), weather.classes
    (18159, 8, ('no rain', 'rain'))
    """
    try:
        return _catalogue()[name]
    except (KeyError, TypeError):  # TypeError: a name that is not hashable
        hint = did_you_mean(close_names(str(name), _catalogue()))
        raise ConfigError(f"there is no published stream {name!r} ('driftline data list' lists all){hint}") from None


@cache
def _catalogue() -> dict[str, Dataset]:
    text = files("driftline.streams.catalogue").joinpath("datasets.toml").read_text(encoding="utf-8")
    return {name: _dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def _dataset(name: str, entry: dict[str, Any]) -> Dataset:
    read: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    read["columns"] = tuple(column for group in entry["columns"] for column in _columns(**group))
    read["originals"] = tuple(tuple(OriginalFile(**file) for file in place) for place in entry["originals"])
    for key in ("published", "measured"):
        if key in entry:
            read[key] = DatasetStatistics(**entry[key])
    return Dataset(name=name, **read)


def _columns(names: str, values: str = "", **rest: Any) -> list[DatasetColumn]:
    """Return the columns that a group describes: names separated by spaces; 'word{1..99}' means 99 columns."""
    expanded = []
    for name in names.split():
        numbered = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}", name)
        expanded += [f"{numbered[1]}{i}" for i in range(int(numbered[2]), int(numbered[3]) + 1)] if numbered else [name]
    return [DatasetColumn(name, values=tuple(values.split()), **rest) for name in expanded]
