"""Conversion of the original files of a published stream to arrays."""

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
from driftline.streams.catalogue.datasets import Dataset, DatasetColumn
from driftline.streams.files.arff import read_arff
from driftline.streams.files.npz import DAMAGE
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import LabelArray, Matrix

Rows = tuple[Matrix, LabelArray]
"""The rows of an original file, and their labels as written there."""


def convert(dataset: Dataset, originals: Sequence[Path]) -> tuple[LabelArray, LabelArray]:
    """Return the arrays of a published stream, read from its original files.

    Parameters
    ----------
    dataset : Dataset
        The stream.
    originals : sequence of Path
        Its original files, compressed (.zip, .gz) or not.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
        The rows; in single precision if that loses nothing.
    y : ndarray of shape (n_rows,)
        The labels 0, 1, …
    """
    rows, written = READERS[dataset.format](dataset, originals)
    rows, written = SELECTIONS.get(dataset.name, _unchanged)(rows, written)
    labels = np.full(len(written), -1, np.int8)
    for label, text in enumerate(dataset.labels):
        labels[written == (float(text) if written.dtype.kind == "f" else text)] = label
    if rows.shape[1] != len(dataset.columns) or len(rows) != len(labels) or np.any(labels < 0):
        raise DataError(
            f"{' and '.join(map(str, originals))}: expected rows of {len(dataset.columns)} columns, each with one of "
            f"the labels {', '.join(dataset.labels)}; got rows of shape {rows.shape} and {len(written)} labels, "
            f"including {', '.join(map(str, np.unique(written)[:9]))}; download the original of {dataset.name} again"
        )
    rows = np.ascontiguousarray(rows)  # row by row, as the file stores them
    single = rows.astype(np.float32)
    return (single if np.array_equal(single, rows) else rows), labels


def _read_table(dataset: Dataset, originals: Sequence[Path]) -> Rows:
    """Read numbers separated by spaces or commas; the labels are in a second file or in the last column."""
    tables = []
    for path in originals:
        with _open_lines(path) as lines:
            first = next(lines, "")
            if not first.strip():
                raise ValueError("the first line is empty")
            separator = "," if "," in first else None
            tables.append(np.loadtxt(chain([first], lines), np.float64, delimiter=separator, ndmin=2))
    table, labels = tables if len(tables) == 2 else (tables[0][:, :-1], tables[0][:, -1:])
    return table, labels[:, 0]


def _read_csv(dataset: Dataset, originals: Sequence[Path]) -> Rows:
    """Read CSV with a header; the label is in the last column."""
    (path,) = originals
    with _open_lines(path) as lines:
        cells = csv.reader(lines)
        names, expected = next(cells, []), [column.name for column in dataset.columns]
        if names[:-1] != expected:
            raise ValueError(f"expected the columns {', '.join(expected)} and a label; got {', '.join(names)}")
        return _to_numbers(((line, row) for line, row in enumerate(cells, start=2) if row), dataset.columns)


def _read_arff_rows(dataset: Dataset, originals: Sequence[Path]) -> Rows:
    """Read ARFF; the label is the last attribute."""
    (path,) = originals
    with _open_lines(path) as lines:
        attributes, cells = read_arff(lines, str(path))
        if len(attributes) != len(dataset.columns) + 1:
            raise ValueError(f"expected {len(dataset.columns)} attributes and a label; got {len(attributes)}")
        return _to_numbers(cells, dataset.columns)


READERS: dict[str, Callable[[Dataset, Sequence[Path]], Rows]] = {
    "table": _read_table,
    "csv": _read_csv,
    "arff": _read_arff_rows,
}


def _to_numbers(numbered: Iterator[tuple[int, Sequence[str | None]]], columns: tuple[DatasetColumn, ...]) -> Rows:
    """Return rows of text as numbers, categories as their codes; `numbered` has the line number with each row."""
    codes = [{value: float(column.code + i) for i, value in enumerate(column.values)} for column in columns]
    rows, labels = [np.empty((0, len(columns)))], [np.empty(0, "U1")]
    while lines := list(islice(numbered, BLOCK_ROWS)):
        block = np.empty((len(lines), len(columns)))
        for i, (line, cells) in enumerate(lines):
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
        labels.append(np.array([cells[-1] for _, cells in lines]))
    return np.concatenate(rows), np.concatenate(labels)


@contextmanager
def _open_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a text file, compressed or not; any problem with it raises a DataError with its path."""
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
        raise DataError(f"{path} cannot be converted: {error}; download it again") from error


def _only_member(archive: zipfile.ZipFile) -> str:
    members = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(members) != 1:
        raise ValueError(f"expected one file in the archive; got {', '.join(members) or 'none'}")
    return members[0]


def _unchanged(rows: Matrix, labels: LabelArray) -> Rows:
    return rows, labels


def _every_24th(rows: Matrix, labels: LabelArray) -> Rows:
    """Return two rows a day of elec2, without the columns of the day, the period and the price that is predicted."""
    return rows[::24, 3:], labels[::24]


def _with_any_word(rows: Matrix, labels: LabelArray) -> Rows:
    """Return the rows of email that contain any word."""
    kept = rows.any(axis=1)
    return rows[kept], labels[kept]


def _six_orders(rows: Matrix, labels: LabelArray) -> Rows:
    """Return all rows of smartgrid six times, with the three consumers in every order."""
    orders = ((1, 2, 3), (3, 1, 2), (2, 3, 1), (1, 3, 2), (3, 2, 1), (2, 1, 3))
    columns = [[*(4 * kind + i for kind in range(3) for i in (0, *order)), 12] for order in orders]
    return np.concatenate([rows[:, order] for order in columns]), np.tile(labels, len(orders))


SELECTIONS: dict[str, Callable[[Matrix, LabelArray], Rows]] = {
    "elec2": _every_24th,
    "email": _with_any_word,
    "smartgrid": _six_orders,
}
"""By name of stream: the function that selects, or repeats, the rows of the original file."""
