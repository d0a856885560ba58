"""driftline: classifiers for streams that change, with a bound on their error at every step.

Names are imported at their first use, so that ``import driftline`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftline.ensemble import AMRC
    from driftline.errors import (
        CheckpointError,
        ConfigError,
        DataError,
        DownloadError,
        DriftlineError,
        MissingExtraError,
    )
    from driftline.paper import PaperAMRC
    from driftline.types import Predictions, Status, Step, UncertaintySet

    __version__: str

__all__ = [
    "AMRC",
    "CheckpointError",
    "ConfigError",
    "DataError",
    "DownloadError",
    "DriftlineError",
    "MissingExtraError",
    "PaperAMRC",
    "Predictions",
    "Status",
    "Step",
    "UncertaintySet",
]

_MODULES = {
    "AMRC": "ensemble",
    "CheckpointError": "errors",
    "ConfigError": "errors",
    "DataError": "errors",
    "DownloadError": "errors",
    "DriftlineError": "errors",
    "MissingExtraError": "errors",
    "PaperAMRC": "paper",
    "Predictions": "types",
    "Status": "types",
    "Step": "types",
    "UncertaintySet": "types",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("driftline")
    if name not in _MODULES:
        raise AttributeError(f"module 'driftline' has no attribute {name!r}")
    return getattr(import_module(f"driftline.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
