"""The commands about the paper: list its experiments, and reproduce one."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

from driftline._atomic import replacing
from driftline.cli.output import wrapped
from driftline.errors import ConfigError
from driftline.experiments import Store, Table, make_table, names, read_spec
from driftline.experiments.render import notes, shown, to_csv, to_latex, to_markdown

DEFAULT_STORE = Path("experiments/results")
GAP = 2
"""Spaces between columns."""
WRITERS = {".csv": to_csv, ".md": to_markdown, ".tex": to_latex}


def paper(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An experiment, or the word list.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="Small streams and their beginnings: some minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="All rows of all streams: hours.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes at a time; -1 for as many as there are cores.")] = -1,
    backend: Annotated[str, typer.Option(help="That of joblib: loky, or a cluster's, such as dask or ray.")] = "loky",
    store: Annotated[Path, typer.Option(help="Folder of results: what is there is not run again.")] = DEFAULT_STORE,
    out: Annotated[Path | None, typer.Option(help="Folder to write the table to, as CSV, Markdown and LaTeX.")] = None,
) -> None:
    """Reproduce a table of the paper, beside the published figures.

    A run that is killed goes on where it was. Streams are looked for as driftline data says. For example:

    driftline paper table1 --quick
    """
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if name == "list":
        _list(console)
        return
    if quick and full:
        raise ConfigError(
            "--quick and --full exclude each other; without either, up to 100,000 rows of each stream are run"
        )
    experiment = read_spec(name)
    level = "quick" if quick else "full" if full else "usual"
    table = make_table(experiment, level, Store(store), jobs=jobs, backend=backend)
    _show(table, console)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for suffix, write in WRITERS.items():
            path = out / f"{name}{'' if level == 'usual' else f'-{level}'}{suffix}"
            with replacing(path) as file:
                file.write(write(table).encode())
            console.print(str(path))


def _list(console: Console) -> None:
    for name in names():
        experiment = read_spec(name)
        console.print(f"{name}  {experiment.title}", style="bold")
        if experiment.cost:
            console.print(wrapped(f"        --full takes {experiment.cost}", console.width, 8))


def _show(table: Table, console: Console) -> None:
    """Print a table, in as many parts as it takes to fit the width, and what is said of it."""
    rows = [[row.name, *(shown(cell, table.digits) for cell in row.cells)] for row in table.rows]
    widths = [max(map(len, column)) + GAP for column in zip(["", *table.columns], *rows, strict=True)]
    console.print(table.title, style="bold")
    for part in _parts(widths, console.width):
        shape = RichTable(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
        for place in part:
            shape.add_column(["", *table.columns][place], justify="right" if place else "left", no_wrap=True)
        for row, cells in zip(table.rows, rows, strict=True):
            shape.add_row(*(cells[place] for place in part), style="italic" if row.ours else "")
        console.print(shape)
        console.print()
    console.print(wrapped(table.about, console.width, 0))
    for note in notes(table):
        console.print(wrapped(f"- {note}", console.width, 2))


def _parts(widths: list[int], width: int) -> list[list[int]]:
    """Return columns that fit beside each other, each time with the first, that of names."""
    parts, used = [[0]], widths[0]
    for place in range(1, len(widths)):
        if used + widths[place] > width and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0]
        parts[-1].append(place)
        used += widths[place]
    return parts
