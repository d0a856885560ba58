"""The command ``driftline predict``: predict the rows of a file with a saved model."""

import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from driftline.cli import print_error
from driftline.cli.late_labels import LabelFile, RowMemory, unlabelled_rows
from driftline.cli.output import STDOUT, check_outputs, name_file_in_errors, print_written
from driftline.cli.source import check_files_exist
from driftline.errors import ConfigError, DataError
from driftline.evaluation.records import arrow, label_type
from driftline.guarantees.guaranteed_classifier import GuaranteedClassifier
from driftline.registry import load_model
from driftline.streams.files import RowFile, numeric_layout
from driftline.streams.files.cells import can_parse, parse_number
from driftline.types import Matrix, Status
from driftline.utils.atomic_write import replacing
from driftline.utils.terminal import visible

FORMATS = (".csv", ".parquet")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters of text that spreadsheets take for a formula."""
Cell = Callable[[Any], Any]


class Kind(Enum):
    """What a column contains."""

    PLACE = auto()
    LABEL = auto()
    NUMBER = auto()
    LABELS = auto()
    ID = auto()


def predict_file(
    model_file: Path,
    file: str,
    out: Path,
    on_bad_row: str,
    layout_changes: dict[str, Any],
    *,
    id_column: str | None,
    learn: str | None,
    save: Path | None,
    safe_cells: bool,
    max_bytes: int,
) -> None:
    """Predict the rows of a file block by block, and write the predictions.

    The file is read like the one that the model learned from, except for `layout_changes`. With `learn`, the model
    learns labels of rows that it has answered, from a file, or from the lines of `file` that have one if it is "-".
    """
    _check_arguments(model_file, file, out, id_column, learn, save, safe_cells=safe_cells)
    model = load_model(model_file, max_bytes)
    layout = layout_of(model) | layout_changes
    rows = RowFile(file, layout, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    work = PredictionWork(
        model, rows, id_column, _label_column(layout, learn), remembers=learn is not None or save is not None
    )
    label_file = None
    if work.memory is not None and learn is not None and learn != str(STDOUT):
        names = [*_label_name(layout), "label"]
        label_file = LabelFile(learn, [str(id_column), "id"], names, on_bad_row)  # type: ignore[arg-type]
        label_file.learn_before(work.memory)
    cell = _safe_cell if safe_cells else _unchanged
    if out == STDOUT:
        if not sys.stdout.isatty() and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # as in a file, so that all letters of labels can be written
        _write_csv(work, sys.stdout, _visible_cell(cell) if sys.stdout.isatty() else cell)
    else:
        with name_file_in_errors(out), replacing(out) as written:
            if out.suffix == ".parquet":
                _write_parquet(work, written)
            else:
                _write_text(work, written, cell)
        print_written(out)
    if rows.n_skipped:
        were = "row was" if rows.n_skipped == 1 else "rows were"
        print_error(f"{rows.n_skipped:,} malformed {were} skipped")
    if work.memory is not None:
        if label_file is not None:
            label_file.learn_after(work.memory)
        if learn is not None:
            work.memory.report()
    if save is not None:
        with name_file_in_errors(save):
            model.save(save)
        if out != STDOUT:
            print_written(save)


def _check_arguments(
    model_file: Path,
    file: str,
    out: Path,
    id_column: str | None,
    learn: str | None,
    save: Path | None,
    *,
    safe_cells: bool,
) -> None:
    """Raise a ConfigError if files are missing, or arguments do not go together, before the model is loaded."""
    labels = [] if learn is None else [learn]
    check_files_exist(model_file, file, *labels)
    if id_column is None and (learn is not None or save is not None):
        raise ConfigError("--learn and --save need --id, the column by which labels find their rows")
    if save == STDOUT:
        raise ConfigError("--save needs a file; a model cannot be written to the standard output")
    check_outputs([model_file, file, *labels], out=out, save=save)
    if out != STDOUT and out.suffix not in FORMATS and (out.is_file() or not out.exists()):
        raise ConfigError(f"--out must end in .csv or .parquet; got {out}")
    if safe_cells and out.suffix == ".parquet":
        raise ConfigError(f"--safe-cells is for CSV, and {out} is Parquet; omit it")


class PredictionWork:
    """A model, the rows that it answers, and the memory for their labels if there is one.

    Parameters
    ----------
    model : estimator
        The model.
    rows : RowFile
        The rows.
    id_column, label_column : str or None
        The column of ids, which is written too, and the one of labels to learn from.
    remembers : bool
        Whether the model remembers the rows by their ids.
    """

    def __init__(
        self, model: Any, rows: RowFile, id_column: str | None, label_column: str | None, *, remembers: bool
    ) -> None:
        self.model, self.rows, self.id_column = model, rows, id_column
        self.memory = RowMemory(model) if remembers else None
        self._label_column = label_column

    def parts(self) -> Iterator[tuple[Sequence[int], Sequence[str | None], Matrix]]:
        """Yield places, ids and values of the rows to answer; remember them after they were answered."""
        for places, ids, values in unlabelled_rows(self.rows, self.id_column, self._label_column, self.memory):
            yield places, ids, values
            if self.memory is not None:
                self.memory.remember(ids, values)


def _label_name(layout: dict[str, Any]) -> list[str]:
    return [] if layout["label"] is None else [layout["columns"][layout["label"]]]


def _label_column(layout: dict[str, Any], learn: str | None) -> str | None:
    """Return the name of the label column if labels are learned from the rows themselves."""
    if learn != str(STDOUT):
        return None
    if layout["label"] is None:
        raise ConfigError("--learn - needs a model of driftline run, which knows the label column; pass --learn FILE")
    return _label_name(layout)[0]


def layout_of(model: Any) -> dict[str, Any]:
    """Return the layout of files for a model: that of its training file, or its column names, or columns in order."""
    layout: dict[str, Any] | None = getattr(model, "notes_", {}).get("layout")
    if layout is not None:
        return layout
    columns = getattr(model, "feature_names_in_", None)
    return numeric_layout(model.n_features_in_ if columns is None else [str(name) for name in columns])


def _columns(work: PredictionWork) -> list[tuple[str, Kind]]:
    """Return the names of the columns to write, and what is in them."""
    model, rows = work.model, work.rows
    ids = [] if work.id_column is None else [(work.id_column, Kind.ID)]
    shares = [f"p({label})" for label in model.classes_.tolist()] if hasattr(model, "predict_proba") else []
    columns = [*ids, (rows.place, Kind.PLACE), ("prediction", Kind.LABEL), *((name, Kind.NUMBER) for name in shares)]
    if isinstance(model, GuaranteedClassifier):
        columns.insert(1 + len(ids), ("answer", Kind.LABEL))
        return [*columns, ("confidence", Kind.NUMBER), ("bound", Kind.NUMBER), ("set", Kind.LABELS)]
    return [*columns, ("bound", Kind.NUMBER)] if hasattr(model, "error_bound_") else columns


def _blocks(work: PredictionWork) -> Iterator[list[Sequence[Any]]]:
    """Yield the content of these columns, block by block; None where there is nothing to say."""
    model, rows = work.model, work.rows
    for places, ids, block in work.parts():
        start = [places] if work.id_column is None else [ids, places]
        try:
            labels: list[Any] = model.predict(block).tolist()
            shares = model.predict_proba(block).T.tolist() if hasattr(model, "predict_proba") else []
            if isinstance(model, GuaranteedClassifier):
                said = model.predict_with_guarantees(block)
                answers, sets = said.answers.tolist(), [model.classes_[members].tolist() for members in said.sets]
                yield [*start, answers, labels, *shares, said.confidences.tolist(), said.bounds.tolist(), sets]
            else:
                bounds = [[_valid_bound(model)] * len(labels)] if hasattr(model, "error_bound_") else []
                yield [*start, labels, *shares, *bounds]
        except ValueError as error:
            raise DataError(f"the model cannot use rows of {rows.name}: {error}") from error


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


def _write_csv(work: PredictionWork, file: TextIO, cell: Cell) -> None:
    """Write predictions as CSV, with labels and headings as `cell` returns them; those of a pipe at once."""
    writer = csv.writer(file, lineterminator="\n")
    columns = _columns(work)
    writer.writerow(cell(name) for name, _ in columns)
    texts = [_texts(cell)[kind] for _, kind in columns]
    for block in _blocks(work):
        for row in zip(*block, strict=True):
            writer.writerow("" if value is None else text(value) for text, value in zip(texts, row, strict=True))
        if work.rows.is_pipe:
            file.flush()


def _texts(cell: Cell) -> dict[Kind, Cell]:
    """Return how each kind of value is written as a cell of CSV."""
    return {
        Kind.PLACE: _unchanged,
        Kind.ID: cell,
        Kind.LABEL: cell,
        Kind.NUMBER: "{:.6g}".format,
        Kind.LABELS: lambda labels: cell("|".join(str(label).replace("|", r"\|") for label in labels)),
    }


def _write_text(work: PredictionWork, file: BinaryIO, cell: Cell) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    _write_csv(work, text, cell)
    text.flush()
    text.detach()


def _write_parquet(work: PredictionWork, file: BinaryIO) -> None:
    pa = arrow()
    label = label_type(pa, work.model.classes_)
    types = {Kind.PLACE: pa.int64(), Kind.LABEL: label, Kind.NUMBER: pa.float64(), Kind.LABELS: pa.list_(label)}
    types[Kind.ID] = pa.string()
    schema = pa.schema([(name, types[kind]) for name, kind in _columns(work)])
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for block in _blocks(work):
            arrays = [pa.array(list(column), each.type) for column, each in zip(block, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
