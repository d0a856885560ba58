"""River's classifiers with driftline's interface; and AMRC, and guarantees for any classifier, in River's.

Importing `AMRC` or `Guarded` needs River, because they are subclasses of a River class; the rest can be imported
without River.
"""

from typing import TYPE_CHECKING, Any

from driftline.adapters.river.classifier import RiverClassifier, constructor

if TYPE_CHECKING:
    from driftline.adapters.river.amrc import AMRC
    from driftline.adapters.river.guarded import Guarded

__all__ = ["AMRC", "Guarded", "RiverClassifier", "constructor"]


def __getattr__(name: str) -> Any:
    if name == "AMRC":
        from driftline.adapters.river.amrc import AMRC  # noqa: PLC0415  # an extra may be missing

        return AMRC
    if name == "Guarded":
        from driftline.adapters.river.guarded import Guarded  # noqa: PLC0415

        return Guarded
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
