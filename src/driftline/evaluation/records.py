"""Records of an evaluation: a row for each step, in Parquet parts that are written as they come.

Parts are named by their first and last step and written whole or not at all. Many small parts are merged into
a larger one, which is written before they are removed: where two parts overlap, the longer one counts.

Version 1 of the schema:

================  ========  =====================================================================================
column            type      meaning
================  ========  =====================================================================================
step              int64     position of the row in the stream, from 0
time              float64   when the row came; null if the stream does not say
label             labels    the true label: int64, float64, bool or string
prediction        labels    what was predicted; null if the classifier knew no class yet, which counts as a mistake
probability       float64   what the randomised rule, or a probabilistic classifier, gave to the true label; or null
bound             float64   R(U_t), the bound on the error probability; null if the classifier has none
status            string    what the bound says: ok, empty (nothing), loose (more than guessing); or null
charge            float64   what the step adds to the bound on accumulated mistakes; or null
pending           int64     how many labels of earlier rows had not been learned yet
predict_seconds   float64   time spent predicting the row
learn_seconds     float64   time spent learning the labels that came at this step
================  ========  =====================================================================================

The charge is the bound plus the excess of the instance, and at least 1 where the bound says nothing; the bounds of the
summary are ``min(charge, 1)``, and ``bound`` where its status is empty.
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
from driftline.types import Block, LabelArray, Predictions, Vector
from driftline.utils.atomic_write import remove_leftovers, replacing

VERSION = 1
METADATA = b"driftline.records"
MERGED_AT_ONCE = 16
"""Parts of a level that are merged into one of the next."""
LARGEST_PART = 2**18
"""Most records in a part: merging holds them in memory."""
MOST_WAITING = 2**16
"""Records that may wait in memory to be written."""
PART_NAME = r"\d{12}-\d{12}\.parquet"
"""How parts are called: by their first step and the one after their last."""
READING_ATTEMPTS = 100
TIMINGS = ("predict_seconds", "learn_seconds")
"""The columns that two runs of the same evaluation do not share."""


def arrow() -> Any:
    """Return pyarrow, or say what to install."""
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra may be missing
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("records of an evaluation need pyarrow; pip install 'driftline[files]'") from error
    return pa


@dataclass(frozen=True, slots=True)
class Part:
    """A file with the steps from `first` to before `end`; `level` tells how often it was merged."""

    path: Path
    first: int
    end: int
    level: int = 0


class RecordWriter:
    """Writes records into a folder, a part at a time.

    Parameters
    ----------
    folder : Path
        Where to; it is made if it is not there.
    about : dict
        What was run; goes into each part's metadata.
    start : int
        The step to continue with: records from it on are removed.
    """

    def __init__(self, folder: Path, about: dict[str, Any], start: int) -> None:
        self._pa = arrow()
        self._folder = folder
        self._metadata = {METADATA: json.dumps({"version": VERSION} | about).encode()}
        self._next = start
        self._waiting: list[Any] = []
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder, PART_NAME)
        try:
            self._parts = self._cut(start)
            last = self._pa.parquet.read_schema(self._parts[-1].path) if start else None
        except self._pa.ArrowException as error:
            raise CheckpointError(
                f"records in {folder} are damaged ({error}); choose another folder, or begin anew in an empty one"
            ) from error
        self._label_type = None if last is None else last.field("label").type

    def _cut(self, end: int) -> list[Part]:
        """Keep the records before `end` and remove all others."""
        kept = []
        for part in list_parts(self._folder):
            if part.end <= end:
                kept.append(part)
            elif part.first < end:
                table = self._pa.parquet.read_table(part.path).slice(0, end - part.first)
                kept.append(self._write(table, part.first))
        if (kept[-1].end if kept else 0) != end:
            raise CheckpointError(
                f"{self._folder} has records up to step {kept[-1].end if kept else 0}, and its checkpoint is at {end}: "
                "parts were removed; choose another folder, or begin anew in an empty one"
            )
        # The last first: if this is interrupted, no gap is left.
        for part in sorted(_all_parts(self._folder), key=lambda part: -part.first):
            if part.path not in [keep.path for keep in kept]:
                part.path.unlink()
        return kept

    def add(self, block: Block, predictions: Predictions, pending: LabelArray) -> None:
        """Take the records of some steps, to be written at the next flush."""
        pa, n = self._pa, len(block.rows)
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
        }
        self._waiting.append(pa.table(columns))
        self._next += n

    def _labels(self, what: str, labels: LabelArray) -> Any:
        """Return labels as a column, whose type the first of them has decided."""
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
        """Whether so many records wait that they should be written."""
        return bool(sum(table.num_rows for table in self._waiting) >= MOST_WAITING)

    def flush(self) -> None:
        """Write what waits, and merge parts where they have become many."""
        if not self._waiting:
            return
        table = self._pa.concat_tables(self._waiting)
        part = self._write(table, self._next - table.num_rows)
        self._waiting = []  # only now: if the disk is full, they wait on, and no checkpoint runs ahead of them
        self._parts.append(part)
        while self._is_due(last := self._parts[-MERGED_AT_ONCE:]):
            tables = [self._pa.parquet.read_table(part.path) for part in last]
            merged = self._write(self._pa.concat_tables(tables), last[0].first, last[0].level + 1)
            self._parts[-MERGED_AT_ONCE:] = [merged]
            for part in last:
                part.path.unlink()

    @staticmethod
    def _is_due(parts: list[Part]) -> bool:
        same_level = len({part.level for part in parts}) == 1
        return len(parts) == MERGED_AT_ONCE and same_level and parts[-1].end - parts[0].first <= LARGEST_PART

    def _write(self, table: Any, first: int, level: int = 0) -> Part:
        end = first + table.num_rows
        path = self._folder / f"{first:012d}-{end:012d}.parquet"
        with replacing(path) as file:
            self._pa.parquet.write_table(table.replace_schema_metadata(self._metadata), file)
        return Part(path, first, end, level)


def _nullable(pa: Any, values: Vector) -> Any:
    return pa.array(values, mask=np.isnan(values))


def label_type(pa: Any, labels: LabelArray) -> Any:
    """Return the Arrow type of labels."""
    kind = np.array(labels.tolist()).dtype.kind
    kinds = {"b": pa.bool_(), "i": pa.int64(), "u": pa.int64(), "f": pa.float64(), "U": pa.string()}
    if kind not in kinds:
        raise DataError(f"labels such as {labels[0]!r} cannot be recorded; expected numbers, booleans or text")
    return kinds[kind]


def list_parts(folder: Path) -> list[Part]:
    """Return the parts that together hold each step once, in order."""
    parts: list[Part] = []
    for part in sorted(_all_parts(folder), key=lambda part: (part.first, -part.end)):
        expected = parts[-1].end if parts else 0
        if part.end <= expected:  # a piece of a merged part
            continue
        if part.first != expected:
            raise CheckpointError(
                f"{folder} has records up to step {expected} and from step {part.first} on: parts were removed or come "
                "from another run; choose another folder"
            )
        parts.append(part)
    return parts


def _all_parts(folder: Path) -> Iterator[Part]:
    for path in folder.glob("*.parquet"):
        if re.fullmatch(PART_NAME, path.name):
            first, _, end = path.stem.partition("-")
            yield Part(path, int(first), int(end))


def read_records(folder: str | os.PathLike[str]) -> Any:
    """Return the records that an evaluation wrote, finished or not.

    Parameters
    ----------
    folder : path-like
        The folder that was given to `evaluate` as ``checkpoint``.

    Returns
    -------
    pyarrow.Table
        A row for each step, in order; see `driftline.evaluation.records` for the columns.
    """
    tables = _read_parts(arrow(), Path(folder) / "records")
    newest = json.loads((tables[-1].schema.metadata or {}).get(METADATA, b"{}"))
    if newest.get("version", 0) > VERSION:
        raise DataError(
            f"{folder} has records of version {newest['version']}, and this driftline reads up to {VERSION}; upgrade it"
        )
    return arrow().concat_tables(tables)


def _read_parts(pa: Any, folder: Path) -> list[Any]:
    """Read all parts; where the run goes on and merges some meanwhile, look again."""
    for _ in range(READING_ATTEMPTS):
        parts = list_parts(folder)
        if not parts:
            raise DataError(f"{folder} has no records of an evaluation; name the folder that was given as `checkpoint`")
        try:
            return [pa.parquet.read_table(part.path) for part in parts]
        except FileNotFoundError:
            continue
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{folder} has a damaged part ({error}); run the evaluation again") from error
    raise DataError(f"{folder} changes faster than it can be read; wait until the evaluation is done")
