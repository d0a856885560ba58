"""The commands."""

from typing import Annotated

import typer
from rich.console import Console

from driftline import __version__
from driftline.cli.data import data
from driftline.cli.demo import run_demo
from driftline.cli.models import models
from driftline.cli.paper import paper

app = typer.Typer(
    help="Classifiers for streams that change, with a bound on their error at every step.",
    no_args_is_help=True,
    add_completion=False,
)
app.add_typer(data, name="data")
app.command()(models)
app.command()(paper)


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"driftline {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def driftline(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Classifiers for streams that change, with a bound on their error at every step."""


@app.command()
def demo(
    steps: Annotated[int, typer.Option(min=20, help="Length of the stream.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the stream and of the randomised rule.")] = 0,
) -> None:
    """Follow the paper's synthetic stream with AMRC and with the method as published, and compare errors with bounds.

    Two Gaussian classes swing to and fro on a circle; the true error of a rule is known at every step.
    """
    run_demo(Console(), steps, seed)
