"""Progress bars: on the standard error, or in a notebook."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from driftline.utils.html import safe_text
from driftline.utils.terminal import visible

LINE_INTERVAL_SECONDS = 60.0
"""Time between two lines of text, which are written if no bar can be drawn."""
PAGE_INTERVAL_SECONDS = 0.2
"""Time between two updates of the bar in a notebook."""


class ProgressBar:
    """A progress bar with the amount done, the time left and a note.

    In a notebook the bar is an element of the page, below the cell. Without a terminal or a notebook (for example in a
    log), or if rich is not installed, one line of text per minute is written to the standard error instead; work that
    takes less than a minute writes nothing.

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
        self._page = _NotebookBar(description, total, unit) if shown and in_notebook() else None
        self._bar = _rich_bar(unit) if shown and self._page is None else None
        self._lines = (
            _Lines(description, total, unit, LINE_INTERVAL_SECONDS)
            if shown and self._page is self._bar is None
            else None
        )
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
        if self._page is not None:
            self._page.show(finished=True)

    def advance(self, amount: int, note: str = "") -> None:
        """Add to the amount done, and set the note after the bar."""
        if self._bar is not None:
            self._bar.update(self._task, advance=amount, note=note)
        if self._lines is not None:
            self._lines.advance(amount, note)
        if self._page is not None:
            self._page.advance(amount, note)


class _Progress:
    """The amount done, which is shown at most once per interval."""

    def __init__(self, description: str, total: int | None, unit: str, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        self._description, self._unit = description, unit
        self._done, self._total, self._note = 0, total, ""
        self._last = time.monotonic()

    def advance(self, amount: int, note: str) -> None:
        """Add to the amount done, and show it unless this was done too recently."""
        self._done += amount
        self._note = note
        if time.monotonic() - self._last >= self._interval_seconds:
            self._last = time.monotonic()
            self.show()

    def line(self) -> str:
        """Return the description, the amount done and the note as a line of text."""
        of_all = f" of {self._total:,}" if self._total else ""
        return f"{self._description}: {self._done:,}{of_all} {self._unit}" + (f", {self._note}" if self._note else "")

    def show(self) -> None:
        """Show the amount done."""
        raise NotImplementedError


class _Lines(_Progress):
    """Writes the amount done as a line of text."""

    def show(self) -> None:
        """Write a line to the standard error."""
        with suppress(OSError, ValueError, AttributeError):  # a closed standard error must not stop the work
            sys.stderr.write(f"{self.line()}\n")
            sys.stderr.flush()


class _NotebookBar(_Progress):
    """Shows the amount done as an element of the page, which is updated in place; at the end the text is left."""

    def __init__(self, description: str, total: int | None, unit: str) -> None:
        from IPython.display import display  # noqa: PLC0415  # there in every notebook

        super().__init__(description, total, unit, PAGE_INTERVAL_SECONDS)
        self._handle = display(self._content(finished=False), raw=True, display_id=True)

    def show(self, *, finished: bool = False) -> None:
        """Update the element."""
        self._handle.update(self._content(finished=finished), raw=True)

    def _content(self, *, finished: bool) -> dict[str, str]:
        """Return the bar, without a value if the total is unknown, and its text; also as plain text."""
        line = self.line()
        value = f' value="{self._done}" max="{self._total}"' if self._total else ""
        bar = "" if finished else f'<progress{value} style="width:20em;vertical-align:middle"></progress> '
        return {"text/html": f"<div>{bar}{safe_text(line)}</div>", "text/plain": line}


def in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


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
