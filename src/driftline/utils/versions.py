"""Versions of the software that results depend on."""

import platform
from importlib.metadata import version

PACKAGES = ("driftline", "numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that influence the results."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}
