"""The command line: parse, call, print."""

import sys


def main() -> None:
    """Run the command line, or say what to install for it."""
    try:
        from driftline.cli.app import app  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"driftline: the command line needs {error.name}; pip install 'driftline[cli]'")
    app()
