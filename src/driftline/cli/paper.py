"""The command ``driftline paper``: list the paper's experiments, and reproduce one or all of them."""

import os
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table as RichTable

from driftline.cli.output import DataConsole, wrapped
from driftline.errors import ConfigError
from driftline.experiments import (
    ResultFigure,
    ResultStore,
    ResultTable,
    RunExecutor,
    experiment_names,
    make_figure,
    make_table,
    read_spec,
)
from driftline.experiments.figure_drawing import points_csv, write_figure
from driftline.experiments.provenance import command_of
from driftline.experiments.reproduction_page import figure_markdown, to_html, to_markdown_page
from driftline.experiments.table_formats import BRACKETS, format_cell, table_notes, to_csv, to_latex, to_markdown
from driftline.utils.atomic_write import replacing
from driftline.utils.extras import import_matplotlib

COLUMN_GAP = 2
"""Spaces between two columns."""
TITLE = "The paper, reproduced"
INTRODUCTION = """\
The tables and figures of the paper (Álvarez, Mazuelas, Lozano, ICML 2022) with our results; the published figures are \
in brackets, and cells that were not run say so. [The same as a page with differences]({page}). `{command}` makes all \
of it, and each part has a command of its own."""


def reproduce(
    name: str,
    *,
    quick: bool,
    full: bool,
    jobs: int,
    backend: str,
    resume: bool,
    run: bool,
    rerun_stale: bool,
    store: Path,
    out: Path,
) -> None:
    """Reproduce a table or a figure, or all of them; print them and write their files."""
    console = DataConsole(soft_wrap=True)
    if name == "list":
        _list_experiments(console)
        return
    _check_options(quick=quick, full=full, resume=resume, run=run, rerun_stale=rerun_stale)
    level = "quick" if quick else "full" if full else "usual"
    _check_folder(store, "--store")
    _check_folder(out, "--out")
    executor = RunExecutor(
        ResultStore(store.resolve()), jobs=jobs, backend=backend, resume=resume, run=run, rerun_stale=rerun_stale
    )
    wanted = experiment_names() if name == "all" else (read_spec(name).name,)
    sections = dict(_make(each, level, executor, out, console) for each in wanted)
    if name == "all":
        stem = _file_stem("index", level)
        introduction = INTRODUCTION.format(page=f"{stem}.html", command=command_of("all", level))
        _write(out / f"{stem}.html", to_html(TITLE, sections), console)
        _write(out / f"{stem}.md", to_markdown_page(TITLE, introduction, sections), console)
    if all(map(_is_empty, sections.values())):
        raise typer.Exit(1)


def _check_options(*, quick: bool, full: bool, resume: bool, run: bool, rerun_stale: bool) -> None:
    """Raise `ConfigError` if options contradict each other."""
    if not run and not resume:
        raise ConfigError("--no-run uses only stored results, and --no-resume ignores them; choose one")
    if not run and rerun_stale:
        raise ConfigError("--no-run does no runs, and --rerun-stale repeats those with stale results; choose one")
    if quick and full:
        raise ConfigError(
            "--quick and --full exclude each other; without either, up to 100,000 rows of each stream are run"
        )


def _file_stem(name: str, level: str) -> str:
    """Return the name of an experiment's files, without suffix."""
    return name if level == "usual" else f"{name}-{level}"


def _check_folder(path: Path, option: str) -> None:
    """Raise `ConfigError` if a path cannot be a folder to write to, before anything is run."""
    existing = next(parent for parent in (path, *path.resolve().parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ConfigError(f"{option} must be a folder to write into; {existing} is not one")


def _is_empty(made: ResultTable | ResultFigure) -> bool:
    if isinstance(made, ResultFigure):
        return not made.panels
    return all(cell.value is None for row in made.rows for cell in row.cells)


def _make(
    name: str, level: str, executor: RunExecutor, out: Path, console: Console
) -> tuple[str, ResultTable | ResultFigure]:
    """Make a table or a figure, print it and write its files; return it with the stem of its files."""
    experiment, stem = read_spec(name), _file_stem(name, level)
    if experiment.is_figure:
        import_matplotlib()  # fail before hours of runs, not after them
        figure = make_figure(experiment, level, executor)
        out.mkdir(parents=True, exist_ok=True)
        _print_figure(figure, console)
        if figure.panels:
            for path in write_figure(figure, out, stem):
                console.print(str(path))
        _write(out / f"{stem}.csv", points_csv(figure), console)
        _write(out / f"{stem}.md", figure_markdown(stem, figure) + "\n", console)
        _write(out / f"{stem}.html", to_html(figure.title, {stem: figure}), console)
        return stem, figure
    table = make_table(experiment, level, executor)
    out.mkdir(parents=True, exist_ok=True)
    _print_table(table, console)
    for suffix, text in {".csv": to_csv(table), ".md": to_markdown(table), ".tex": to_latex(table)}.items():
        _write(out / f"{stem}{suffix}", text, console)
    _write(out / f"{stem}.html", to_html(table.title, {stem: table}), console)
    return stem, table


def _write(path: Path, text: str, console: Console) -> None:
    with replacing(path) as file:
        file.write(text.encode())
    console.print(str(path))


def _list_experiments(console: Console) -> None:
    names = experiment_names()
    width = max(map(len, names)) + COLUMN_GAP
    for name in names:
        experiment = read_spec(name)
        console.print(f"{name:{width}}{experiment.title}", style="bold")
        if experiment.cost:
            console.print(f"{'':{width}}{wrapped(f'takes {experiment.cost}', console.width, width)}")


def _print_figure(figure: ResultFigure, console: Console) -> None:
    console.print(figure.title, style="bold")
    console.print(wrapped(figure.about, console.width, 0))
    console.print(wrapped(f"The paper: {figure.claim}", console.width, 0))
    for finding in figure.findings:
        console.print(wrapped(f"{'✓' if finding.holds else '✗ does not hold here:'} {finding.text}", console.width, 2))
    for reason in figure.reasons:
        console.print(wrapped(f"- not drawn: {reason}", console.width, 2))
    console.print(wrapped(figure.provenance, console.width, 0))


def _print_table(table: ResultTable, console: Console) -> None:
    """Print a table, split into as many parts as the width needs, and its notes."""
    rows = [[row.name, *(format_cell(cell, table.digits) for cell in row.cells)] for row in table.rows]
    widths = [max(map(len, column)) + COLUMN_GAP for column in zip(["", *table.columns], *rows, strict=True)]
    console.print(table.title, style="bold")
    for part in _split_columns(widths, console.width):
        shape = RichTable(box=None, padding=(0, COLUMN_GAP, 0, 0), pad_edge=False)
        for place in part:
            shape.add_column(["", *table.columns][place], justify="right" if place else "left", no_wrap=True)
        for row, cells in zip(table.rows, rows, strict=True):
            shape.add_row(*(cells[place] for place in part), style="italic" if row.ours else "")
        console.print(shape)
        console.print()
    console.print(wrapped(f"{table.about} {BRACKETS}", console.width, 0))
    for note in table_notes(table):
        console.print(wrapped(f"- {note}", console.width, 2))
    console.print(wrapped(table.provenance, console.width, 0))


def _split_columns(widths: list[int], width: int) -> list[list[int]]:
    """Return groups of columns that fit beside each other, each with the first column, which holds the names."""
    groups, used = [[0]], widths[0]
    for place in range(1, len(widths)):
        if used + widths[place] > width and len(groups[-1]) > 1:
            groups.append([0])
            used = widths[0]
        groups[-1].append(place)
        used += widths[place]
    return groups
