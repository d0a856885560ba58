"""Random tables, written as files of every format, for tests that read them back."""

import csv
import gzip
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import parquet

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
"""Short texts with quotes, commas, spaces and letters of all scripts, but no line breaks."""

FORMATS = ("csv", "jsonl", "arff", "sparse.arff", "parquet")


@dataclass
class SmallTable:
    """Named columns of numbers and of categories with missing cells, then times and labels."""

    numbers: dict[str, list[float | None]]
    categories: dict[str, list[str | None]]
    values: dict[str, list[str]]
    """All values of each categorical column."""
    times: list[float]
    labels: list[int] | list[bool] | list[str]

    @property
    def cells(self):
        return {**self.numbers, **self.categories, "when": self.times, "label": self.labels}

    @property
    def rows(self):
        return list(zip(*self.cells.values(), strict=True))

    def expected(self, *, listed):
        """Return the names and the values of the columns that `open_stream` should make of the table."""
        columns = {name: [np.nan if x is None else x for x in cells] for name, cells in self.numbers.items()}
        for name, cells in self.categories.items():
            known = self.values[name] if listed else list(dict.fromkeys(cell for cell in cells if cell is not None))
            for value in known:
                columns[f"{name}={value}"] = [np.nan if cell is None else float(cell == value) for cell in cells]
            for j in range(0 if listed else 4):
                columns[f"{name}=#{j}"] = [np.nan if cell is None else 0.0 for cell in cells]
        return tuple(columns), np.array(list(columns.values())).T


@st.composite
def small_tables(draw, line_breaks=True):
    """Draw tables whose names and texts contain quotes, delimiters, line breaks and spaces, except at their ends."""
    odd = st.text(st.sampled_from(" ,;\t|~'\"\\%{}?=é漢" + "\n\r" * line_breaks), max_size=5)
    words = odd.map(lambda text: f"v{text}w")
    n_rows = draw(st.integers(1, 12))

    def column(cells):
        return st.lists(cells, min_size=n_rows, max_size=n_rows)

    names = draw(st.lists(words, min_size=2, max_size=5, unique=True))
    n_numeric = draw(st.integers(1, len(names) - 1))
    values = {name: draw(st.lists(words, min_size=1, max_size=4, unique=True)) for name in names[n_numeric:]}
    cells = {name: draw(column(st.none() | st.sampled_from(known))) for name, known in values.items()}
    # A column with nothing in it would be taken for numbers.
    cells = {name: [values[name][0], *column[1:]] for name, column in cells.items()}
    return SmallTable(
        numbers={name: draw(column(st.none() | st.floats(-1e30, 1e30))) for name in names[:n_numeric]},
        categories=cells,
        values=values,
        times=sorted(draw(column(st.floats(-1e9, 1e9)))),
        labels=draw(column(st.integers(-9, 9)) | column(st.booleans()) | column(words)),
    )


def quoted(cell):
    """Return a cell in the notation of ARFF."""
    if cell is None:
        return "?"
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "'" + "".join(escapes.get(character, character) for character in str(cell)) + "'"


def as_csv(table, path, **dialect):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, **dialect)
        writer.writerow(table.cells)
        writer.writerows([repr(cell) if isinstance(cell, float) else cell for cell in row] for row in table.rows)


def as_jsonl(table, path):
    rows = (dict(zip(table.cells, row, strict=True)) for row in table.rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def as_arff(table, path, *, sparse=False):
    types = ["real"] * len(table.numbers) + [
        "{" + ",".join(map(quoted, known)) + "}" for known in table.values.values()
    ]
    types += ["numeric", "{" + ",".join(map(quoted, dict.fromkeys(table.labels))) + "}"]
    omitted = [*(0 for _ in table.numbers), *(known[0] for known in table.values.values()), 0, table.labels[0]]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("@relation table\n")
        file.writelines(f"@attribute {quoted(name)} {kind}\n" for name, kind in zip(table.cells, types, strict=True))
        file.write("@data\n")
        for row in table.rows:
            if sparse:
                cells = (f"{j} {quoted(cell)}" for j, cell in enumerate(row) if cell != omitted[j])
                file.write("{" + ", ".join(cells) + "}\n")
            else:
                file.write(",".join(map(quoted, row)) + "\n")


def as_parquet(table, path):
    types = {name: pa.float64() for name in (*table.numbers, "when")} | dict.fromkeys(table.categories, pa.string())
    parquet.write_table(pa.table({name: pa.array(x, types.get(name)) for name, x in table.cells.items()}), path)


def write(table, path, form):
    """Write a table in one of `FORMATS`."""
    if form == "sparse.arff":
        as_arff(table, path, sparse=True)
    else:
        {"csv": as_csv, "jsonl": as_jsonl, "arff": as_arff, "parquet": as_parquet}[form](table, path)


def pack(path):
    """Compress a file with gzip, without changing its name."""
    path.write_bytes(gzip.compress(path.read_bytes()))
