"""Progress of long work, on the standard error: the one place outside the command line that draws."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

SECONDS = 60.0
"""Between two lines where no bar can be drawn."""


class ProgressBar:
    """A bar with the share done, the time left and a note.

    Without a terminal, as in a log, or where rich is not installed, it is a line a minute: work of less than that says
    nothing.

    Parameters
    ----------
    description : str
        What is being done.
    total : int or None
        How much there is to do; None if that is not known.
    unit : str
        Of what; "bytes" are shown with their speed.
    shown : bool
        Whether to show anything at all.
    """

    def __init__(self, description: str, total: int | None, *, unit: str, shown: bool) -> None:
        self._bar = _rich_bar(unit) if shown else None
        self._lines = _Lines(description, total, unit) if shown and self._bar is None else None
        if self._bar is not None:
            self._task = self._bar.add_task(description, total=total, note="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: int, note: str = "") -> None:
        """Say that more is done, and what is to be read beside the bar."""
        if self._bar is not None:
            self._bar.update(self._task, advance=amount, note=note)
        if self._lines is not None:
            self._lines.advance(amount, note)


class _Lines:
    """What is done, on a line of its own from time to time."""

    def __init__(self, description: str, total: int | None, unit: str) -> None:
        self._description, self._unit = description, unit
        self._done, self._total = 0, total
        self._last = time.monotonic()

    def advance(self, amount: int, note: str) -> None:
        """Say how much is done, unless that was said a short while ago."""
        self._done += amount
        if time.monotonic() - self._last < SECONDS:
            return
        self._last = time.monotonic()
        of_all = f" of {self._total:,}" if self._total else ""
        line = f"{self._description}: {self._done:,}{of_all} {self._unit}" + (f", {note}" if note else "")
        with suppress(OSError, ValueError, AttributeError):  # work does not end because nobody listens
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def _rich_bar(unit: str) -> Any:
    """Return a bar of rich, or None where none can be drawn."""
    try:
        from rich import progress  # noqa: PLC0415  # an extra may be missing
        from rich.console import Console  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    amount: tuple[progress.ProgressColumn, ...]
    if unit == "bytes":
        amount = progress.DownloadColumn(), progress.TransferSpeedColumn()
    else:
        amount = (progress.MofNCompleteColumn(),)
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *amount,
        progress.TextColumn("{task.fields[note]}", markup=False),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
    )
