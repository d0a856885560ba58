"""Downloads with a progress bar, retries and a timeout; a partial file is never left behind."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType

from driftline.errors import DownloadError, MissingExtraError
from driftline.streams.catalogue.datasets import OriginalFile
from driftline.utils.progress import ProgressBar

MAX_RETRIES = 2
"""Number of times an interrupted download is restarted, after one and two seconds."""


def fetch_file(original: OriginalFile, folder: Path, *, timeout: float) -> Path:
    """Download a file.

    Parameters
    ----------
    original : OriginalFile
        The file.
    folder : Path
        Folder to write it to.
    timeout : float
        Longest time in seconds without an answer from the server.

    Returns
    -------
    Path
        The complete file.
    """
    pooch = import_pooch()
    from requests.exceptions import HTTPError, RequestException  # noqa: PLC0415  # comes with pooch

    def _fetch(url: str, output_file: str, caller: object) -> None:
        with ExitStack() as stack:
            bar = _PoochBar(original.name, stack)
            try:
                pooch.HTTPDownloader(bar, chunk_size=1 << 16, timeout=timeout)(url, output_file, caller)
            except HTTPError as error:
                if error.response is not None and error.response.status_code < 500:
                    raise DownloadError(f"{url}: {_reason(error, timeout)}") from error  # pooch does not retry this
                raise

    names = {original.name: original.sha256}, {original.name: original.address}
    try:
        with _quiet(pooch.get_logger()):
            return Path(
                pooch.Pooch(folder, "", *names, retry_if_failed=MAX_RETRIES).fetch(original.name, downloader=_fetch)
            )
    except RequestException as error:
        raise DownloadError(f"{original.address}: {_reason(error, timeout)}") from error
    except ValueError as error:
        raise DownloadError(f"{original.address}: the sha256 of the file is not {original.sha256}") from error


def import_pooch() -> ModuleType:
    """Import pooch; if it is missing, raise an error that says how to install it.

    Returns
    -------
    module
        The package.
    """
    try:
        import pooch  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError("downloading streams needs pooch; pip install 'driftline[data]'") from error
    module: ModuleType = pooch
    return module


class _PoochBar:
    """Progress bar with the methods that pooch calls; pooch sets `total` when the server has answered.

    Parameters
    ----------
    name : str
        Name of the file.
    stack : ExitStack
        Closes the bar when the download ends, also if it fails.
    """

    def __init__(self, name: str, stack: ExitStack) -> None:
        self.total = 0
        self._name, self._stack, self._done = name, stack, 0
        self._bar: ProgressBar | None = None

    def update(self, amount: int) -> None:
        """Advance the bar.

        Parameters
        ----------
        amount : int
            Number of bytes. Pooch counts the last chunk as a whole one, and repeats the total after `reset`.
        """
        if self._bar is None:
            self._bar = self._stack.enter_context(
                ProgressBar(f"downloading {self._name}", self.total or None, unit="bytes", shown=True)
            )
        amount = min(amount, self.total - self._done) if self.total else amount
        self._done += amount
        self._bar.advance(amount)

    def reset(self) -> None:
        """Mark the download as complete; called by pooch at the end."""
        self._done = self.total

    def close(self) -> None:
        """Close the bar; called by pooch at the end."""
        self._stack.close()


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence pooch's log messages: the progress bar shows the same."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: Exception, timeout: float) -> str:
    """Return the reason for a failed download in a few words."""
    from requests.exceptions import ChunkedEncodingError, ConnectionError, Timeout  # noqa: A004, PLC0415

    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    if isinstance(error, Timeout) or "timed out" in str(error):  # requests raises no Timeout in mid-file
        return f"no answer from the server for {timeout:g} seconds"
    if isinstance(error, ChunkedEncodingError):
        return "the connection broke before the end of the file"
    if isinstance(error, ConnectionError):
        return "there is no connection to the server"
    return str(error)
