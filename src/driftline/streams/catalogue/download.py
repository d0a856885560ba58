"""Downloads: with progress, retries and a limit to waiting; a file is there whole or not at all."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType

from driftline.errors import DownloadError, MissingExtraError
from driftline.streams.catalogue.datasets import Original
from driftline.utils.progress import ProgressBar

RETRIES = 2
"""How often a download that breaks off is begun again, after waits of one and two seconds."""


def fetch_file(original: Original, folder: Path, *, timeout: float) -> Path:
    """Fetch a file.

    Parameters
    ----------
    original : Original
        The file.
    folder : Path
        Where to put it.
    timeout : float
        How many seconds to wait for the server at most, whenever it is silent.

    Returns
    -------
    Path
        The file, whole.
    """
    pooch = import_pooch()
    from requests.exceptions import HTTPError, RequestException  # noqa: PLC0415  # comes with pooch

    def _fetch(url: str, output_file: str, keeper: object) -> None:
        with ExitStack() as stack:
            bar = _Bar(original.name, stack)
            try:
                pooch.HTTPDownloader(bar, chunk_size=1 << 16, timeout=timeout)(url, output_file, keeper)
            except HTTPError as error:
                if error.response is not None and error.response.status_code < 500:
                    raise DownloadError(f"{url}: {_reason(error, timeout)}") from error  # which pooch does not retry
                raise

    names = {original.name: original.sha256}, {original.name: original.address}
    try:
        with _quiet(pooch.get_logger()):
            return Path(
                pooch.Pooch(folder, "", *names, retry_if_failed=RETRIES).fetch(original.name, downloader=_fetch)
            )
    except RequestException as error:
        raise DownloadError(f"{original.address}: {_reason(error, timeout)}") from error
    except ValueError as error:
        raise DownloadError(f"{original.address}: the file has another sha256 than {original.sha256}") from error


def import_pooch() -> ModuleType:
    """Return pooch, or say how to install it.

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


class _Bar:
    """The bar that pooch wants, which hears of the total when the server has answered, as one of ours.

    Parameters
    ----------
    name : str
        Name of the file.
    stack : ExitStack
        Ends the bar, however the download ends.
    """

    def __init__(self, name: str, stack: ExitStack) -> None:
        self.total = 0
        self._name, self._stack, self._done = name, stack, 0
        self._bar: ProgressBar | None = None

    def update(self, amount: int) -> None:
        """Say that more is done.

        Parameters
        ----------
        amount : int
            Bytes: pooch counts whole chunks, of which the last is not, and after `reset` all of it once more.
        """
        if self._bar is None:
            self._bar = self._stack.enter_context(
                ProgressBar(f"downloading {self._name}", self.total or None, unit="bytes", shown=True)
            )
        amount = min(amount, self.total - self._done) if self.total else amount
        self._done += amount
        self._bar.advance(amount)

    def reset(self) -> None:
        """Hear that all is done."""
        self._done = self.total

    def close(self) -> None:
        """End the bar."""
        self._stack.close()


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing what the progress bar shows."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: Exception, timeout: float) -> str:
    """Return what went wrong between here and the server, in a few words."""
    from requests.exceptions import ChunkedEncodingError, ConnectionError, Timeout  # noqa: A004, PLC0415

    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    if isinstance(error, Timeout) or "timed out" in str(error):  # in mid-file, requests has no Timeout
        return f"the server is silent for {timeout:g} seconds"
    if isinstance(error, ChunkedEncodingError):
        return "the connection breaks before the end of the file"
    if isinstance(error, ConnectionError):
        return "there is no connection to the server"
    return str(error)
