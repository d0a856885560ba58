"""Records of an evaluation: one row for each step, in Parquet files that are written while it runs.

Each file is named by its first step and the step after its last, and is written completely or not at all. Many small
files are merged into a larger one, which is written before they are removed; where two files overlap, the longer one
counts.

Version 2 of the schema:

================  ========  =====================================================================================
column            type      meaning
================  ========  =====================================================================================
step              int64     position of the row in the stream, from 0
time              float64   time of the row; null if the stream has no times
label             labels    the true label: int64, float64, bool or string
prediction        labels    predicted label; null (a mistake) if the classifier knew no class yet
probability       float64   probability that the classifier gave to the true label; null if it has none
bound             float64   R(U_t), the bound on the error probability; null if the classifier has none
status            string    ok, empty (the bound means nothing), loose (worse than guessing); or null
charge            float64   what the step adds to the bound on accumulated mistakes; or null
pending           int64     how many labels of earlier rows had not been learned yet
predict_seconds   float64   time spent predicting the row
learn_seconds     float64   time spent learning the labels that arrived at this step
confidence        float64   probability that the prediction is right, calibrated by the labels before
row_bound         float64   bound on the error of this row: that of recent rows of like confidence, plus a margin
answered          bool      whether the row was answered, at the first level of error, and not handed over
set_size          int64     number of labels in the set, for the first coverage
covered           bool      whether the true label was in that set
last_label        labels    the last label that had arrived when the row was predicted; null if none had
majority_label    labels    the most frequent of the labels that had arrived; null if none had
================  ========  =====================================================================================

The five before the last two are null where nothing was said of the row, because no class was known yet. Version 1 lacks
the last seven.

The charge is the bound plus the excess of the instance, and at least 1 where the status is empty; the bounds in the
summary are ``min(charge, 1)``, or ``bound`` where the status is empty.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import CheckpointError, DataError, MissingExtraError
from driftline.evaluation.guarantee_record import StatedRows
from driftline.evaluation.label_baselines import LabelPredictions
from driftline.types import Block, LabelArray, Predictions, Vector
from driftline.utils.atomic_write import remove_leftovers, replacing

VERSION = 2
METADATA = b"driftline.records"
FILES_PER_MERGE = 16
"""Number of files of one level that are merged into one of the next."""
MAX_FILE_ROWS = 2**18
"""Largest number of rows in a merged file, because merging holds them in memory."""
MAX_BUFFERED_ROWS = 2**16
"""Number of rows in memory from which on they are written."""
FILE_NAME_PATTERN = r"\d{12}-\d{12}\.parquet"
MAX_READ_ATTEMPTS = 100
TIMINGS = ("predict_seconds", "learn_seconds")
"""The columns that differ between two runs of the same evaluation."""


def arrow() -> Any:
    """Import and return pyarrow; the error says what to install."""
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra may be missing
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("records of an evaluation need pyarrow; pip install 'driftline[files]'") from error
    return pa


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file with the steps from `first` to before `end`; `level` is the number of merges behind it."""

    path: Path
    first: int
    end: int
    level: int = 0


class RecordWriter:
    """Writes records into a folder.

    Parameters
    ----------
    folder : Path
        The folder, which is created if needed.
    about : dict
        Description of the run, for the metadata of each file.
    start : int
        The next step. Records of this step and later ones are removed.
    """

    def __init__(self, folder: Path, about: dict[str, Any], start: int) -> None:
        self._pa = arrow()
        self._folder = folder
        self._metadata = {METADATA: json.dumps({"version": VERSION} | about).encode()}
        self._next = start
        self._buffer: list[Any] = []
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder, FILE_NAME_PATTERN)
        try:
            self._files = self._cut(start)
            last = self._pa.parquet.read_schema(self._files[-1].path) if start else None
        except self._pa.ArrowException as error:
            raise CheckpointError(
                f"records in {folder} are damaged ({error}); choose another folder, or start again in an empty one"
            ) from error
        self._label_type = None if last is None else last.field("label").type

    def _cut(self, end: int) -> list[RecordFile]:
        """Remove all records from step `end` on, and return the files that are left."""
        kept = []
        for file in list_record_files(self._folder):
            if file.end <= end:
                kept.append(file)
            elif file.first < end:
                table = self._pa.parquet.read_table(file.path).slice(0, end - file.first)
                kept.append(self._write(table, file.first))
        if (kept[-1].end if kept else 0) != end:
            raise CheckpointError(
                f"{self._folder} has records up to step {kept[-1].end if kept else 0}, and its checkpoint is at {end}: "
                "files were removed; choose another folder, or start again in an empty one"
            )
        # The last file first, so that an interruption leaves no gap.
        for file in sorted(_all_files(self._folder), key=lambda file: -file.first):
            if file.path not in [keep.path for keep in kept]:
                file.path.unlink()
        return kept

    def add(
        self,
        block: Block,
        predictions: Predictions,
        pending: LabelArray,
        stated: StatedRows,
        baselines: LabelPredictions,
    ) -> None:
        """Buffer the records of some steps until the next flush."""
        pa, n, is_unstated = self._pa, len(block.rows), ~stated.is_stated
        self._label_type = self._label_type or label_type(pa, block.labels)
        columns = {
            "step": np.arange(self._next, self._next + n),
            "time": _nullable(pa, block.times),
            "label": self._labels("labels", block.labels),
            "prediction": self._labels("predictions", predictions.predicted),
            "probability": _nullable(pa, predictions.label_probabilities),
            "bound": _nullable(pa, predictions.bounds),
            "status": pa.array(predictions.statuses, pa.string()),
            "charge": _nullable(pa, predictions.total_charges),
            "pending": pending,
            "predict_seconds": predictions.predict_seconds,
            "learn_seconds": predictions.learn_seconds,
            "confidence": pa.array(stated.confidences, mask=is_unstated),
            "row_bound": pa.array(stated.bounds, mask=is_unstated),
            "answered": pa.array(stated.is_answered, mask=is_unstated),
            "set_size": pa.array(stated.set_sizes, mask=is_unstated),
            "covered": pa.array(stated.is_covered, mask=is_unstated),
            "last_label": pa.array(baselines.last, self._label_type),
            "majority_label": pa.array(baselines.majority, self._label_type),
        }
        self._buffer.append(pa.table(columns))
        self._next += n

    def _labels(self, what: str, labels: LabelArray) -> Any:
        """Return labels as a column of the type of the first labels."""
        plain = labels.tolist() if labels.dtype == object else labels
        try:
            return self._pa.array(plain, self._label_type)
        except (self._pa.ArrowException, OverflowError, UnicodeError) as error:
            raise DataError(
                f"{what} from step {self._next} on cannot be recorded as {self._label_type}, the type of the first "
                f"labels ({error}); use one kind of label throughout"
            ) from error

    @property
    def is_full(self) -> bool:
        """Whether the buffer should be written."""
        return bool(sum(table.num_rows for table in self._buffer) >= MAX_BUFFERED_ROWS)

    def flush(self) -> None:
        """Write the buffer, and merge files if there are many."""
        if not self._buffer:
            return
        table = self._pa.concat_tables(self._buffer)
        file = self._write(table, self._next - table.num_rows)
        self._buffer = []  # only now: if the disk is full they stay buffered, and no checkpoint is ahead of the records
        self._files.append(file)
        while self._should_merge(last := self._files[-FILES_PER_MERGE:]):
            tables = [self._pa.parquet.read_table(file.path) for file in last]
            merged = self._write(self._pa.concat_tables(tables), last[0].first, last[0].level + 1)
            self._files[-FILES_PER_MERGE:] = [merged]
            for file in last:
                file.path.unlink()

    @staticmethod
    def _should_merge(files: list[RecordFile]) -> bool:
        same_level = len({file.level for file in files}) == 1
        return len(files) == FILES_PER_MERGE and same_level and files[-1].end - files[0].first <= MAX_FILE_ROWS

    def _write(self, table: Any, first: int, level: int = 0) -> RecordFile:
        end = first + table.num_rows
        path = self._folder / f"{first:012d}-{end:012d}.parquet"
        with replacing(path) as file:
            self._pa.parquet.write_table(table.replace_schema_metadata(self._metadata), file)
        return RecordFile(path, first, end, level)


def _nullable(pa: Any, values: Vector) -> Any:
    return pa.array(values, mask=np.isnan(values))


def label_type(pa: Any, labels: LabelArray) -> Any:
    """Return the Arrow type of labels."""
    kind = np.array(labels.tolist()).dtype.kind
    kinds = {"b": pa.bool_(), "i": pa.int64(), "u": pa.int64(), "f": pa.float64(), "U": pa.string()}
    if kind not in kinds:
        raise DataError(f"labels such as {labels[0]!r} cannot be recorded; expected numbers, booleans or text")
    return kinds[kind]


def list_record_files(folder: Path) -> list[RecordFile]:
    """Return the files that together contain each step once, in order."""
    files: list[RecordFile] = []
    for file in sorted(_all_files(folder), key=lambda file: (file.first, -file.end)):
        expected = files[-1].end if files else 0
        if file.end <= expected:  # it was merged into the previous file
            continue
        if file.first != expected:
            raise CheckpointError(
                f"{folder} has records up to step {expected} and from step {file.first} on: files were removed or come "
                "from another run; choose another folder"
            )
        files.append(file)
    return files


def _all_files(folder: Path) -> Iterator[RecordFile]:
    for path in folder.glob("*.parquet"):
        if re.fullmatch(FILE_NAME_PATTERN, path.name):
            first, _, end = path.stem.partition("-")
            yield RecordFile(path, int(first), int(end))


def read_records(folder: str | os.PathLike[str]) -> Any:
    """Return the records that an evaluation wrote, finished or not.

    Parameters
    ----------
    folder : path-like
        The folder that was given to `evaluate` as ``checkpoint``.

    Returns
    -------
    pyarrow.Table
        One row for each step, in order; see `driftline.evaluation.records` for the columns.
    """
    tables = _read_files(arrow(), Path(folder) / "records")
    newest = json.loads((tables[-1].schema.metadata or {}).get(METADATA, b"{}"))
    if newest.get("version", 0) > VERSION:
        raise DataError(
            f"{folder} has records of version {newest['version']}, and this driftline reads up to {VERSION}; upgrade it"
        )
    return arrow().concat_tables(tables)


def _read_files(pa: Any, folder: Path) -> list[Any]:
    """Read all files, again if the run is still going on and has merged some meanwhile."""
    for _ in range(MAX_READ_ATTEMPTS):
        files = list_record_files(folder)
        if not files:
            raise DataError(f"{folder} has no records of an evaluation; pass the folder that was given as `checkpoint`")
        try:
            return [pa.parquet.read_table(file.path) for file in files]
        except FileNotFoundError:
            continue
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{folder} has a damaged file ({error}); run the evaluation again") from error
    raise DataError(f"{folder} changes faster than it can be read; wait until the evaluation has finished")
