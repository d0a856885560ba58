"""River: its classifiers behind our interface, and AMRC behind River's.

`AMRC` is one of River's own kind, so it is there only where River is; everything else can be imported without.
"""

from typing import TYPE_CHECKING, Any

from driftline.adapters.river.classifier import RiverClassifier, constructor

if TYPE_CHECKING:
    from driftline.adapters.river.amrc import AMRC

__all__ = ["AMRC", "RiverClassifier", "constructor"]


def __getattr__(name: str) -> Any:
    if name != "AMRC":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from driftline.adapters.river.amrc import AMRC  # noqa: PLC0415  # an extra may be missing

    return AMRC
