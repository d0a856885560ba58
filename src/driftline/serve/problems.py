"""Refused requests: each has a status of HTTP, and a text that says what was expected, what came, and what to do."""

from typing import Any


class Problem(Exception):  # noqa: N818  # RFC 9457 calls it so
    """A request that is refused, as RFC 9457 describes problems.

    Parameters
    ----------
    status : int
        Status of HTTP.
    kind : str
        A short name of the kind of problem, which programs can compare.
    detail : str
        What is wrong, and what to do.
    **more
        Further members of the answer, such as the ids that are concerned.
    """

    def __init__(self, status: int, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.more = more


def invalid(detail: str, **more: Any) -> Problem:
    """Return the problem of a request whose content cannot be used."""
    return Problem(422, "invalid-content", detail, **more)


def unavailable(detail: str) -> Problem:
    """Return the problem that the database does not answer now; what was sent may be stored later."""
    return Problem(503, "storage-unavailable", detail)
