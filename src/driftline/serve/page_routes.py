"""The page of the server: its files, and the headers that keep anything else from running in it."""

from importlib.resources import files

from fastapi import APIRouter, Response

from driftline.serve.problems import Problem

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Nothing but the files of the page is loaded or run, and no text can become HTML."""
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def page_routes() -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)
    package = files("driftline")
    found = [*(package / "serve" / "page").iterdir(), package / "report" / "templates" / "look.css"]
    contents = {file.name: file.read_bytes() for file in found}

    @router.get("/")
    async def page() -> Response:
        """Return the page."""
        return file("index.html")

    @router.get("/page/{name}")
    async def file_of_page(name: str) -> Response:
        """Return a file of the page."""
        return file(name)

    def file(name: str) -> Response:
        if name not in contents:
            raise Problem(404, "no-such-file", f"the page has no file {name[:100]!r}")
        media_type = f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8"
        return Response(contents[name], media_type=media_type, headers={"Content-Security-Policy": POLICY})

    return router
