"""CapyMOA's classifiers with driftline's interface, and AMRC as a CapyMOA classifier.

Importing `AMRC` needs CapyMOA and Java, because it is a subclass of a CapyMOA class; the rest can be imported without.
"""

from typing import TYPE_CHECKING, Any

from driftline.adapters.capymoa.classifier import CapyMOAClassifier, constructor, java_is_installed

if TYPE_CHECKING:
    from driftline.adapters.capymoa.amrc import AMRC

__all__ = ["AMRC", "CapyMOAClassifier", "constructor", "java_is_installed"]


def __getattr__(name: str) -> Any:
    if name != "AMRC":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from driftline.adapters.capymoa.amrc import AMRC  # noqa: PLC0415  # an extra may be missing

    return AMRC
