"""The commands about the paper: list its experiments, and reproduce one or all."""

import os
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table as RichTable

from driftline.cli.output import wrapped
from driftline.errors import ConfigError
from driftline.experiments import Figure, Store, Table, Workers, make_figure, make_table, names, read_spec
from driftline.experiments.figure import points_csv
from driftline.experiments.page import figure_markdown, to_html, to_page
from driftline.experiments.plot import drawing_library, write_figure
from driftline.experiments.provenance import command_of
from driftline.experiments.render import BRACKETS, said_of, shown, to_csv, to_latex, to_markdown
from driftline.utils.atomic_write import replacing

GAP = 2
"""Spaces between columns."""
TITLE = "The paper, reproduced"
INTRODUCTION = """\
The tables and figures of the paper (Álvarez, Mazuelas, Lozano, ICML 2022), beside what is published; cells that were \
not run say so. [As a page with differences]({page}). All of it is made by `{command}`, and each part by a command of \
its own."""


def reproduce(
    name: str,
    *,
    quick: bool,
    full: bool,
    jobs: int,
    backend: str,
    resume: bool,
    run: bool,
    store: Path,
    out: Path,
) -> None:
    """Reproduce a table or a figure, or all of them."""
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if name == "list":
        _list(console)
        return
    if not run and not resume:
        raise ConfigError("--no-run makes do with the results that are there, which --no-resume leaves out; choose one")
    if quick and full:
        raise ConfigError(
            "--quick and --full exclude each other; without either, up to 100,000 rows of each stream are run"
        )
    level = "quick" if quick else "full" if full else "usual"
    _check_folder(store, "--store")
    _check_folder(out, "--out")
    workers = Workers(Store(store.resolve()), jobs=jobs, backend=backend, resume=resume, run=run)
    wanted = names() if name == "all" else (read_spec(name).name,)
    sections = dict(_make(each, level, workers, out, console) for each in wanted)
    if name == "all":
        stem = _stem("index", level)
        introduction = INTRODUCTION.format(page=f"{stem}.html", command=command_of("all", level))
        _write(out / f"{stem}.html", to_html(TITLE, sections), console)
        _write(out / f"{stem}.md", to_page(TITLE, introduction, sections), console)
    if all(map(_is_empty, sections.values())):
        raise typer.Exit(1)


def _stem(name: str, level: str) -> str:
    """Return what the files of an experiment are called, without suffix."""
    return name if level == "usual" else f"{name}-{level}"


def _check_folder(path: Path, option: str) -> None:
    """Refuse what cannot be a folder, before anything is run."""
    there = next(parent for parent in (path, *path.resolve().parents) if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise ConfigError(f"{option} must be a folder to write into; {there} is not one")


def _is_empty(made: Table | Figure) -> bool:
    if isinstance(made, Figure):
        return not made.panels
    return all(cell.value is None for row in made.rows for cell in row.cells)


def _make(name: str, level: str, workers: Workers, out: Path, console: Console) -> tuple[str, Table | Figure]:
    """Make a table or a figure, show it and write it; return it with what its files are called."""
    experiment, stem = read_spec(name), _stem(name, level)
    if experiment.is_figure:
        drawing_library()  # what cannot be drawn is not worth hours
        figure = make_figure(experiment, level, workers)
        out.mkdir(parents=True, exist_ok=True)
        _show_figure(figure, console)
        if figure.panels:
            for path in write_figure(figure, out, stem):
                console.print(str(path))
        _write(out / f"{stem}.csv", points_csv(figure), console)
        _write(out / f"{stem}.md", figure_markdown(stem, figure) + "\n", console)
        _write(out / f"{stem}.html", to_html(figure.title, {stem: figure}), console)
        return stem, figure
    table = make_table(experiment, level, workers)
    out.mkdir(parents=True, exist_ok=True)
    _show_table(table, console)
    for suffix, text in {".csv": to_csv(table), ".md": to_markdown(table), ".tex": to_latex(table)}.items():
        _write(out / f"{stem}{suffix}", text, console)
    _write(out / f"{stem}.html", to_html(table.title, {stem: table}), console)
    return stem, table


def _write(path: Path, text: str, console: Console) -> None:
    with replacing(path) as file:
        file.write(text.encode())
    console.print(str(path))


def _list(console: Console) -> None:
    width = max(map(len, names())) + GAP
    for name in names():
        experiment = read_spec(name)
        console.print(f"{name:{width}}{experiment.title}", style="bold")
        if experiment.cost:
            console.print(f"{'':{width}}{wrapped(f'takes {experiment.cost}', console.width, width)}")


def _show_figure(figure: Figure, console: Console) -> None:
    console.print(figure.title, style="bold")
    console.print(wrapped(figure.about, console.width, 0))
    console.print(wrapped(f"The paper: {figure.says}", console.width, 0))
    for finding in figure.findings:
        console.print(wrapped(f"{'✓' if finding.holds else '✗ not so here:'} {finding.text}", console.width, 2))
    for reason in figure.reasons:
        console.print(wrapped(f"- not drawn: {reason}", console.width, 2))
    console.print(wrapped(figure.provenance, console.width, 0))


def _show_table(table: Table, console: Console) -> None:
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
    console.print(wrapped(f"{table.about} {BRACKETS}", console.width, 0))
    for note in said_of(table):
        console.print(wrapped(f"- {note}", console.width, 2))
    console.print(wrapped(table.provenance, console.width, 0))


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
