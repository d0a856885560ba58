"""Where results are kept, and what is said about how they came about."""

import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def keep(name, explanation, lines, packages=()):
    """Write a page of results with the command, the date and the versions that made it."""
    versions = ", ".join(f"{package} {version(package)}" for package in ("driftline", "numpy", "numba", *packages))
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    made = f"Made by `{command}` on {date.today()}, with Python {platform.python_version()}, {versions}."
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text("\n".join([explanation, made, "", *lines, ""]), encoding="utf-8")
