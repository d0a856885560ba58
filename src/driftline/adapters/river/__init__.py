"""River's classifiers with driftline's interface, and AMRC as a River classifier.

Importing `AMRC` needs River, because it is a subclass of a River class; the rest can be imported without River.
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
