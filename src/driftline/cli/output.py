"""What commands share in printing."""

import json
from textwrap import wrap
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def wrapped(paragraph: str, width: int, indent: int) -> str:
    """Return a paragraph in lines, all but the first of them indented; words such as addresses stay whole."""
    lines = wrap(paragraph, max(width - indent, 20), break_long_words=False, break_on_hyphens=False)
    return f"\n{'':{indent}}".join(lines)


def print_json(content: Any) -> None:
    """Print something for programs."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
