"""The page that describes all calls: plain HTML that needs no script, no other file and no other site."""

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse

STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc } h3 { font: 600 1rem ui-monospace, monospace; margin-bottom: 0 }
dt { font-family: ui-monospace, monospace } dd { margin: 0 0 .4rem 1.5rem }
@media (prefers-color-scheme: dark) { body { background: #181a1b; color: #ddd } a { color: #9cf } }"""
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'"


def description_page(app: FastAPI) -> APIRouter:
    """Return the route of the page."""
    router = APIRouter()

    @router.get("/docs", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse("".join(_lines(app.openapi())), headers={"Content-Security-Policy": POLICY})

    return router


def _lines(description: dict[str, Any]) -> Iterator[str]:
    """Yield the page that shows an OpenAPI description."""
    title = escape(f"{description['info']['title']} {description['info']['version']}")
    yield f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    yield f"<h1>{title}</h1>"
    yield from (f"<p>{escape(text)}</p>" for text in description["info"]["description"].split("\n\n"))
    yield '<p>For programs: <a href="/v1/openapi.json">the OpenAPI description</a>.</p>'
    calls = [(path, *call) for path, operations in description["paths"].items() for call in operations.items()]
    for tag in dict.fromkeys(operation["tags"][0] for _, _, operation in calls):
        yield f"<h2>{escape(tag)}</h2>"
        for path, method, operation in (call for call in calls if call[2]["tags"][0] == tag):
            yield f"<h3>{method.upper()} {escape(path)}</h3><p>{escape(operation['description'])}</p><dl>"
            yield from _parts(operation)
            yield "</dl>"
    yield "<h2>Objects</h2>"
    for name, schema in description["components"]["schemas"].items():
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p><dl>'
        yield from _members(schema)
        yield "</dl>"


def _parts(operation: dict[str, Any]) -> Iterator[str]:
    """Yield the parameters, the body and the answers of an operation."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "path":
            yield f"<dt>{escape(parameter['name'])}</dt><dd>{escape(parameter.get('description', ''))}</dd>"
    bodies = {"body": operation.get("requestBody", {})}
    bodies |= {status: answer for status, answer in operation["responses"].items() if status.startswith("2")}
    for name, body in bodies.items():
        for media_type, content in body.get("content", {}).items():
            schema = content.get("schema", {})
            yield f"<dt>{name}</dt><dd>{_type_of(schema) if '$ref' in schema else escape(media_type)}</dd>"


def _members(schema: dict[str, Any]) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        needed = ", required" if name in schema.get("required", ()) else ""
        yield f"<dt>{escape(name)}</dt><dd>{_type_of(member)}{needed}. {escape(member.get('description', ''))}</dd>"


def _type_of(schema: dict[str, Any]) -> str:
    """Return the type of a value in a few words, as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type_of(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(escape(json.dumps(each)) for each in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type_of(schema.get('items', {}))}"
    return escape(str(schema.get("type", "any")))
