"""API keys: who may do what with which streams. Only their hashes are stored."""

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from driftline.serve.problems import Problem, invalid
from driftline.serve.store import Store
from driftline.serve.tables import KEYS

ROLES = ("read", "write", "admin")
"""Who may write may also read; who is admin may do all."""
ALL = "*"
"""Stands for all streams in the scopes of a key."""


@dataclass(frozen=True, slots=True)
class Key:
    """An API key without its secret.

    Attributes
    ----------
    id, name : str
        What names it.
    scopes : mapping of str to str
        The role for each stream; "*" stands for all streams.
    created : float
        When it was created, in seconds since 1970.
    hash : str
        The hash of its secret.
    """

    id: str
    name: str
    scopes: Mapping[str, str]
    created: float
    hash: str

    def allows(self, role: str, stream: str) -> bool:
        """Return whether the key has a role, or a higher one, for a stream."""
        held = [self.scopes[each] for each in (stream, ALL) if each in self.scopes]
        return any(ROLES.index(each) >= ROLES.index(role) for each in held)

    def to_json(self) -> dict[str, Any]:
        """Return the key as JSON values, without its hash."""
        return {"id": self.id, "name": self.name, "scopes": dict(self.scopes), "created": self.created}


class KeyRing:
    """The keys in the database, read again now and then: other processes may change them.

    Parameters
    ----------
    store : Store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys: dict[str, Key] = {}
        self._lock = threading.Lock()
        self.read()

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> list[Key]:
        """All keys that have not been revoked."""
        return list(self._keys.values())

    def read(self) -> None:
        """Read the keys from the database."""
        query = select(KEYS).where(KEYS.c.revoked.is_(None)).order_by(KEYS.c.created)
        with self._lock, self._store.engine.connect() as connection:
            found = connection.execute(query).all()
            self._keys = {row.id: Key(row.id, row.name, json.loads(row.scopes), row.created, row.hash) for row in found}

    def create(self, name: str, scopes: Mapping[str, str]) -> tuple[Key, str]:
        """Create a key; return it, and the text that callers send, which cannot be had again."""
        if not self._keys and scopes.get(ALL) != "admin":
            raise invalid(
                "the first key must be admin for all streams, {'*': 'admin'}; the others can be created with it"
            )
        if not name or len(name) > 100 or not scopes or not set(scopes.values()) <= set(ROLES):
            raise invalid(
                "a key needs a name of at most 100 characters, and scopes such as {'payments': 'write', '*': 'read'}: "
                f"roles are {', '.join(ROLES)}, and * stands for all streams"
            )
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        key = Key(key_id, name, dict(scopes), time.time(), _hash(secret))
        values = {
            "id": key_id,
            "name": name,
            "scopes": json.dumps(key.scopes),
            "created": key.created,
            "hash": key.hash,
        }
        with self._store.engine.begin() as connection:
            connection.execute(insert(KEYS), values)
        self.read()
        return key, f"{key_id}.{secret}"

    def revoke(self, key_id: str) -> None:
        """Revoke a key, unless it is the last that may do everything: then nobody could create another."""
        others = [key for key in self.keys if key.id != key_id]
        if not any(key.allows("admin", ALL) for key in others):
            raise Problem(
                409, "last-admin-key", f"{key_id[:40]!r} is the last key that may create keys; create another one first"
            )
        statement = update(KEYS).where(KEYS.c.id == key_id, KEYS.c.revoked.is_(None)).values(revoked=time.time())
        with self._store.engine.begin() as connection:
            if not connection.execute(statement).rowcount:
                raise Problem(404, "no-such-key", f"there is no key {key_id[:40]!r}")
        self.read()

    def find(self, token: str) -> Key | None:
        """Return the key that a caller sent; None if it is none. How long this takes says nothing about its secret."""
        key_id, _, secret = token.partition(".")
        key = self._keys.get(key_id)
        known = "0" * 64 if key is None else key.hash
        is_right = hmac.compare_digest(known, _hash(secret))
        return key if is_right else None

    def read_now_and_then(self) -> None:
        """Read the keys; if the database does not answer, keep those that are known."""
        try:
            self.read()
        except SQLAlchemyError:
            return


def _hash(secret: str) -> str:
    # A secret of 256 random bits cannot be guessed, so that a fast hash without salt is safe.
    return hashlib.sha256(secret.encode()).hexdigest()
