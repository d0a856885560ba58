"""What messages contain: rows, labels, predictions, and messages that could not be used."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from driftline.serve.bodies import LabelledRow, RowBody, RowId
from driftline.serve.operations import Answer
from driftline.serve.problems import invalid
from driftline.serve.routes import answer_to_json
from driftline.serve.row_schema import Row

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A message that was read, and where it stands."""

    topic: str
    partition: int
    offset: int
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()

    @property
    def place(self) -> str:
        """Where the message stands, as text."""
        return f"{self.topic}-{self.partition}-{self.offset}"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to publish."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


def row_of(message: Received) -> tuple[str, Row]:
    """Return the id and the row of a message; raise Problem if it has none."""
    given = [value for name, value in message.headers if name == "id"]
    row_id = given[-1] if given else message.key
    text = message.place if row_id is None else _text(row_id)
    return _checked(RowId, "id", json.dumps(text).encode()), _checked(RowBody, "row", message.value)


def label_of(message: Received) -> tuple[str, Any]:
    """Return the id of the row and the label of a message; raise Problem if it has none."""
    found = _checked(LabelledRow, "label", message.value)
    return found.id, found.label


def prediction_of(topic: str, message: Received, row_id: str, answer: Answer) -> Outgoing:
    """Return the message with the prediction of a row; it has the key of the row."""
    return Outgoing(topic, message.key, json.dumps(answer_to_json(row_id, answer)).encode())


def rejection_of(topic: str, message: Received, reason: str) -> Outgoing:
    """Return a copy of a message that cannot be used; headers say why, and where it was read."""
    said = {"reason": reason, "topic": message.topic, "partition": message.partition, "offset": message.offset}
    headers = tuple((f"driftline.{name}", str(value).encode()) for name, value in said.items())
    return Outgoing(topic, message.key, message.value, message.headers + headers)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise invalid("the id, which is the header 'id' or the key, is not UTF-8") from error


def _checked(kind: Any, what: str, content: bytes | None) -> Any:
    if content is None:
        raise invalid("the message has no value")
    try:
        return _adapter(kind).validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (what, *first["loc"])))
        raise invalid(f"{place}: {first['msg']}") from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
