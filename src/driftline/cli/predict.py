"""The command ``driftline predict``: predict the rows of a file with a saved model."""

import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from driftline.cli import print_error
from driftline.cli.output import STDOUT, check_outputs, name_file_in_errors, print_written
from driftline.cli.source import check_files_exist
from driftline.errors import ConfigError, DataError
from driftline.evaluation.records import arrow, label_type
from driftline.registry import load_model
from driftline.streams.files import RowFile, numeric_layout
from driftline.streams.files.cells import can_parse, parse_number
from driftline.types import LabelArray, Matrix, Status
from driftline.utils.atomic_write import replacing
from driftline.utils.terminal import visible

FORMATS = (".csv", ".parquet")


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters of text that spreadsheets take for a formula."""
Cell = Callable[[Any], Any]


def predict_file(
    model_file: Path,
    file: str,
    out: Path,
    on_bad_row: str,
    layout_changes: dict[str, Any],
    *,
    safe_cells: bool,
    max_bytes: int,
) -> None:
    """Predict the rows of a file block by block, and write the predictions.

    The file is read like the one that the model learned from, except for `layout_changes`.
    """
    check_files_exist(model_file, file)
    check_outputs([model_file, file], out=out)
    if out != STDOUT and out.suffix not in FORMATS and (out.is_file() or not out.exists()):
        raise ConfigError(f"--out must end in .csv or .parquet; got {out}")
    if safe_cells and out.suffix == ".parquet":
        raise ConfigError(f"--safe-cells is for CSV, and {out} is Parquet; omit it")
    model = load_model(model_file, max_bytes)
    rows = RowFile(file, layout_of(model) | layout_changes, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    cell = _safe_cell if safe_cells else _unchanged
    if out == STDOUT:
        if not sys.stdout.isatty() and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # as in a file, so that all letters of labels can be written
        _write_csv(model, rows, sys.stdout, _visible_cell(cell) if sys.stdout.isatty() else cell)
    else:
        with name_file_in_errors(out), replacing(out) as written:
            if out.suffix == ".parquet":
                _write_parquet(model, rows, written)
            else:
                _write_text(model, rows, written, cell)
        print_written(out)
    if rows.n_skipped:
        were = "row was" if rows.n_skipped == 1 else "rows were"
        print_error(f"{rows.n_skipped:,} malformed {were} skipped")


def layout_of(model: Any) -> dict[str, Any]:
    """Return the layout of files for a model: that of its training file, or its column names, or columns in order."""
    layout: dict[str, Any] | None = getattr(model, "notes_", {}).get("layout")
    if layout is not None:
        return layout
    columns = getattr(model, "feature_names_in_", None)
    return numeric_layout(model.n_features_in_ if columns is None else [str(name) for name in columns])


def _predictions(model: Any, rows: RowFile) -> Iterator[tuple[Sequence[int], LabelArray, Matrix | None]]:
    """Yield the positions of rows, their predicted labels, and their probabilities if the model has any."""
    has_probabilities = hasattr(model, "predict_proba")
    for places, block in rows.blocks():
        try:
            yield places, model.predict(block), model.predict_proba(block) if has_probabilities else None
        except ValueError as error:
            raise DataError(f"the model cannot use rows of {rows.name}: {error}") from error


def _heading(model: Any, rows: RowFile) -> list[str]:
    classes = [f"p({label})" for label in model.classes_.tolist()] if hasattr(model, "predict_proba") else []
    return [rows.place, "prediction", *classes, *(["bound"] if hasattr(model, "error_bound_") else [])]


def _valid_bound(model: Any) -> float | None:
    """Return the bound on the error; None if it bounds nothing, because the uncertainty set is empty."""
    bound: float = model.error_bound_
    return None if model.bound_status_ == Status.EMPTY else bound


def _unchanged(label: Any) -> Any:
    return label


def _safe_cell(label: Any) -> Any:
    """Return a label with an apostrophe before it if a spreadsheet would take it for a formula."""
    if not isinstance(label, str) or not label.startswith(FORMULA_STARTS) or can_parse(parse_number, label):
        return label
    return f"'{label}"


def _visible_cell(cell: Cell) -> Cell:
    """Return a function that also makes control characters visible, for a terminal."""
    return lambda label: visible(shown) if isinstance(shown := cell(label), str) else shown


def _write_csv(model: Any, rows: RowFile, file: TextIO, cell: Cell) -> None:
    """Write predictions as CSV, with labels and headings as `cell` returns them."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(cell, _heading(model, rows)))
    bound = [_valid_bound(model)] if hasattr(model, "error_bound_") else []
    bounds = ["" if value is None else f"{value:.6g}" for value in bound]
    for places, labels, probabilities in _predictions(model, rows):
        shares = np.empty((len(labels), 0)) if probabilities is None else probabilities
        for place, label, share in zip(places, labels.tolist(), shares.tolist(), strict=True):
            writer.writerow([place, cell(label), *(f"{p:.6g}" for p in share), *bounds])


def _write_text(model: Any, rows: RowFile, file: BinaryIO, cell: Cell) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    _write_csv(model, rows, text, cell)
    text.flush()
    text.detach()


def _write_parquet(model: Any, rows: RowFile, file: BinaryIO) -> None:
    pa = arrow()
    heading = _heading(model, rows)
    kinds = [pa.int64(), label_type(pa, model.classes_), *[pa.float64()] * (len(heading) - 2)]
    schema = pa.schema(list(zip(heading, kinds, strict=True)))
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for places, labels, probabilities in _predictions(model, rows):
            columns: list[Any] = [list(places), labels.tolist()]
            columns += [] if probabilities is None else list(probabilities.T)
            columns += [[_valid_bound(model)] * len(labels)] if "bound" in heading[-1:] else []
            writer.write_table(pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], schema=schema))
