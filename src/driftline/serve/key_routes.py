"""The routes of API keys, and of sessions of the page, which keep a key in a cookie."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from driftline.serve.access import COOKIE, token_of
from driftline.serve.answer_bodies import KeysAnswer, NewKeyAnswer, SessionAnswer
from driftline.serve.bodies import KeyBody, SessionBody
from driftline.serve.keys import KeyRing
from driftline.serve.problems import Problem


def key_routes(keys: KeyRing, *, is_required: bool) -> APIRouter:
    """Return the routes; `is_required` is whether requests need a key even if there are none."""
    router = APIRouter(prefix="/v1", tags=["keys"])

    @router.post("/keys", status_code=201, response_model=NewKeyAnswer)
    async def create(body: KeyBody) -> Any:
        """Create a key. Its secret is in the answer, and nowhere else."""
        key, token = await asyncio.to_thread(keys.create, body.name, body.scopes)
        return key.to_json() | {"key": token}

    @router.get("/keys", response_model=KeysAnswer)
    async def listed() -> Any:
        """Return all keys, without their secrets."""
        return {"keys": [key.to_json() for key in keys.keys]}

    @router.delete("/keys/{key_id}", status_code=204)
    async def revoke(key_id: str) -> None:
        """Revoke a key."""
        await asyncio.to_thread(keys.revoke, key_id)

    @router.get("/session", response_model=SessionAnswer)
    async def session(request: Request) -> Any:
        """Return whether requests need a key, and the key that came with this one, without its secret, or null."""
        token, _ = token_of(request.scope)
        key = None if token is None else keys.find(token)
        needs_key = is_required or len(keys) > 0
        return {"needs_key": needs_key, "key": None if key is None else key.to_json()}

    @router.post("/session", status_code=204)
    async def log_in(body: SessionBody, response: Response) -> None:
        """Keep a key in a cookie that only the server can read, for the page."""
        if keys.find(body.key) is None:
            raise Problem(401, "unauthorized", "the key is not valid")
        response.set_cookie(COOKIE, body.key, httponly=True, samesite="strict", path="/")

    @router.delete("/session", status_code=204)
    async def log_out(response: Response) -> None:
        """Forget the key."""
        response.delete_cookie(COOKIE)

    return router
