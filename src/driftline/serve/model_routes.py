"""The routes of models: files, a shadow that learns beside the model, and alarms that are acknowledged."""

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from driftline.ensemble import AMRC
from driftline.errors import CheckpointError, ConfigError
from driftline.serve.answer_bodies import ShadowAnswer
from driftline.serve.bodies import ShadowBody
from driftline.serve.problems import Problem, invalid
from driftline.serve.requests import Requests
from driftline.serve.service import Service
from driftline.serve.shadow import compare_with_shadow
from driftline.serve.stream_state import StreamState, model_from_bytes, model_parameters, model_to_bytes, new_model
from driftline.serve.worker import Worker

FILE = "application/octet-stream"
UPLOAD = {"requestBody": {"required": True, "content": {FILE: {"schema": {"type": "string", "format": "binary"}}}}}


class ModelResponse(Response):
    """A model file."""

    media_type = FILE


def model_routes(service: Service, requests: Requests) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/streams/{name}", tags=["models"])

    async def change(name: str, function: Callable[[StreamState], Any]) -> Any:
        """Change the models of a stream, and write a checkpoint."""
        worker = service.active_worker(name)
        return await requests.result(worker, lambda each, future: each.replace_models(function, future))

    async def uploaded(name: str, request: Request) -> AMRC:
        """Return the model in the body of a request."""
        content = await request.body()
        try:
            model = await asyncio.to_thread(model_from_bytes, content)
        except CheckpointError as error:
            raise invalid(f"the body is no model file that can be used: {error.args[-1]}") from error
        check_columns(service.worker(name), model)
        return model

    @router.get("/model", response_class=ModelResponse)
    async def model(name: str) -> Response:
        """Return the model as a file that `AMRC.load` reads."""
        worker = service.worker(name)
        content = await requests.result(worker, lambda each, future: each.read(file_of, future))
        headers = {"Content-Disposition": f'attachment; filename="{name}.driftline"'}
        return ModelResponse(content, headers=headers)

    @router.put("/model", status_code=204, openapi_extra=UPLOAD)
    async def replace(name: str, request: Request) -> None:
        """Continue with a model that learned elsewhere: a file that `AMRC.save` wrote."""
        new = await uploaded(name, request)
        await change(name, lambda state: state.replace_model(new))

    @router.put("/shadow", status_code=204)
    async def start_shadow(name: str, body: ShadowBody) -> None:
        """Let a new model with other parameters learn beside the model, from the next label on."""
        try:
            new_model(body.parameters)
        except (ConfigError, TypeError, ValueError) as error:
            raise invalid(f"parameters cannot be used: {error}") from error
        await change(name, lambda state: state.start_shadow(body.parameters))

    @router.put("/shadow/model", status_code=204, openapi_extra=UPLOAD)
    async def upload_shadow(name: str, request: Request) -> None:
        """Let a model that learned elsewhere be the shadow: a file that `AMRC.save` wrote."""
        new = await uploaded(name, request)
        await change(name, lambda state: state.start_shadow(model_parameters(new), new))

    @router.get("/shadow", response_model=ShadowAnswer)
    async def shadow(name: str) -> Any:
        """Compare the shadow with the model, on the rows that both predicted."""
        worker = service.worker(name)
        return await requests.result(worker, lambda each, future: each.read(shadow_of, future))

    @router.post("/shadow/promote", status_code=204)
    async def promote(name: str) -> None:
        """Let the shadow and the model change places. The model goes on learning as the shadow: again rolls it back."""
        await change(name, StreamState.promote_shadow)

    @router.delete("/shadow", status_code=204)
    async def drop(name: str) -> None:
        """Drop the shadow."""
        await change(name, StreamState.drop_shadow)

    @router.post("/alarm/acknowledge", status_code=204)
    async def acknowledge(name: str) -> None:
        """Acknowledge the alarm: it is armed again, from the next label on."""
        await change(name, StreamState.acknowledge_alarm)

    return router


def check_columns(worker: Worker, model: AMRC) -> None:
    """Raise Problem if a model does not have the columns of a stream."""
    if worker.schema is None:
        raise Problem(409, "model-does-not-fit", "the stream knows no columns yet; declare them when creating it")
    if model.n_features_in_ != len(worker.names):
        expected = f"{len(worker.names)}: {', '.join(worker.names)}"
        detail = f"the model has {model.n_features_in_} columns, and the stream {expected}"
        raise Problem(409, "model-does-not-fit", detail)


def file_of(state: StreamState) -> bytes:
    """Return the file of the model."""
    if state.model is None:
        raise Problem(409, "no-model", "the stream has no model before its first label")
    return model_to_bytes(state.model)


def shadow_of(state: StreamState) -> dict[str, Any]:
    """Return the shadow and its comparison with the model as JSON values."""
    if state.shadow_parameters is None:
        raise Problem(404, "no-shadow", "the stream has no shadow; start one with PUT")
    windows = state.beside_shadow.to_json()
    return {"parameters": state.shadow_parameters, "comparison": compare_with_shadow(state.beside_shadow)} | windows
