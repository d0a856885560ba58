"""Progress bars on the standard error."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from driftline.utils.terminal import visible

LINE_INTERVAL_SECONDS = 60.0
"""Time between two lines of text, which are written if no bar can be drawn."""


class ProgressBar:
    """A progress bar with the amount done, the time left and a note.

    Without a terminal (for example in a log), or if rich is not installed, one line of text per minute is written
    instead; work that takes less than a minute writes nothing.

    Parameters
    ----------
    description : str
        Text before the bar.
    total : int or None
        Total amount of work; None if it is not known.
    unit : str
        Unit of the amounts; for "bytes" the speed is shown too.
    shown : bool
        Whether to show anything at all.
    """

    def __init__(self, description: str, total: int | None, *, unit: str, shown: bool) -> None:
        description = visible(description)
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
        """Add to the amount done, and set the note after the bar."""
        if self._bar is not None:
            self._bar.update(self._task, advance=amount, note=note)
        if self._lines is not None:
            self._lines.advance(amount, note)


class _Lines:
    """Writes the amount done as a line of text, once per `LINE_INTERVAL_SECONDS`."""

    def __init__(self, description: str, total: int | None, unit: str) -> None:
        self._description, self._unit = description, unit
        self._done, self._total = 0, total
        self._last = time.monotonic()

    def advance(self, amount: int, note: str) -> None:
        """Add to the amount done, and write a line unless the last one is too recent."""
        self._done += amount
        if time.monotonic() - self._last < LINE_INTERVAL_SECONDS:
            return
        self._last = time.monotonic()
        of_all = f" of {self._total:,}" if self._total else ""
        line = f"{self._description}: {self._done:,}{of_all} {self._unit}" + (f", {note}" if note else "")
        with suppress(OSError, ValueError, AttributeError):  # a closed standard error must not stop the work
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def _rich_bar(unit: str) -> Any:
    """Return a progress bar of rich; None if rich is not installed or there is no terminal."""
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
