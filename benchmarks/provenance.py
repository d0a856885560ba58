"""Writing result pages with the command and the versions that produced them."""

import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write_results(name, explanation, lines, packages=()):
    """Write a page to results/ with the explanation, the command, the date, the versions, and the lines of a table."""
    versions = ", ".join(f"{package} {version(package)}" for package in ("driftline", "numpy", "numba", *packages))
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    made = f"Made by `{command}` on {date.today()}, with Python {platform.python_version()}, {versions}."
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text("\n".join([explanation, made, "", *lines, ""]), encoding="utf-8")
