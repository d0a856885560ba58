"""The command ``driftline models``: list the classifiers, or show the parameters of one."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from driftline.cli.output import DataConsole, wrapped, write_json_or_show
from driftline.registry import ModelEntry, describe, names


def show_models(name: str | None, json: Path | None) -> None:
    """List all classifiers, or describe one."""
    if name is not None:
        entry = describe(name)
        write_json_or_show(_record(entry) | _details(entry), json, partial(_show, entry))
        return
    entries = [describe(name) for name in names()]
    write_json_or_show([_record(entry) for entry in entries], json, partial(_show_all, entries))


def _console() -> DataConsole:
    return DataConsole(soft_wrap=True)


def _show_all(entries: Sequence[ModelEntry]) -> None:
    console = _console()
    indent = max(len(entry.name) for entry in entries) + 4
    for family, members in groupby(entries, lambda entry: entry.family):
        listed = list(members)
        console.print(_titled(family, listed[0].missing), style="bold")
        for entry in listed:
            console.print(f"{f'  {entry.name}':<{indent}}{wrapped(entry.summary, console.width, indent)}")
        console.print()
    console.print(wrapped("'driftline models NAME' shows the parameters of a classifier.", console.width, 0))


def _titled(title: str, missing: str | None) -> str:
    return title if missing is None else f"{title}, missing: {missing}"


def _show(entry: ModelEntry) -> None:
    console = _console()
    console.print(wrapped(f"{entry.name}: {entry.summary}", console.width, 0), style="bold")
    console.print(_titled(entry.family, entry.missing))
    if entry.missing is not None:
        return
    console.print()
    console.print(wrapped(entry.description, console.width, 0), end="\n\n")
    parameters = entry.parameters
    indent = max(map(len, parameters)) + 4 if parameters else 0
    for name, default in parameters.items():
        console.print(f"{f'  {name}':<{indent}}{wrapped(repr(default), console.width, indent)}")


def _record(entry: ModelEntry) -> dict[str, Any]:
    return {"name": entry.name, "family": entry.family, "summary": entry.summary, "missing": entry.missing}


def _details(entry: ModelEntry) -> dict[str, Any]:
    """Return description and parameters, None if not installed; defaults that are not JSON are given by their repr."""
    if entry.missing is not None:
        return {"description": None, "parameters": None}
    plain = (bool, int, float, str, list, tuple, dict, type(None))
    defaults = {name: value if isinstance(value, plain) else repr(value) for name, value in entry.parameters.items()}
    return {"description": entry.description, "parameters": defaults}
