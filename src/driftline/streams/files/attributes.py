"""ARFF as a table."""

from collections.abc import Iterator

from driftline.errors import DataError
from driftline.streams.files.arff import Reject, read_arff
from driftline.streams.files.options import Options
from driftline.streams.files.source import Lines
from driftline.streams.files.tables import Column, Table, table_of_rows


def read_attributes(lines: Lines, options: Options, reject: Reject) -> Table:
    """Read ARFF; the options have no say in it."""
    is_header = True

    def texts() -> Iterator[str]:
        for line, text, flaw in lines:
            if flaw is not None and is_header:
                raise DataError(f"{lines.source}, line {line}: {flaw}; it stands above the rows and cannot be skipped")
            if flaw is not None:
                reject(line, flaw)
            yield text if flaw is None else ""

    attributes, rows = read_arff(texts(), lines.source, reject)
    is_header = False
    columns = [
        Column(attribute.name, attribute.values, is_number=attribute.values is None and not attribute.is_text)
        for attribute in attributes
    ]
    return table_of_rows(columns, rows, lines)
