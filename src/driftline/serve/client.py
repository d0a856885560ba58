"""A client of the server, which needs nothing but Python."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Self
from urllib.parse import quote, urlsplit

from driftline.errors import DriftlineError

Row = Mapping[str, Any] | Sequence[Any]


class RequestRefusedError(DriftlineError):
    """A request that the server refused.

    Attributes
    ----------
    status : int
        Status of HTTP.
    kind : str
        Name of the problem, such as "label-conflict".
    """

    def __init__(self, status: int, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Said:
    """What the server says of a row.

    Attributes
    ----------
    id : str
        The id by which the label finds the row.
    label : label or None
        The predicted label; None before any label was learned.
    answer : label or None
        The same where it may be used, None where somebody should decide.
    confidence, bound : float or None
        The probability that the label is right, and a bound on the probability that it is wrong.
    set : tuple
        The labels that can be right.
    """

    id: str
    label: Any
    answer: Any
    confidence: float | None
    bound: float | None
    set: tuple[Any, ...]


class Client:
    """Calls a server of driftline; one thread may use it.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8000"
        Address of the server.
    key : str, optional
        The key of the caller, if the server asks for keys.
    timeout : float, default=60.0
        Seconds to wait for an answer.
    """

    def __init__(self, url: str = "http://127.0.0.1:8000", key: str | None = None, timeout: float = 60.0) -> None:
        address = urlsplit(url)
        kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
        self._connection = kind(address.hostname or "127.0.0.1", address.port, timeout=timeout)
        self._headers = {"Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    def __enter__(self) -> Self:
        """Return the client, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def create(self, name: str, **settings: Any) -> dict[str, Any]:
        """Create a stream; `settings` are `parameters`, `columns` and `expire_after`."""
        return self._send("POST", "/v1/streams", {"name": name} | settings)

    def streams(self) -> list[dict[str, Any]]:
        """Return all streams, with their settings and status."""
        found: list[dict[str, Any]] = self._send("GET", "/v1/streams")["streams"]
        return found

    def stream(self, name: str) -> dict[str, Any]:
        """Return a stream: its settings and its status."""
        return self._send("GET", _path(name))

    def pause(self, name: str) -> None:
        """Let a stream refuse rows and labels until it is resumed."""
        self._send("PATCH", _path(name), {"paused": True})

    def resume(self, name: str) -> None:
        """Let a paused stream go on."""
        self._send("PATCH", _path(name), {"paused": False})

    def delete(self, name: str) -> None:
        """Delete a stream with all that is known of it."""
        self._send("DELETE", _path(name))

    def predict(self, name: str, rows: Sequence[Row], ids: Sequence[str] | None = None) -> list[Said]:
        """Return what the server says of rows; with ids, the call may be repeated if no answer came."""
        said = self._send("POST", _path(name, "predict"), {"rows": rows, "ids": ids})
        return [Said(**row | {"set": tuple(row["set"])}) for row in said["rows"]]

    def label(self, name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
        """Send labels by the ids of their rows; return what became of each."""
        given = [{"id": row_id, "label": label} for row_id, label in labels.items()]
        return self._send("POST", _path(name, "label"), {"labels": given})

    def learn(
        self, name: str, rows: Sequence[Row], labels: Sequence[Any], ids: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Send rows with their labels; return what became of each."""
        return self._send("POST", _path(name, "learn"), {"rows": rows, "labels": labels, "ids": ids})

    def drift(self, name: str) -> list[dict[str, Any]]:
        """Return how the mean of each column moves in each class, the most surprising first."""
        found: list[dict[str, Any]] = self._send("GET", _path(name, "drift"))["rows"]
        return found

    def acknowledge_alarm(self, name: str) -> None:
        """Arm the alarm of a stream again."""
        self._send("POST", _path(name, "alarm/acknowledge"))

    def model(self, name: str) -> bytes:
        """Return the model of a stream as a file that `AMRC.load` reads."""
        return self._call("GET", _path(name, "model"))

    def replace_model(self, name: str, content: bytes) -> None:
        """Continue with a model that learned elsewhere, given as a file that `AMRC.save` wrote."""
        self._call("PUT", _path(name, "model"), content)

    def records(self, name: str) -> bytes:
        """Return all rows of a stream with predictions and labels, as a Parquet file."""
        return self._call("GET", _path(name, "records"))

    def start_shadow(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Let a new model with other parameters learn beside the model of a stream."""
        self._send("PUT", _path(name, "shadow"), {"parameters": parameters})

    def shadow(self, name: str) -> dict[str, Any]:
        """Return the comparison of the shadow with the model."""
        found: dict[str, Any] = self._send("GET", _path(name, "shadow"))["comparison"]
        return found

    def promote_shadow(self, name: str) -> None:
        """Let the shadow and the model change places; again rolls it back."""
        self._send("POST", _path(name, "shadow/promote"))

    def drop_shadow(self, name: str) -> None:
        """Drop the shadow."""
        self._send("DELETE", _path(name, "shadow"))

    def create_key(self, name: str, scopes: Mapping[str, str]) -> str:
        """Create a key with a role, "read", "write" or "admin", for each stream, or for all ("*"); return it."""
        key: str = self._send("POST", "/v1/keys", {"name": name, "scopes": scopes})["key"]
        return key

    def keys(self) -> list[dict[str, Any]]:
        """Return all keys, without their secrets."""
        found: list[dict[str, Any]] = self._send("GET", "/v1/keys")["keys"]
        return found

    def revoke_key(self, key: str) -> None:
        """Revoke a key, given by its id or as a whole."""
        self._send("DELETE", f"/v1/keys/{quote(key.partition('.')[0], '')}")

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        text = self._call(method, path, None if body is None else json.dumps(body).encode())
        found: dict[str, Any] = json.loads(text) if text else {}
        return found

    def _call(self, method: str, path: str, content: bytes | None = None) -> bytes:
        try:
            self._connection.request(method, path, content, self._headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            self._connection.close()  # the next call connects anew
            raise
        if answer.status < 400:
            return text
        try:
            problem = json.loads(text)
        except ValueError:  # from a proxy, not from the server
            problem = {"detail": f"{answer.status} {answer.reason}"}
        kind = str(problem.get("type", "")).rpartition(":")[2]
        raise RequestRefusedError(answer.status, kind, str(problem.get("detail", text)))


def _path(name: str, what: str = "") -> str:
    return f"/v1/streams/{quote(name, '')}" + (f"/{what}" if what else "")
