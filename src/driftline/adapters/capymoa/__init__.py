"""CapyMOA: its classifiers behind our interface, and AMRC behind CapyMOA's.

`AMRC` is one of CapyMOA's own kind, so it is there only where CapyMOA and Java are; everything else can be imported
without.
"""

from typing import TYPE_CHECKING, Any

from driftline.adapters.capymoa.classifier import CapyMOAClassifier, constructor, finds_java

if TYPE_CHECKING:
    from driftline.adapters.capymoa.amrc import AMRC

__all__ = ["AMRC", "CapyMOAClassifier", "constructor", "finds_java"]


def __getattr__(name: str) -> Any:
    if name != "AMRC":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from driftline.adapters.capymoa.amrc import AMRC  # noqa: PLC0415  # an extra may be missing

    return AMRC
