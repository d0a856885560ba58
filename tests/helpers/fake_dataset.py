"""An invented dataset of the catalogue, and original files of any dataset, written from arrays."""

import gzip
import hashlib
import zipfile

import numpy as np

from driftline.streams.catalogue import Dataset, DatasetColumn, OriginalFile

X = np.array([[0.5, 1.0, 0.0], [0.25, 2.0, 1.0], [0.5, 3.0, 1.0]], np.float32)
y = np.array([0, 1, 1], np.int8)
CSV = b"weight,colour,leak,class\n0.5,red,0,small\n0.25,green,1,large\n0.5,blue,1,large\n"


def content(X, y):
    """Return the digest of arrays, computed from its definition."""
    digest = hashlib.sha256()
    for key, array in (("X", X), ("y", y)):
        digest.update(f"{key} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def pebbles(*addresses, **changes):
    """Return the description of the invented stream; its original files have the given addresses."""
    record = {
        "name": "pebbles",
        "title": "Pebbles: are they large?",
        "file": "pebbles.npz",
        "columns": (
            DatasetColumn("weight"),
            DatasetColumn("colour", "nominal", values=("red", "green", "blue"), code=1),
            DatasetColumn("leak", "binary", leaks=True),
        ),
        "classes": ("small", "large"),
        "citation": "Nobody. Nowhere.",
        "licence": "none stated",
        "derivation": "pebbles.csv as it stands.",
        "home": ("http://localhost/",),
        "format": "csv",
        "labels": ("small", "large"),
        "originals": tuple((OriginalFile("pebbles.csv", address),) for address in addresses),
        "content": content(X, y),
    }
    return Dataset(**{**record, **changes})


def made_up(dataset, n_rows, seed=0):
    """Return random arrays in the converted form of a published stream."""
    rng = np.random.default_rng(seed)
    draw = {
        "numeric": lambda column: rng.integers(-1000, 1000, n_rows) / rng.choice([1, 4]),
        "binary": lambda column: rng.integers(0, 2, n_rows),
        "nominal": lambda column: column.code + rng.integers(0, len(column.values), n_rows),
    }
    X = np.column_stack([draw[column.kind](column) for column in dataset.columns]).astype(np.float32)
    return X, rng.integers(0, len(dataset.classes), n_rows).astype(np.int8)


def write_originals(dataset, X, y, folder):
    """Write original files whose conversion gives these arrays; return their paths."""
    labels = [dataset.labels[label] for label in y]
    writer = {"table": _tables, "csv": _csv, "arff": _arff}[dataset.format]
    paths = []
    for original, text in zip(dataset.originals[0], writer(dataset, X, labels), strict=True):
        path = folder / original.name
        if path.suffix == ".zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("some.arff", text)
        else:
            path.write_bytes(gzip.compress(text.encode(), 1) if path.suffix == ".gz" else text.encode())
        paths.append(path)
    return paths


def _number(value):
    return repr(float(value)).removesuffix(".0")


def _tables(dataset, X, labels):
    if dataset.name == "elec2":  # two rows a day of many, four columns of seven
        rows = np.full((24 * (len(X) - 1) + 1, 7), 7.0)
        rows[::24, 3:] = X
        X, labels = rows, [labels[i // 24] if i % 24 == 0 else "2" for i in range(len(rows))]
    separator = "," if dataset.name == "covtype" else "  "
    lines = [separator.join(map(_number, row)) for row in X.tolist()]
    if len(dataset.originals[0]) == 2:
        return ["\n".join(lines) + "\n", "\n".join(labels) + "\n"]
    return ["".join(f"{line}{separator}{label}\n" for line, label in zip(lines, labels, strict=True))]


def _csv(dataset, X, labels):
    if dataset.name == "smartgrid":  # the other rows are made from these
        X, labels = X[: len(X) // 6], labels[: len(X) // 6]
    quote = '"{}"' if dataset.name == "creditcard" else "{}"
    header = ",".join(quote.format(column.name) for column in dataset.columns) + "," + quote.format("target")
    lines = (
        f"{','.join(map(_number, row))},{quote.format(label)}" for row, label in zip(X.tolist(), labels, strict=True)
    )
    return ["\n".join([header, *lines]) + "\n"]


def _arff(dataset, X, labels):
    named = [column.values if dataset.name == "airlines" else () for column in dataset.columns]
    header = ["@relation 'some stream'", ""]
    for column, values in zip(dataset.columns, named, strict=True):
        header.append(
            f"@attribute {column.name} {{{','.join(values)}}}" if values else f"@attribute {column.name} numeric"
        )
    header += [f"@attribute class {{{','.join(dataset.labels)}}}", "", "@data"]
    rows = [
        [values[int(cell)] if values else _number(cell) for cell, values in zip(row, named, strict=True)] + [label]
        for row, label in zip(X.tolist(), labels, strict=True)
    ]
    if dataset.name == "email":  # sparse, and two rows without a word
        lines = ["{" + ",".join(f"{j} {cell}" for j, cell in enumerate(row) if cell != "0") + "}" for row in rows]
        lines[2:2], lines[5:5] = ["{}"], ["{}"]
    else:
        lines = [",".join(row) for row in rows]
    return ["\n".join([*header, *lines]) + "\n"]
