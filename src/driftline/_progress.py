"""Progress of long work, on the standard error: the one place outside the command line that draws."""

from types import TracebackType
from typing import Any, Self


class ProgressBar:
    """A bar with the share done, the time left and a note; nothing without a terminal, or where rich is not installed.

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


def _rich_bar(unit: str) -> Any:
    try:
        from rich import progress  # noqa: PLC0415  # an extra may be missing
        from rich.console import Console  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    amount: tuple[progress.ProgressColumn, ...]
    if unit == "bytes":
        amount = progress.DownloadColumn(), progress.TransferSpeedColumn()
    else:
        amount = (progress.MofNCompleteColumn(),)
    console = Console(stderr=True)
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *amount,
        progress.TextColumn("{task.fields[note]}", markup=False),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # else rich ends each bar with an empty line
    )
