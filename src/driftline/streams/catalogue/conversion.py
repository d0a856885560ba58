"""From the originals of a published stream to its normal form."""

import csv
import gzip
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import numpy as np

from driftline.errors import DataError
from driftline.streams.catalogue.datasets import Column, Dataset
from driftline.streams.files.arff import read_arff
from driftline.streams.files.npz import DAMAGE
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import LabelArray, Matrix

Rows = tuple[Matrix, LabelArray]
"""The rows of an original and their labels as they are written there."""


def convert(dataset: Dataset, originals: Sequence[Path]) -> tuple[LabelArray, LabelArray]:
    """Return the arrays of the normal form of a published stream.

    Parameters
    ----------
    dataset : Dataset
        The stream.
    originals : sequence of Path
        Its original files, packed (.zip, .gz) or not.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
        The rows, in single precision if that loses nothing.
    y : ndarray of shape (n_rows,)
        The labels 0, 1, …
    """
    rows, written = FORMATS[dataset.format](dataset, originals)
    rows, written = STEPS.get(dataset.name, _as_it_stands)(rows, written)
    labels = np.full(len(written), -1, np.int8)
    for label, text in enumerate(dataset.labels):
        labels[written == (float(text) if written.dtype.kind == "f" else text)] = label
    if rows.shape[1] != len(dataset.columns) or len(rows) != len(labels) or np.any(labels < 0):
        raise DataError(
            f"{' and '.join(map(str, originals))}: expected rows of {len(dataset.columns)} columns, each with one of "
            f"the labels {', '.join(dataset.labels)}; got rows of shape {rows.shape} and {len(written)} labels, among "
            f"them {', '.join(map(str, np.unique(written)[:9]))}: get the original of {dataset.name} again"
        )
    rows = np.ascontiguousarray(rows)  # as rows come one after the other in the file
    single = rows.astype(np.float32)
    return (single if np.array_equal(single, rows) else rows), labels


def _table(dataset: Dataset, originals: Sequence[Path]) -> Rows:
    """Read numbers with spaces or commas between them; labels are in a second file or in the last column."""
    tables = []
    for path in originals:
        with _lines(path) as lines:
            first = next(lines, "")
            if not first.strip():
                raise ValueError("it begins with an empty line")
            separator = "," if "," in first else None
            tables.append(np.loadtxt(chain([first], lines), np.float64, delimiter=separator, ndmin=2))
    table, labels = tables if len(tables) == 2 else (tables[0][:, :-1], tables[0][:, -1:])
    return table, labels[:, 0]


def _csv(dataset: Dataset, originals: Sequence[Path]) -> Rows:
    """Read numbers with commas between them below the names of the columns; the label comes last."""
    (path,) = originals
    with _lines(path) as lines:
        cells = csv.reader(lines)
        names, expected = next(cells, []), [column.name for column in dataset.columns]
        if names[:-1] != expected:
            raise ValueError(f"expected the columns {', '.join(expected)} and a label; got {', '.join(names)}")
        return _gather(((line, row) for line, row in enumerate(cells, start=2) if row), dataset.columns)


def _arff(dataset: Dataset, originals: Sequence[Path]) -> Rows:
    """Read ARFF; the label comes last."""
    (path,) = originals
    with _lines(path) as lines:
        attributes, cells = read_arff(lines, str(path))
        if len(attributes) != len(dataset.columns) + 1:
            raise ValueError(f"expected {len(dataset.columns)} attributes and a label; got {len(attributes)}")
        return _gather(cells, dataset.columns)


FORMATS: dict[str, Callable[[Dataset, Sequence[Path]], Rows]] = {"table": _table, "csv": _csv, "arff": _arff}


def _gather(numbered: Iterator[tuple[int, Sequence[str | None]]], columns: tuple[Column, ...]) -> Rows:
    """Return rows of text, numbered by their lines, as numbers; values of nominal columns as their codes."""
    codes = [{value: float(column.code + i) for i, value in enumerate(column.values)} for column in columns]
    rows, labels = [np.empty((0, len(columns)))], [np.empty(0, "U1")]
    while some := list(islice(numbered, BLOCK_ROWS)):
        block = np.empty((len(some), len(columns)))
        for i, (line, cells) in enumerate(some):
            texts = [cell for cell in cells if cell is not None]
            if len(texts) != len(columns) + 1:
                raise ValueError(f"line {line}: expected {len(columns)} numbers and a label; got {len(texts)} values")
            try:
                block[i] = [
                    known[text] if text in known else float(text) for known, text in zip(codes, texts[:-1], strict=True)
                ]
            except ValueError as error:
                raise ValueError(f"line {line}: {error}") from error
        rows.append(block)
        labels.append(np.array([cells[-1] for _, cells in some]))
    return np.concatenate(rows), np.concatenate(labels)


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a text, packed or not; whatever is wrong with it is said as a DataError that names it."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
            file.seek(0)
            if start[:2] == b"\x1f\x8b":
                with gzip.open(file, "rt", encoding="utf-8") as text:
                    yield iter(text)
            elif start == b"PK\x03\x04":
                with zipfile.ZipFile(file) as archive, archive.open(_only_member(archive)) as member:
                    yield iter(io.TextIOWrapper(member, "utf-8"))
            else:
                yield iter(io.TextIOWrapper(file, "utf-8"))
    except DataError:
        raise
    except (*DAMAGE, csv.Error) as error:
        raise DataError(f"{path} cannot be converted: {error}; get it again") from error


def _only_member(archive: zipfile.ZipFile) -> str:
    members = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(members) != 1:
        raise ValueError(f"expected one file in the archive; got {', '.join(members) or 'none'}")
    return members[0]


def _as_it_stands(rows: Matrix, labels: LabelArray) -> Rows:
    return rows, labels


def _every_24th(rows: Matrix, labels: LabelArray) -> Rows:
    """Of elec2: two rows a day, and the columns that leave out the day, the period and the price that is predicted."""
    return rows[::24, 3:], labels[::24]


def _with_a_word(rows: Matrix, labels: LabelArray) -> Rows:
    """Of email: the rows that have any word."""
    kept = rows.any(axis=1)
    return rows[kept], labels[kept]


def _six_orders(rows: Matrix, labels: LabelArray) -> Rows:
    """Of smartgrid: all rows six times, with the three consumers in all orders."""
    orders = ((1, 2, 3), (3, 1, 2), (2, 3, 1), (1, 3, 2), (3, 2, 1), (2, 1, 3))
    columns = [[*(4 * kind + i for kind in range(3) for i in (0, *order)), 12] for order in orders]
    return np.concatenate([rows[:, order] for order in columns]), np.tile(labels, len(orders))


STEPS: dict[str, Callable[[Matrix, LabelArray], Rows]] = {
    "elec2": _every_24th,
    "email": _with_a_word,
    "smartgrid": _six_orders,
}
"""What is done to the rows of some streams between reading and writing them."""
