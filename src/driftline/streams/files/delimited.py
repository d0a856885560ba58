"""CSV and its relatives: a row on each line, or on several lines if a quoted cell holds line breaks."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from reprlib import repr as brief

from driftline.errors import ConfigError, DataError, Parameter
from driftline.streams.files.cells import MISSING, FileColumn, Reason, Reject, TextTable, can_parse, parse_number
from driftline.streams.files.input_file import MAX_LINE_CHARACTERS, Line, LineReader
from driftline.streams.files.options import FileOptions, NameOrPosition

DELIMITERS = "\t;|, "
"""Tried in this order, since numbers with decimal commas and text with spaces occur between the others."""
MAX_ROW_LINES = 1000
"""Most lines that a row may span."""
MAX_CELL_CHARACTERS = 131_072
"""Most characters of a cell in a row with quotes. It is that of the csv module, which other libraries change."""
SAMPLE_LINES = 50
"""Number of lines from which the delimiter is found, and on which the header is told from the rows."""


def read_delimited(lines: LineReader, options: FileOptions, reject: Reject) -> TextTable:
    """Read text with one delimiter between the cells; `open_stream` documents the options."""
    delimiter = _find_delimiter(lines, options.label) if options.delimiter is None else options.delimiter
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ConfigError(
            Parameter("delimiter"), f" must be one character, but not a quote or line break; got {delimiter!r}"
        )
    try:
        first = next(_rows(lines, delimiter, partial(_refuse_first_row, lines.file_name)))
    except StopIteration:
        raise DataError(f"{lines.file_name} is empty; expected a header and rows") from None
    cells = [cell.strip() for cell in first[1]]
    if len(cells) < 2 and options.label is not None:
        raise DataError(
            f"{lines.file_name}, line {first[0]}: expected cells with {delimiter!r} between them, as in a header; got "
            f"{brief(cells[0])}. Set ",
            Parameter("delimiter"),
            " if it is another character, or remove the lines above the header",
        )
    rows = _rows(lines, delimiter, reject, len(cells))
    has_header = _has_header(cells, lines, delimiter, options) if options.header is None else options.header
    columns = tuple(FileColumn(name if has_header else "") for name in cells)
    found = replace(options, delimiter=delimiter, header=has_header)
    return TextTable(columns, rows if has_header else chain([first], rows), found)


def _refuse_first_row(file_name: str, line: int, reason: Reason) -> None:
    raise DataError(f"{file_name}, line {line}: ", reason, "; this row determines the columns and cannot be skipped")


def _has_header(first: Sequence[str], lines: LineReader, delimiter: str, options: FileOptions) -> bool:
    """Return whether the first row is a header: it is if the label has a name, or if it differs from the rows below."""
    if not isinstance(options.label, int):
        return True
    below = [row for row in _cut_sample(_sample(lines), delimiter) if len(row) == len(first)]
    if not below:  # or they have not come yet, in a pipe
        return not all(can_parse(parse_number, cell) for cell in first)
    named = [cell for cell in first if cell]
    if len(named) > 2 and named == [str(j) for j in range(len(named))]:
        return True  # as pandas names columns that have no names, perhaps beside an index
    if isinstance(options.label, NameOrPosition) and str(options.label) in first and options.label >= len(first):
        return True  # it cannot be a position, so it is a name
    is_numeric = [
        all(can_parse(parse_number, cell) or cell.strip() in MISSING for cell in column)
        for column in zip(*below, strict=True)
    ]
    if not any(is_numeric):
        raise ConfigError(
            f"{lines.file_name}: cannot tell whether the first row, {', '.join(map(brief, first[:5]))}, is a header, "
            "since no column below it holds numbers; pass ",
            Parameter("header", True),
            " or ",
            Parameter("header", False),
        )
    return any(numeric and not can_parse(parse_number, cell) for numeric, cell in zip(is_numeric, first, strict=True))


def _rows(
    lines: LineReader, delimiter: str, reject: Reject, width: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, cut into cells; rows must have `width` cells if that is given."""
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
                reject(line, _quote_error(error))
                continue
        else:
            cells = text.split() if delimiter == " " else text.rstrip("\r\n").split(delimiter)
        if width is None or len(cells) == width:
            yield line, cells
        else:
            reject(line, f"expected {width} cells, as in the first row; got {len(cells)}")


def _quote_error(error: csv.Error) -> DataError:
    return DataError(
        "expected quotes to be closed, doubled inside a quoted cell and followed by the delimiter, and cells that are "
        "not too long (",
        *error.args,
        ")",
    )


def _cut_quoted(text: str, lines: LineReader, delimiter: str) -> list[str]:
    """Return the cells of a row with quotes; reads the following lines too while a quote is open.

    If a quote is never closed, these lines are pushed back, since only the first line is known to be malformed.
    """
    taken: list[Line] = []

    def row_lines() -> Iterator[str]:
        yield text.strip() if delimiter == " " else text
        length = len(text)
        for line in lines:
            taken.append(line)
            length += len(line[1])
            if line[2] is not None:
                raise csv.Error(f"line {line[0]}, before they are closed: ", line[2])
            if length > MAX_LINE_CHARACTERS or len(taken) == MAX_ROW_LINES:
                raise csv.Error(
                    f"the row does not end within {MAX_ROW_LINES:,} lines and {MAX_LINE_CHARACTERS:,} characters"
                )
            yield line[1]

    try:
        cells = next(csv.reader(row_lines(), delimiter=delimiter, skipinitialspace=True, strict=True))
        if len(max(cells, key=len, default="")) > MAX_CELL_CHARACTERS:
            raise csv.Error(f"a cell has more than {MAX_CELL_CHARACTERS:,} characters")
        return cells
    except csv.Error:
        lines.push_back(taken)
        raise


def _find_delimiter(lines: LineReader, label: str | int | None) -> str:
    """Return the delimiter that cuts most of the first rows into the same number of cells, and into most cells.

    A delimiter that makes the name of the label a cell of the first row is preferred to all others.
    """
    sample = _sample(lines)
    scores = {delimiter: _score(_cut_sample(sample, delimiter), label) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])  # the first one of equals
    return best if scores[best][1] > 0 else ","


def _score(rows: Sequence[Sequence[str]], label: str | int | None) -> tuple[bool, float, int]:
    """Return whether the label is in the first row, the share of rows of the most common width, and that width."""
    ((width, n_rows),) = Counter(map(len, rows)).most_common(1) or [(0, 0)]
    name = str(label) if isinstance(label, NameOrPosition) else label
    has_label = name in [cell.strip() for row in rows[:1] for cell in row]
    return has_label, n_rows / len(rows) if width > 1 else 0.0, width


def _sample(lines: LineReader) -> list[str]:
    """Return the next lines that are neither blank nor unusable, without consuming them."""
    peeked = lines.peek(SAMPLE_LINES, MAX_LINE_CHARACTERS)
    return [text for _, text, flaw in peeked if flaw is None and not text.isspace()]


def _cut_sample(sample: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return lines cut into cells; a line with wrong quotes has none."""
    texts = (text.strip() + "\n" if delimiter == " " else text for text in sample)
    reader = csv.reader(texts, delimiter=delimiter, skipinitialspace=True, strict=True)
    rows: list[list[str]] = []
    while True:
        try:
            rows.append(next(reader))
        except csv.Error:  # the quotes do not fit the delimiter; those of the next row may
            rows.append([])
        except StopIteration:
            return rows
