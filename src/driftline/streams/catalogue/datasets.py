"""Descriptions of the published streams: columns, sources, statistics that identify them, and caveats."""

import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from driftline.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a published stream.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"numeric", "binary", "nominal"}
        Numbers; 0 and 1; or codes without order.
    meaning : str
        What it holds, where the name does not say.
    values : tuple of str
        What the codes of a nominal column stand for, in their order.
    code : int
        The code of the first of ``values``.
    leaks : bool
        Whether it decides the label, so that a classifier should not see it.
    """

    name: str
    kind: str = "numeric"
    meaning: str = ""
    values: tuple[str, ...] = ()
    code: int = 0
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers that identify a stream.

    Attributes
    ----------
    rows, columns, classes : int
        How many.
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
class Original:
    """A file as its authors or somebody else publish it.

    Attributes
    ----------
    name : str
        Name of the file.
    address : str
        Where it is.
    sha256 : str, optional
        Its digest, where that is known.
    by_hand : bool
        Whether the address is that of a page, on which a person has to look for the file.
    """

    name: str
    address: str
    sha256: str | None = None
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """A published stream.

    Its normal form is an .npz file of `X` (rows in the order of the stream; single precision where that loses nothing)
    and `y` (labels 0, 1, …). Nothing in it is scaled, shuffled or filled in.

    Attributes
    ----------
    name, title : str
        What it is called, and what is to be predicted.
    file : str
        Name of the file of the normal form.
    columns : tuple of Column
        The columns of the normal form.
    classes : tuple of str
        What the labels 0, 1, … stand for.
    citation, licence, derivation : str
        Whom to cite; what is allowed, as far as stated; how the normal form is made from the originals.
    home : tuple of str
        Pages of the original.
    format : {"table", "csv", "arff"}
        What the originals are.
    labels : tuple of str
        The labels in the originals, in the order of ``classes``.
    originals : tuple of tuple of Original
        The files that are needed, together; each further tuple is another place to have them from.
    published, measured : Statistics, optional
        As the paper and the README of its code have them, and as they are in the normal form.
    sha256, content : str, optional
        Digests of the normal form: of its file as first made, and of its arrays however they are compressed.
    counts : tuple of int
        Rows of each class, where no digest is known.
    traps, notes : tuple of str
        What to beware of; what else to know.
    """

    name: str
    title: str
    file: str
    columns: tuple[Column, ...]
    classes: tuple[str, ...]
    citation: str
    licence: str
    derivation: str
    home: tuple[str, ...]
    format: str
    labels: tuple[str, ...]
    originals: tuple[tuple[Original, ...], ...]
    published: Statistics | None = None
    measured: Statistics | None = None
    sha256: str | None = None
    content: str | None = None
    counts: tuple[int, ...] = ()
    traps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows of the normal form."""
        return sum(self.counts) if self.measured is None else self.measured.rows


def names() -> tuple[str, ...]:
    """Return the names of the published streams.

    Returns
    -------
    tuple of str
        Those of the paper in its order, then the others.

    Examples
    --------
    >>> names()[:4]
    ('weather', 'elec2', 'airlines', 'german')
    """
    return tuple(_catalogue())


def describe(name: str) -> Dataset:
    """Return what is known of a published stream.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    Dataset
        Its record.

    Examples
    --------
    >>> weather = describe("weather")
    >>> weather.rows, len(weather.columns), weather.classes
    (18159, 8, ('no rain', 'rain'))
    """
    try:
        return _catalogue()[name]
    except KeyError:
        close = get_close_matches(str(name), _catalogue(), n=3)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise ConfigError(f"there is no published stream {name!r}; {hint}'driftline data list' lists all") from None


@cache
def _catalogue() -> dict[str, Dataset]:
    text = files("driftline.streams.catalogue").joinpath("datasets.toml").read_text(encoding="utf-8")
    return {name: _dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def _dataset(name: str, entry: dict[str, Any]) -> Dataset:
    read: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    read["columns"] = tuple(column for group in entry["columns"] for column in _columns(**group))
    read["originals"] = tuple(tuple(Original(**file) for file in place) for place in entry["originals"])
    for key in ("published", "measured"):
        if key in entry:
            read[key] = Statistics(**entry[key])
    return Dataset(name=name, **read)


def _columns(names: str, values: str = "", **rest: Any) -> list[Column]:
    """Return the columns that a group stands for: names with spaces between them, 'word{1..99}' for 99 of them."""
    expanded = []
    for name in names.split():
        run = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}", name)
        expanded += [f"{run[1]}{i}" for i in range(int(run[2]), int(run[3]) + 1)] if run else [name]
    return [Column(name, values=tuple(values.split()), **rest) for name in expanded]
