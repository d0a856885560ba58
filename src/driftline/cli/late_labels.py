"""Rows that `driftline predict` has answered, and their labels, which arrive later."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from reprlib import repr as brief
from typing import Any

import numpy as np

from driftline.cli import print_error
from driftline.errors import DataError, Parameter
from driftline.streams.files import RowFile
from driftline.streams.files.cells import parse_text, to_sequence
from driftline.streams.files.encoders import LABEL_KINDS, read_label
from driftline.streams.files.input_file import InputFile
from driftline.streams.files.options import FileOptions, NameOrPosition, find_column, unique_names
from driftline.streams.files.reader import FileReader, OnBadRow
from driftline.streams.files.row_file import RowBlock
from driftline.types import Matrix

MAX_ROWS = 100_000
"""Most rows that are remembered; the oldest are forgotten first. AMRC has the same limit."""
MAX_ROW_BYTES = 2**26
"""Most memory of the values of these rows, for a classifier that does not remember rows itself."""
MAX_REPORTED = 10
"""Number of labels of unknown ids that are named; all are counted."""


class RowMemory:
    """Remembers rows that a model has answered by their ids, and teaches it their labels.

    Parameters
    ----------
    model : estimator
        The model, which remembers the rows itself if it has `observe` and `is_waiting`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._observes = hasattr(model, "is_waiting")
        self._rows: OrderedDict[str, Any] = OrderedDict()
        self._n_kept = max(1, min(MAX_ROWS, MAX_ROW_BYTES // (8 * model.n_features_in_)))
        self._read_label = label_reader(model)
        self._n_learned = self._n_unknown = self._n_repeated = 0
        self._new_classes: dict[Any, None] = {}

    def is_waiting(self, row_id: str) -> bool:
        """Return whether a row with this id waits for its label."""
        return bool(self._model.is_waiting([row_id])[0]) if self._observes else row_id in self._rows

    def remember(self, ids: Sequence[str | None], rows: Matrix) -> None:
        """Remember rows that have an id, except those whose id belongs to a row that waits already."""
        places: dict[str, int] = {}
        for t, row_id in enumerate(ids):
            if row_id is not None and (row_id in places or self.is_waiting(row_id)):
                self._n_repeated += 1
            elif row_id is not None:
                places[row_id] = t
        if not places:
            return
        if self._observes:
            self._model.observe(rows[list(places.values())], ids=list(places))
            return
        self._rows |= {row_id: rows[t].copy() for row_id, t in places.items()}
        while len(self._rows) > self._n_kept:
            self._rows.popitem(last=False)

    def learn(self, name: str, places: Sequence[str], ids: Sequence[str | None], labels: Sequence[str]) -> list[str]:
        """Learn the labels of rows that wait, report the others, and return the ids of those learned.

        `name` is that of the file, and `places` are the lines or rows of the labels in it.
        """
        known: dict[str, Any] = {}
        for place, row_id, label in zip(places, ids, labels, strict=True):
            if row_id is None or row_id in known or not self.is_waiting(row_id):
                why = "the id is missing" if row_id is None else f"no row with the id {row_id!r} waits for a label"
                self._report_unknown(f"{name}, {place}: {why}")
                continue
            try:
                known[row_id] = self._read_label(label)
            except ValueError as error:
                raise DataError(f"{name}, {place}: {error}") from error
        if known:
            self._new_classes |= dict.fromkeys(set(known.values()) - set(self._model.classes_.tolist()))
            self._teach(list(known), list(known.values()))
        self._n_learned += len(known)
        return list(known)

    def _teach(self, ids: list[str], labels: list[Any]) -> None:
        if not self._observes:
            self._model.partial_fit(np.array([self._rows.pop(row_id) for row_id in ids]), labels)
            return
        # The model has the values of the rows; each label is one unit of time after the one before.
        last = self._model.last_time_
        times = None if last is None else last + np.arange(1.0, len(ids) + 1.0)
        unknown = np.full((len(ids), self._model.n_features_in_), np.nan)
        self._model.partial_fit(unknown, labels, ids=ids, timestamps=times)

    def _report_unknown(self, message: str) -> None:
        self._n_unknown += 1
        if self._n_unknown <= MAX_REPORTED:
            print_error(message)

    def report(self) -> None:
        """Print how many labels were learned, and how many labels and rows could not be used."""
        print_error(f"{self._n_learned:,} {'label was' if self._n_learned == 1 else 'labels were'} learned")
        if self._new_classes:
            named = ", ".join(sorted(map(repr, self._new_classes)))
            print_error(f"labels that the model had not seen before were learned: {named}; check their spelling")
        if self._n_unknown:
            were = "label was of an unknown id" if self._n_unknown == 1 else "labels were of unknown ids"
            print_error(f"{self._n_unknown:,} {were} and not learned")
        if self._n_repeated:
            had = "row had" if self._n_repeated == 1 else "rows had"
            print_error(f"{self._n_repeated:,} {had} the id of a row that waits already, and cannot get a label")


def label_reader(model: Any) -> Callable[[str], Any]:
    """Return a function that converts the text of a label to the type of the model's classes.

    Examples
    --------
    >>> from driftline.registry import create
    >>> label_reader(create("majority").partial_fit([[0.0]], [3]))("4.0")
    4
    """
    dtype = np.asarray(model.classes_).dtype
    kind = {"b": bool, "i": int, "u": int, "f": int}.get(dtype.kind, str)

    def read(text: str) -> Any:
        label = read_label(text, kind)
        if label is None:
            raise ValueError(
                f"expected {LABEL_KINDS[kind]} as label, like the classes of the model; got {brief(text)}; correct it"
            )
        return float(label) if dtype.kind == "f" else label

    return read


def unlabelled_rows(
    rows: RowFile, id_column: str | None, label_column: str | None, memory: RowMemory | None
) -> Iterator[tuple[Sequence[int], Sequence[str | None], Matrix]]:
    """Yield places, ids and values of the rows to answer, and learn from those with a label when they are reached."""
    columns = {"id": _column(id_column), "learn": label_column}
    for block in rows.blocks_with({name: column for name, column in columns.items() if column is not None}):
        ids = block.texts[0] if block.texts else [None] * len(block.places)
        if label_column is None or memory is None:
            yield block.places, ids, block.rows
            continue
        for part, is_labelled in _runs(block):
            if is_labelled:
                labels = [label or "" for label in block.texts[1][part]]
                memory.learn(rows.name, _named(rows.place, block.places[part]), ids[part], labels)
            else:
                yield block.places[part], ids[part], block.rows[part]


def _runs(block: RowBlock) -> Iterator[tuple[slice, bool]]:
    """Yield consecutive rows that all have a label, or all have none."""
    labelled = [label is not None for label in block.texts[1]]
    first = 0
    for t in range(1, len(labelled) + 1):
        if t == len(labelled) or labelled[t] != labelled[first]:
            yield slice(first, t), labelled[first]
            first = t


def _named(unit: str, places: Sequence[int]) -> list[str]:
    return [f"{unit} {place}" for place in places]


def _column(name: str | None) -> str | int | None:
    """Return a column as `find_column` takes it: a whole number is a name, or a position if no column has that name."""
    return NameOrPosition(name) if name is not None and name.isdecimal() else name


class LabelFile:
    """A file with ids and labels; it is read before the first row is answered, and again after the last.

    Parameters
    ----------
    path : str
        The file.
    id_names, label_names : sequence of str
        The names that the two columns may have.
    on_bad_row : {"stop", "skip"}
        Whether a malformed row is an error or is skipped.
    """

    def __init__(self, path: str, id_names: Sequence[str], label_names: Sequence[str], on_bad_row: OnBadRow) -> None:
        self._file = InputFile(path)
        if self._file.is_pipe:
            raise DataError(
                f"{path} is a pipe, and labels are read twice; save them as a file, or pass ",
                Parameter("learn", "-"),
                " and put them into the input",
            )
        self._id_names, self._label_names, self._on_bad_row = id_names, label_names, on_bad_row
        self._learned_before: set[str | None] = set()

    def learn_before(self, memory: RowMemory) -> None:
        """Learn the labels of rows that an earlier call has answered and that the model still remembers."""
        for places, ids, labels in self._read():
            waiting = [t for t, row_id in enumerate(ids) if row_id is not None and memory.is_waiting(row_id)]
            chosen = ([column[t] for t in waiting] for column in (places, ids, labels))
            self._learned_before.update(memory.learn(self._file.name, *chosen))

    def learn_after(self, memory: RowMemory) -> None:
        """Learn the labels of rows that this call has answered, and report those of unknown ids."""
        for places, ids, labels in self._read():
            new = [t for t, row_id in enumerate(ids) if row_id not in self._learned_before]
            chosen = ([column[t] for t in new] for column in (places, ids, labels))
            memory.learn(self._file.name, *chosen)

    def _read(self) -> Iterator[tuple[list[str], list[Any], list[Any]]]:
        """Yield places, ids and labels; rows without a label are left out."""
        with FileReader(self._file, FileOptions(label=self._label_names[0], header=True), self._on_bad_row) as reader:
            found = [column.name for column in reader.columns]
            reader.select([self._position(found, names) for names in (self._id_names, self._label_names)])
            unit = "row" if self._file.format == "parquet" else "line"
            for chunk in reader.chunks:
                ids, labels = ([parse_text(cell) for cell in to_sequence(cells)] for cells in chunk.columns)
                kept = [t for t, label in enumerate(labels) if label is not None]
                places = _named(unit, [chunk.places[t] for t in kept])
                yield places, [ids[t] for t in kept], [labels[t] for t in kept]

    def _position(self, found: Sequence[str], names: Sequence[str]) -> int:
        name = next((name for name in names if name in found), None)
        if name is None:
            raise DataError(
                f"{self._file.name} needs a column {' or '.join(map(repr, dict.fromkeys(names)))}; it has "
                f"{', '.join(map(repr, found[:10]))}"
            )
        return find_column(name, found, unique_names(found), self._file.name, "learn")
