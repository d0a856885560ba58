"""JSON lines: one object on each line."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from reprlib import repr as brief
from typing import Any

from driftline.errors import DataError, Parameter
from driftline.streams.files.cells import HEAD_ROWS, FileColumn, Reason, Reject, Row, TextTable
from driftline.streams.files.input_file import LineReader
from driftline.streams.files.options import FileOptions

MAX_HEAD_CHARACTERS = 2**24


def read_json_lines(lines: LineReader, options: FileOptions, reject: Reject) -> TextTable:
    """Read objects whose keys are the columns: the keys of the first 1,000 lines, in the order of appearance.

    A key that an object lacks is a missing cell. A row with a key that the first lines lack is malformed, unless that
    key is in `options.ignore`, or there is no label: then the rows are those of `RowFile`, which ignores other columns.
    """
    found = options if options.keys is not None else replace(options, keys=_find_keys(lines, options))
    names = found.keys or ()
    known = frozenset(names)

    def rows() -> Iterator[Row]:
        for line, text, flaw in lines:
            if flaw is not None:
                reject(line, flaw)
            elif not text.isspace():
                try:
                    content = _parse_object(text)
                except ValueError as error:
                    reject(line, str(error))
                    continue
                unknown = content.keys() - known if options.label is not None else ()
                if unknown:
                    reject(line, _unknown_key(min(unknown)))
                else:
                    yield line, [content.get(name) for name in names]

    return TextTable(tuple(map(FileColumn, names)), rows(), found)


def _unknown_key(key: str) -> DataError:
    return DataError(
        f"key {brief(key)} is in no object of the first {HEAD_ROWS:,} lines, which determine the columns; put an "
        "object that has it there, or name it in ",
        Parameter("ignore"),
    )


def _find_keys(lines: LineReader, options: FileOptions) -> tuple[str, ...]:
    """Return the keys of the first objects in the order of appearance, then the other names to ignore."""
    keys: dict[str, None] = {}
    failure: DataError | None = None
    for line, text, flaw in lines.peek(HEAD_ROWS, MAX_HEAD_CHARACTERS):
        reason: Reason | None = flaw
        if flaw is None and not text.isspace():
            try:
                keys |= dict.fromkeys(_parse_object(text))
            except ValueError as error:
                reason = str(error)
        if reason is not None and failure is None:
            failure = DataError(f"{lines.file_name}, line {line}: ", reason)
    if not keys:
        raise failure or DataError(f"{lines.file_name} is empty; expected a JSON object with keys on each line")
    return tuple(keys | dict.fromkeys(name for name in options.ignore if isinstance(name, str)))


def _parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object on a line; a ValueError says why there is none."""
    try:
        content = _DECODER.decode(text.strip())
    except json.JSONDecodeError as error:
        raise ValueError(
            f"expected a JSON object on a line of its own; {error.msg} at character {error.pos + 1}"
        ) from None
    except KeyError as error:
        raise ValueError(f"key {brief(error.args[0])} comes twice in an object") from None
    except ValueError:
        raise ValueError("a number has too many digits") from None
    except RecursionError:
        raise ValueError("the JSON object is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError(f'expected a JSON object on a line of its own, such as {{"x": 1}}; got {brief(content)}')
    if "\\ud" in text.lower():
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("its text has one half of a surrogate pair, which is not a character") from None
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise KeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return content


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats)
