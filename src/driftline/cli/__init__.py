"""The command line: parse, call, print.

Exit codes: 0 if all went well; 1 if it failed, because of the data, the disk or a model; 2 if the command was used
wrongly; 130 if it was interrupted, after what there was by then has been written.
"""

import re
import sys
import warnings

from driftline.errors import ConfigError, DriftlineError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line; what goes wrong on purpose is a line or two on the standard error, and an exit code."""
    try:
        import typer  # noqa: PLC0415  # an extra may be missing

        from driftline.cli.app import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        _leave(f"the command line needs {error.name}; pip install 'driftline[cli]'", FAILED)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # letters that a terminal does not have are no failure
    warnings.simplefilter("ignore", RuntimeWarning)  # of classifiers of others, about their own arithmetic
    misuse: type[Exception] = typer.BadParameter.__mro__[1]  # click's UsageError, of whichever click typer has
    try:
        sys.exit(app(standalone_mode=False))
    except misuse as error:
        _leave(*_explained(error))
    except DriftlineError as error:
        _leave(as_options(str(error)), MISUSED if isinstance(error, ConfigError) else FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _leave(f"{place}{error.strerror or error}", FAILED)
    except MemoryError:
        _leave("there is not enough memory; use fewer columns, or smaller parameters", FAILED)
    except KeyboardInterrupt:
        _leave("interrupted", INTERRUPTED)


def as_options(said: str) -> str:
    """Return what the library says of its arguments in terms of the options that stand for them here.

    Examples
    --------
    >>> as_options("my.csv: label='clas' is the name of no column")
    "my.csv: --label 'clas' is the name of no column"
    >>> as_options("expected 5 cells (on_bad_row='skip' goes on without such rows)")
    'expected 5 cells (--on-bad-row skip goes on without such rows)'
    """
    said = said.replace("on_bad_row='skip'", "--on-bad-row skip")
    said = said.replace("header=True", "--header").replace("header=False", "--no-header")
    return re.sub(r"\b(label|time|ignore|categorical|delimiter|encoding)= ?", r"--\1 ", said)


def _explained(error: Exception) -> tuple[str, int]:
    """Return what is wrong with a command and where to read on, and the exit code."""
    context = getattr(error, "ctx", None)
    said: str = error.format_message()  # type: ignore[attr-defined]
    where = "" if context is None else f"\ndriftline: see '{context.command_path} --help'"
    return said.replace("\n", " ").rstrip() + where, MISUSED


def _leave(said: str, code: int) -> None:
    sys.stderr.write(f"driftline: {said}\n")
    sys.exit(code)
