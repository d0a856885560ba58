"""ARFF, the text format of Weka and MOA: a header of attributes, then dense or sparse rows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from reprlib import repr as brief

from driftline.errors import DataError
from driftline.streams.files.cells import FileColumn, Reason, Reject, TextTable
from driftline.streams.files.input_file import LineReader
from driftline.streams.files.options import FileOptions

ArffCells = list[str | None]
"""The cells of a row, None where a value is missing."""

_QUOTED = r"""(?P<quote>['"])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*+)(?P=quote)\s*+"""
_CELL = re.compile(rf"\s*+(?:{_QUOTED}|(?P<plain>[^,]*+))(?P<end>,|\Z)")
_LISTED = re.compile(rf"\s*+(?:{_QUOTED}|(?P<plain>[^,}}]*+))(?P<end>[,}}])")
_SPARSE = re.compile(rf"\s*+(?P<at>[0-9]{{1,9}})\s++(?:{_QUOTED}|(?P<plain>[^,]++))(?P<end>,|\Z)")
_ATTRIBUTE = re.compile(rf"\s*+(?:{_QUOTED}|(?P<plain>[^\s{{'\"][^\s{{]*+))\s*+(?P<type>\S.*)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of an ARFF file.

    Attributes
    ----------
    name : str
        Name of the column.
    values : tuple of str, optional
        The values of a nominal attribute; None for the other types.
    is_text : bool, default=False
        Whether the cells are any text (string and date attributes).
    """

    name: str
    values: tuple[str, ...] | None = None
    is_text: bool = False


def read_arff_table(lines: LineReader, options: FileOptions, reject: Reject) -> TextTable:
    """Read ARFF; the options are not used."""
    in_header = True

    def texts() -> Iterator[str]:
        for line, text, flaw in lines:
            if flaw is not None and in_header:
                raise DataError(
                    f"{lines.file_name}, line {line}: ", flaw, "; it is part of the header and cannot be skipped"
                )
            if flaw is not None:
                reject(line, flaw)
            yield text if flaw is None else ""

    attributes, rows = read_arff(texts(), lines.file_name, reject)
    in_header = False
    columns = tuple(
        FileColumn(attribute.name, attribute.values, is_number=attribute.values is None and not attribute.is_text)
        for attribute in attributes
    )
    return TextTable(columns, rows, options)


def read_arff(
    lines: Iterator[str], file_name: str, reject: Reject | None = None
) -> tuple[tuple[Attribute, ...], Iterator[tuple[int, ArffCells]]]:
    """Read the attributes of an ARFF file, and return an iterator over its rows.

    Cells of numeric attributes are not checked to be numbers: the caller converts them anyway.

    Parameters
    ----------
    lines : iterator of str
        The lines of the file.
    file_name : str
        Name of the file in errors.
    reject : callable, optional
        Called with the line number of a row that cannot be read and the reason; if it returns, the row is skipped. By
        default such a row is a DataError. Anything wrong in the header always is.

    Returns
    -------
    attributes : tuple of Attribute
        The columns.
    rows : iterator of (int, list of (str or None))
        Line number and one cell for each attribute, None if it is missing. A cell that a sparse row omits is "0",
        or the first value of the list of a nominal attribute, as in Weka.

    Examples
    --------
    >>> text = '''@relation weather
    ... @attribute temperature numeric
    ... @attribute rain {no, yes}
    ... @data
    ... 21.5, yes
    ... {0 19}
    ... ?, no'''
    >>> attributes, rows = read_arff(iter(text.splitlines()), "weather.arff")
    >>> attributes[1].values
    ('no', 'yes')
    >>> list(rows)
    [(5, ['21.5', 'yes']), (6, ['19', 'no']), (7, [None, 'no'])]
    """
    numbered, stop = _without_comments(lines), partial(_stop, file_name)
    attributes = []
    for line, content in numbered:
        keyword, *rest = content.split(maxsplit=1)
        if keyword.lower() == "@data":
            break
        if keyword.lower() == "@attribute":
            try:
                attributes.append(_attribute("".join(rest)))
            except ValueError as error:
                stop(line, str(error))
        elif keyword.lower() != "@relation":
            stop(line, f"expected @relation, @attribute or @data; got {brief(content)}")
    else:
        raise DataError(f"{file_name}: expected '@data' and rows, but the file ended before them")
    if not attributes:
        raise DataError(f"{file_name}: expected '@attribute name type' before '@data', but there is none")
    return tuple(attributes), _rows(numbered, tuple(attributes), reject or stop)


def _stop(file_name: str, line: int, reason: Reason) -> None:
    raise DataError(f"{file_name}, line {line}: ", reason)


def _without_comments(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither blank nor comments, with their numbers and without the spaces around them."""
    for line, text in enumerate(lines, start=1):
        content = text.strip()
        if content and not content.startswith("%"):
            yield line, content


def _attribute(declaration: str) -> Attribute:
    match = _ATTRIBUTE.match(declaration)
    if match is None:
        raise ValueError(f"expected '@attribute name type', a name with spaces in quotes; got {brief(declaration)}")
    name, kind = _text(match), match["type"].strip()
    if kind.startswith("{"):
        return Attribute(name, _nominal_list(name, kind))
    if "{" in kind:
        raise ValueError(f"attribute {name!r} has a weight; weights are not supported: remove it")
    word, *rest = kind.lower().split(maxsplit=1)
    if word in ("numeric", "real", "integer") and (not rest or rest[0].startswith("%")):
        return Attribute(name)
    if word in ("string", "date"):
        return Attribute(name, is_text=True)
    raise ValueError(
        f"attribute {name!r} is of type {brief(kind)}; "
        "expected numeric, real, integer, string, date or a list {a, b, …}: convert or remove the attribute"
    )


def _nominal_list(name: str, declaration: str) -> tuple[str, ...]:
    matches = list(_split(_LISTED, declaration, 1))
    values = tuple(map(_text, matches))
    after = declaration[matches[-1].end() :].strip()
    if after and not after.startswith("%"):
        raise ValueError(f"expected nothing after the list of attribute {name!r}; got {brief(after)}")
    if "" in values or len(set(values)) < len(values):
        raise ValueError(f"expected different values in the list of attribute {name!r}, none of them empty")
    return values


def _rows(
    numbered: Iterator[tuple[int, str]], attributes: tuple[Attribute, ...], reject: Reject
) -> Iterator[tuple[int, ArffCells]]:
    lists = [(j, frozenset(attribute.values)) for j, attribute in enumerate(attributes) if attribute.values]
    omitted: ArffCells = [attribute.values[0] if attribute.values else "0" for attribute in attributes]
    text = frozenset(j for j, attribute in enumerate(attributes) if attribute.is_text)
    for line, content in numbered:
        try:
            cells = _sparse(content, attributes, omitted, text) if content[0] == "{" else _dense(content, attributes)
            for j, values in lists:
                if cells[j] not in values and cells[j] is not None:
                    raise ValueError(f"{brief(cells[j])} is not in the list of attribute {attributes[j].name!r}")
        except ValueError as error:
            reject(line, str(error))
        else:
            yield line, cells


def _dense(content: str, attributes: tuple[Attribute, ...]) -> ArffCells:
    cells: ArffCells
    if "'" in content or '"' in content:
        cells = [_cell(match) for match in _split(_CELL, content)]
    else:
        cells = [None if (cell := part.strip()) == "?" else cell for part in content.split(",")]
    if len(cells) == len(attributes):
        return cells
    if content.endswith("}") and len(cells) == len(attributes) + 1:
        raise ValueError("the row has a weight; weights are not supported: remove it")
    raise ValueError(f"expected {len(attributes)} cells, one for each attribute; got {len(cells)}")


def _sparse(content: str, attributes: tuple[Attribute, ...], omitted: ArffCells, text: frozenset[int]) -> ArffCells:
    if not content.endswith("}"):
        raise ValueError("a sparse row must end with '}', without a weight")
    cells, seen, inside = omitted.copy(), set[int](), content[1:-1]
    for match in _split(_SPARSE, inside) if inside.strip() else ():
        at = int(match["at"])
        if at >= len(attributes) or at in seen:
            known = "it came twice in the row" if at in seen else f"there are {len(attributes)}, counted from 0"
            raise ValueError(f"cell of attribute {at}: {known}")
        seen.add(at)
        cells[at] = _cell(match)
    for j in text - seen:
        raise ValueError(f"a sparse row must not omit {attributes[j].name!r}, which is text")
    return cells


def _split(pattern: re.Pattern[str], text: str, at: int = 0) -> Iterator[re.Match[str]]:
    """Yield a match for each cell from a position on; the last is the one that no comma follows."""
    end = ","
    while end == ",":
        match = pattern.match(text, at)
        if match is None or (match["plain"] or "").lstrip()[:1] in ("'", '"'):
            raise ValueError(f"expected cells with commas between them, quotes closed; got {brief(text[at:])}")
        yield match
        at, end = match.end(), match["end"]


def _cell(match: re.Match[str]) -> str | None:
    return None if (match["plain"] or "").strip() == "?" else _text(match)


def _text(match: re.Match[str]) -> str:
    if match["plain"] is not None:
        return match["plain"].strip()
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), match["text"])
