"""CSV and its relatives: a row a line, or more where a quoted cell holds line breaks."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from reprlib import repr as brief

from driftline.errors import ConfigError, DataError
from driftline.streams.files.arff import Reject
from driftline.streams.files.cells import MISSING, number, says
from driftline.streams.files.options import Numeral, Options
from driftline.streams.files.source import LONGEST_LINE, Line, Lines
from driftline.streams.files.tables import Column, Table, table_of_rows

DELIMITERS = "\t;|, "
"""Tried in this order: numbers with decimal commas, text with spaces stand between the others."""
MOST_LINES = 1000
"""Most lines that a row may span."""
SAMPLE_LINES = 50
QUOTES = "expected quotes to be closed, doubled inside a quoted cell and followed by the delimiter, and no cell so long"


def read_delimited(lines: Lines, options: Options, reject: Reject) -> Table:
    """Read text with one delimiter between the cells; see `open_stream` for what the options mean."""
    delimiter = _find_delimiter(lines, options.label) if options.delimiter is None else options.delimiter
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ConfigError(f"delimiter must be one character, and no quote or line break; got {delimiter!r}")
    try:
        first = next(_rows(lines, delimiter, partial(_stop, lines.source)))
    except StopIteration:
        raise DataError(f"{lines.source} is empty; expected a header and rows") from None
    cells = [cell.strip() for cell in first[1]]
    if len(cells) < 2 and options.label is not None:
        raise DataError(
            f"{lines.source}, line {first[0]}: expected cells with {delimiter!r} between them, as in a header; got "
            f"{brief(cells[0])}. Pass delimiter= if it is another one, or remove what stands above the header"
        )
    rows = _rows(lines, delimiter, reject, len(cells))
    if _has_header(cells, lines, delimiter, options):
        return table_of_rows([Column(name) for name in cells], rows, lines)
    return table_of_rows([Column("") for _ in cells], chain([first], rows), lines)


def _stop(source: str, line: int, reason: str) -> None:
    raise DataError(f"{source}, line {line}: {reason}; the first row decides the columns and cannot be skipped")


def _has_header(first: Sequence[str], lines: Lines, delimiter: str, options: Options) -> bool:
    """Tell by the contrast between the first row and those below, unless the user says it, or names the label."""
    if options.header is not None:
        return options.header
    below = [row for row in _sample(lines, delimiter) if len(row) == len(first)]
    if not isinstance(options.label, int) or not below:
        return True
    named = [cell for cell in first if cell]
    if len(named) > 2 and named == [str(j) for j in range(len(named))]:
        return True  # as pandas names columns that have no names, perhaps beside an index
    if isinstance(options.label, Numeral) and str(options.label) in first and options.label >= len(first):
        return True  # no position, so a name
    numeric = [
        all(says(number, cell) or cell.strip() in MISSING for cell in column) for column in zip(*below, strict=True)
    ]
    if not any(numeric):
        raise ConfigError(
            f"{lines.source}: no column holds numbers, so that names in the first row would not stand out, and it has "
            f"{', '.join(map(brief, first[:5]))}; pass header=True or header=False"
        )
    return any(is_number and not says(number, cell) for is_number, cell in zip(numeric, first, strict=True))


def _rows(lines: Lines, delimiter: str, reject: Reject, width: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, cut into cells, as many as `width` if that is given."""
    for line, text, flaw in lines:
        if flaw is not None:
            reject(line, flaw)
            continue
        if text.isspace():
            continue
        if '"' in text:
            try:
                cells = _cut_quoted(text, lines, delimiter)
            except csv.Error as error:
                reject(line, f"{QUOTES} ({error})")
                continue
        else:
            cells = text.split() if delimiter == " " else text.rstrip("\r\n").split(delimiter)
        if width is None or len(cells) == width:
            yield line, cells
        else:
            reject(line, f"expected {width} cells, as in the first row; got {len(cells)}")


def _cut_quoted(text: str, lines: Lines, delimiter: str) -> list[str]:
    """Cut a row with quotes into cells, together with the following lines where a quote is open.

    If the quotes turn out not to be in order, these lines are given back: only the first is known to be bad.
    """
    taken: list[Line] = []

    def following() -> Iterator[str]:
        yield text.strip() if delimiter == " " else text
        length = len(text)
        for line in lines:
            taken.append(line)
            length += len(line[1])
            if line[2] is not None:
                raise csv.Error(f"line {line[0]}, before they are closed: {line[2]}")
            if length > LONGEST_LINE or len(taken) == MOST_LINES:
                raise csv.Error(f"the row does not end within {MOST_LINES:,} lines and {LONGEST_LINE:,} characters")
            yield line[1]

    try:
        return next(csv.reader(following(), delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        lines.give_back(taken)
        raise


def _find_delimiter(lines: Lines, label: str | int | None) -> str:
    """Return the delimiter that cuts most of the first rows into the same number of cells, and into most cells.

    One that makes the name of the label a cell of the first row goes before all others.
    """
    merits = {delimiter: _merit(_sample(lines, delimiter), label) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: merits[delimiter])  # of equals the first
    return best if merits[best][1] > 0 else ","


def _merit(rows: Sequence[Sequence[str]], label: str | int | None) -> tuple[bool, float, int]:
    """Return whether the label is in the first row, the share of rows with the commonest number of cells, and that."""
    ((width, n_rows),) = Counter(map(len, rows)).most_common(1) or [(0, 0)]
    wanted = str(label) if isinstance(label, Numeral) else label
    has_label = wanted in [cell.strip() for row in rows[:1] for cell in row]
    return has_label, n_rows / len(rows) if width > 1 else 0.0, width


def _sample(lines: Lines, delimiter: str) -> list[list[str]]:
    """Return the next rows, cut into cells, and leave them to be read."""
    sample = [text for _, text, flaw in lines.peek(SAMPLE_LINES, LONGEST_LINE) if flaw is None and not text.isspace()]
    texts = (text.strip() + "\n" if delimiter == " " else text for text in sample)
    reader = csv.reader(texts, delimiter=delimiter, skipinitialspace=True, strict=True)
    rows: list[list[str]] = []
    while True:
        try:
            rows.append(next(reader))
        except csv.Error:  # the quotes do not fit the delimiter; the next row may
            rows.append([])
        except StopIteration:
            return rows
