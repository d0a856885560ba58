"""The command about classifiers: list them, or show the parameters of one."""

from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Console

from driftline.cli.output import Json, print_json, wrapped
from driftline.registry import ModelEntry, describe, names


def models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A classifier, to see its parameters.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the classifiers that can be had by name, and what to install for those that are missing.

    In Python: driftline.registry.create(NAME, random_state=0, …).
    """
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if name is not None:
        entry = describe(name)
        if as_json:
            print_json(_record(entry) | _details(entry))
        else:
            _show(entry, console)
        return
    entries = [describe(name) for name in names()]
    if as_json:
        print_json([_record(entry) for entry in entries])
        return
    indent = max(len(entry.name) for entry in entries) + 4
    for family, members in groupby(entries, lambda entry: entry.family):
        listed = list(members)
        console.print(_titled(family, listed[0].missing), style="bold")
        for entry in listed:
            console.print(f"{f'  {entry.name}':<{indent}}{wrapped(entry.summary, console.width, indent)}")
        console.print()
    console.print(wrapped("driftline models NAME shows the parameters of one.", console.width, 0))


def _titled(title: str, missing: str | None) -> str:
    return title if missing is None else f"{title}, missing: {missing}"


def _show(entry: ModelEntry, console: Console) -> None:
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
    """Return what is known of one that is not missing: defaults that JSON does not know are as Python shows them."""
    if entry.missing is not None:
        return {"description": None, "parameters": None}
    plain = (bool, int, float, str, list, tuple, dict, type(None))
    defaults = {name: value if isinstance(value, plain) else repr(value) for name, value in entry.parameters.items()}
    return {"description": entry.description, "parameters": defaults}
