"""Packages that only some functions need: imported when one is called, with an error that says what to install."""

from typing import Any

from driftline.errors import MissingExtraError


def import_matplotlib() -> Any:
    """Return matplotlib, with its module of figures; raise `MissingExtraError` if it is not installed."""
    try:
        import matplotlib.figure  # noqa: PLC0415  # an extra may be missing
        import matplotlib.ticker  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("figures need matplotlib; pip install 'driftline[plot]'") from error
    return matplotlib


def import_pandas(caller: str) -> Any:
    """Return pandas; raise `MissingExtraError`, which names the call that needs it, if it is not installed."""
    try:
        import pandas as pd  # noqa: PLC0415  # no dependency of driftline
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{caller} needs pandas: pip install pandas") from error
    return pd
