"""What made a table or a figure."""

from collections.abc import Sequence
from typing import Any

from driftline import __version__


def command_of(name: str, level: str) -> str:
    """Return the command that makes an experiment.

    Examples
    --------
    >>> command_of("table1", "usual"), command_of("table1", "quick")
    ('driftline paper table1', 'driftline paper table1 --quick')
    """
    return f"driftline paper {name}" + ("" if level == "usual" else f" --{level}")


def provenance(command: str, made: Sequence[dict[str, Any]]) -> str:
    """Return a sentence: by which command, from how many results, with which versions and when.

    Examples
    --------
    >>> provenance("driftline paper table4", [{"date": "2026-01-02", "python": "3.11.7", "numpy": "2.4.6"}])
    'Made by `driftline paper table4` with driftline 0.1.0 from 1 result of 2026-01-02: python 3.11.7, numpy 2.4.6.'
    """
    said = f"Made by `{command}` with driftline {__version__}"
    if not made:
        return f"{said}."
    dates = sorted({entry["date"] for entry in made})
    when = f"of {dates[0]}" if len(dates) == 1 else f"of {dates[0]} to {dates[-1]}"
    packages = [name for name in made[0] if name not in {"date", "machine", "cores", "source"}]
    versions = (f"{name} {' and '.join(sorted({str(entry[name]) for entry in made}))}" for name in packages)
    return f"{said} from {len(made)} result{'s' if len(made) > 1 else ''} {when}: {', '.join(versions)}."
