"""The command line: parse, call, print.

Exit codes: 0 for success; 1 for a failure because of the data, the disk or a model; 2 for wrong usage; 130 for an
interrupted run, whose results so far have been written.
"""

import sys
import warnings

from driftline.errors import ConfigError, DriftlineError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line; an expected error becomes one or two lines on the standard error and an exit code."""
    try:
        import typer  # noqa: PLC0415  # an extra may be missing

        from driftline.cli.app import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        _leave(f"the command line needs {error.name}; pip install 'driftline[cli]'", FAILED)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a character that the terminal lacks is not a failure
    warnings.simplefilter("ignore", RuntimeWarning)  # raised inside classifiers of other libraries
    misuse: type[Exception] = typer.BadParameter.__mro__[1]  # click's UsageError, of whichever click typer has
    try:
        sys.exit(app(standalone_mode=False))
    except misuse as error:
        _leave(_usage_message(error), MISUSED)
    except DriftlineError as error:
        _leave(error.for_command_line(), MISUSED if isinstance(error, ConfigError) else FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _leave(f"{place}{error.strerror or error}", FAILED)
    except MemoryError:
        _leave("there is not enough memory; use fewer columns, or smaller parameters", FAILED)
    except KeyboardInterrupt:
        _leave("interrupted", INTERRUPTED)


def _usage_message(error: Exception) -> str:
    """Return what is wrong with the arguments, on one line, and on the next line which help to read."""
    context = getattr(error, "ctx", None)
    message: str = error.format_message()  # type: ignore[attr-defined]
    see_also = "" if context is None else f"\ndriftline: see '{context.command_path} --help'"
    return message.replace("\n", " ").rstrip() + see_also


def _leave(message: str, code: int) -> None:
    sys.stderr.write(f"driftline: {message}\n")
    sys.exit(code)
