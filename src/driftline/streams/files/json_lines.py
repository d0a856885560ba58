"""JSON lines: an object a line."""

import json
from collections import Counter
from collections.abc import Iterator
from reprlib import repr as brief
from typing import Any

from driftline.errors import DataError
from driftline.streams.files.arff import Reject
from driftline.streams.files.options import Options
from driftline.streams.files.source import Lines
from driftline.streams.files.tables import HEAD_ROWS, Column, Row, Table, table_of_rows

HEAD_CHARACTERS = 2**24


def read_json_lines(lines: Lines, options: Options, reject: Reject) -> Table:
    """Read objects whose keys are the columns: those of the first 1,000 lines, in the order of appearance.

    A key that an object lacks is a missing cell; one that no object of the first lines has cannot be used, unless it
    is to be ignored.
    """
    names = _names(lines) | dict.fromkeys(name for name in options.ignore if isinstance(name, str))

    def rows() -> Iterator[Row]:
        for line, text, flaw in lines:
            if flaw is None and text.isspace():
                continue
            try:
                if flaw is not None:
                    raise ValueError(flaw)
                content = _object(text)
                unknown = content.keys() - names.keys()
                if unknown:
                    raise ValueError(
                        f"key {brief(min(unknown))} is in no object of the first {HEAD_ROWS:,} lines, which decide "
                        "the columns; put an object that has it there, or name it in ignore"
                    )
            except ValueError as error:
                reject(line, str(error))
            else:
                yield line, [content.get(name) for name in names]

    return table_of_rows([Column(name) for name in names], rows(), lines)


def _names(lines: Lines) -> dict[str, None]:
    """Return the keys of the first objects, in the order of appearance."""
    names: dict[str, None] = {}
    failure = None
    for line, text, flaw in lines.peek(HEAD_ROWS, HEAD_CHARACTERS):
        try:
            if flaw is not None:
                raise ValueError(flaw)
            names |= dict.fromkeys({} if text.isspace() else _object(text))
        except ValueError as error:
            failure = failure or f"{lines.source}, line {line}: {error}"
    if not names:
        raise DataError(failure or f"{lines.source} is empty; expected a JSON object with keys a line")
    return names


def _object(text: str) -> dict[str, Any]:
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
            raise ValueError("its text has one half of a surrogate pair, which is no character") from None
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise KeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return content


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats)
