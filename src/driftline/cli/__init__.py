"""The command line: parse, call, print.

Exit codes: 0 for success; 1 for a failure because of the data, the disk or a model; 2 for wrong usage; 130 for an
interrupted run, whose results so far have been written; 143 after SIGTERM, which leaves no temporary files.
"""

import signal
import sys
from typing import NoReturn

from driftline.utils.terminal import visible

FAILED, MISUSED, INTERRUPTED, TERMINATED = 1, 2, 130, 143


def main() -> None:
    """Run the command line; an expected error becomes one or two lines on the standard error and an exit code."""
    interrupts: list[int] = []

    def interrupt(number: int, _: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        _run()
    # Libraries may replace a KeyboardInterrupt by an ImportError, and typer replaces it by SystemExit.
    except (KeyboardInterrupt, SystemExit, Exception) as error:
        if not interrupts and not isinstance(error, KeyboardInterrupt):
            raise
        for number in (signal.SIGINT, signal.SIGTERM):  # a second one must not disturb the end of the process
            signal.signal(number, signal.SIG_IGN)
        if interrupts[:1] == [signal.SIGTERM]:
            _leave("terminated", code=TERMINATED)
        _leave("interrupted", code=INTERRUPTED)


def _run() -> None:
    """Run the command line; everything else is imported here, where Ctrl-C is handled."""
    import warnings  # noqa: PLC0415

    from driftline.errors import ConfigError, DriftlineError  # noqa: PLC0415

    try:
        import typer  # noqa: PLC0415  # an extra may be missing

        from driftline.cli.app import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        _leave(f"the command line needs {error.name}; pip install 'driftline[cli]'", code=FAILED)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a character that the terminal lacks is not a failure
    warnings.simplefilter("ignore", RuntimeWarning)  # raised inside classifiers of other libraries
    warnings.showwarning = lambda message, *_, **__: print_error(f"warning: {message}")
    misuse: type[Exception] = typer.BadParameter.__mro__[1]  # click's UsageError, of whichever click typer has
    try:
        sys.exit(app(standalone_mode=False))
    except misuse as error:
        _leave(*_usage_message(error), code=MISUSED)
    except DriftlineError as error:
        _leave(error.for_command_line(), code=MISUSED if isinstance(error, ConfigError) else FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _leave(f"{place}{error.strerror or error}", code=FAILED)
    except MemoryError:
        _leave("there is not enough memory; use fewer columns, or smaller parameters", code=FAILED)


def _usage_message(error: Exception) -> list[str]:
    """Return what is wrong with the arguments, and which help to read."""
    context = getattr(error, "ctx", None)
    message: str = error.format_message()  # type: ignore[attr-defined]
    see_also = [] if context is None else [f"see '{context.command_path} --help'"]
    return [message.rstrip(), *see_also]


def _leave(*messages: str, code: int) -> NoReturn:
    for message in messages:
        print_error(message)
    sys.exit(code)


def print_error(message: str) -> None:
    """Print a message on one line of the standard error."""
    line = visible(message.replace("\n", " "))
    sys.stderr.write(f"driftline: {line}\n")
