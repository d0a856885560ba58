"""The command line: parse, call, print."""

import sys

from driftline.errors import DriftlineError


def main() -> None:
    """Run the command line; what goes wrong on purpose is one line on the standard error, and the exit code 1."""
    try:
        from driftline.cli.app import app  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"driftline: the command line needs {error.name}; pip install 'driftline[cli]'")
    try:
        app()
    except DriftlineError as error:
        sys.exit(f"driftline: {error}")
