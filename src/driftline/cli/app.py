"""The commands, their arguments and their help; what they do is imported when they are called."""

from pathlib import Path
from typing import Annotated

import typer

from driftline.cli.options import (
    BadRows,
    Categorical,
    Delay,
    Delimiter,
    Encoding,
    Header,
    Ignore,
    JsonFile,
    Label,
    Limit,
    Model,
    ModelFile,
    Models,
    OnBadRow,
    Parameters,
    Quiet,
    Report,
    Save,
    Seed,
    Source,
    Time,
)

DEFAULT_STORE = Path("experiments/results")
DEFAULT_OUT = Path("paper")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 all went well; 1 it failed; 2 wrong usage; 130 interrupted, after what there was is written.",
)
data = typer.Typer(
    help="Published streams: what they are, where they are, and how to get them.\n\n"
    "They are looked for in the folder that DRIFTLINE_DATA names, then in the user's cache (or the folder that "
    "DRIFTLINE_CACHE names). In Python: driftline.streams.load(NAME). For example:\n\ndriftline data list",
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from driftline import __version__

        typer.echo(f"driftline {__version__}")
        raise typer.Exit


@app.callback()
def driftline(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Classifiers for streams that change, with a bound on their error at every step.

    For example:

    driftline demo

    driftline run my.csv --label class --report my.html
    """


@app.command()
def run(
    source: Source,
    label: Label = None,
    model: Model = "amrc",
    parameters: Parameters = None,
    delay: Delay = 0,
    limit: Limit = None,
    seed: Seed = 0,
    time: Time = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    on_bad_row: BadRows = OnBadRow.STOP,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    report: Report = None,
    save: Save = None,
    json: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Run a classifier over a stream: predict each row, then learn its label.

    Says how wrong it was, how wrong it could have been, when the stream changed and which columns did it. Ctrl-C ends a
    run early; what there is by then is shown and written. For example:

    driftline run my.csv --label class --report my.html --save my.driftline

    cat my.csv | driftline run - --label class --json -
    """
    from driftline.cli.run import run_stream
    from driftline.cli.source import Reading

    run_stream(
        source,
        Reading(label, time, tuple(ignore or ()), tuple(categorical or ()), on_bad_row, header, delimiter, encoding),
        model,
        parameters or [],
        delay=delay,
        limit=limit,
        seed=seed,
        report=report,
        save=save,
        json=json,
        quiet=quiet,
    )


@app.command()
def compare(
    source: Source,
    models: Models = "amrc,dwm,sklearn-sgd",
    label: Label = None,
    delay: Delay = 0,
    limit: Limit = None,
    seed: Seed = 0,
    time: Time = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    on_bad_row: BadRows = OnBadRow.STOP,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    report: Report = None,
    json: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Run several classifiers over the same stream, and say which is ahead, and whether by more than chance.

    The intervals and p-values compare each with the best, by batches of rows; both are corrected for the number of
    pairs. Ctrl-C leaves those that are done, and so does a classifier that fails. For example:

    driftline compare my.csv --label class --models amrc,dwm,majority
    """
    from driftline.cli.compare import compare_models
    from driftline.cli.source import Reading

    compare_models(
        source,
        Reading(label, time, tuple(ignore or ()), tuple(categorical or ()), on_bad_row, header, delimiter, encoding),
        models,
        delay=delay,
        limit=limit,
        seed=seed,
        report=report,
        json=json,
        quiet=quiet,
    )


@app.command()
def predict(
    model: ModelFile,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="New rows; - for the standard input.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="CSV, or Parquet by its name; - is the standard output.")
    ] = Path("-"),
    on_bad_row: BadRows = OnBadRow.STOP,
) -> None:
    """Predict new rows: a label, the probability of each class, and the bound on the error.

    The file has the columns that the model learned from, in any order; no label is needed, and other columns do no
    harm. Rows are counted by their lines in the file. The bound is on the error of drawing a label by the
    probabilities, for the next row after the last that the model has learned. For example:

    driftline predict my.driftline new.csv --out predictions.csv
    """
    from driftline.cli.predict import predict_file

    predict_file(model, file, out, str(on_bad_row))


@app.command()
def explain(
    model: ModelFile,
    top: Annotated[int, typer.Option("--top", min=1, help="How many lines to show.")] = 20,
    json: JsonFile = None,
) -> None:
    """Say which columns of which classes are moving, how fast, and how surprising that is.

    It is about the time of the last rows that the model has learned. For example:

    driftline explain my.driftline
    """
    from driftline.cli.explain import explain_model

    explain_model(model, top, json)


@app.command()
def demo(
    steps: Annotated[int, typer.Option(min=20, help="Length of the stream.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the stream and of the randomised rule.")] = 0,
) -> None:
    """Follow the paper's synthetic stream with AMRC and with the method as published, and compare errors with bounds.

    Two Gaussian classes swing to and fro on a circle; the true error of a rule is known at every step. For example:

    driftline demo --steps 500
    """
    from rich.console import Console

    from driftline.cli.demo import run_demo

    run_demo(Console(), steps, seed)


@app.command()
def models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A classifier, to see its parameters.", show_default=False)
    ] = None,
    json: JsonFile = None,
) -> None:
    """List the classifiers that can be had by name, and what to install for those that are missing.

    In Python: driftline.registry.create(NAME, random_state=0, …). For example:

    driftline models dwm
    """
    from driftline.cli.models import show_models

    show_models(name, json)


@app.command()
def paper(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An experiment, or the word list, or all.", show_default=False)
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Small streams and their beginnings: some minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="All rows of all streams: hours.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes at a time; -1 for as many as there are cores.")] = -1,
    backend: Annotated[str, typer.Option(help="That of joblib: loky, or a cluster's, such as dask or ray.")] = "loky",
    resume: Annotated[
        bool, typer.Option(help="Use the results that are there, and go on with what was killed; or run all anew.")
    ] = True,
    run: Annotated[bool, typer.Option(help="Run what is not there; or make do with the results that are.")] = True,
    rerun_stale: Annotated[
        bool, typer.Option("--rerun-stale", help="Repeat the runs whose kept results were made by other code.")
    ] = False,
    store: Annotated[Path, typer.Option(help="Folder of results: what is there is not run again.")] = DEFAULT_STORE,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and pages.")] = DEFAULT_OUT,
) -> None:
    """Reproduce a table or a figure of the paper, beside what is published.

    A table is printed, and written as CSV, Markdown, LaTeX and HTML; a figure is drawn as SVG and PNG, with its points
    as CSV and a page as HTML. Runs that were done are not repeated; results that other code made are shown as stale.
    Streams are looked for as driftline data says. For example:

    driftline paper list

    driftline paper figure1 --quick
    """
    from driftline.cli.paper import reproduce

    reproduce(
        name,
        quick=quick,
        full=full,
        jobs=jobs,
        backend=backend,
        resume=resume,
        run=run,
        rerun_stale=rerun_stale,
        store=store,
        out=out,
    )


@data.command("list")
def list_streams(json: JsonFile = None) -> None:
    """List the published streams, their statistics, and where they are.

    Majority is the share of the largest class, no change the error of predicting the previous label, both in percent.
    A stream that is raw is there as its authors publish it, and is converted when it is loaded. For example:

    driftline data list --json -
    """
    from driftline.cli.data import list_all

    list_all(json)


@data.command()
def info(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A stream; driftline data list shows all.", show_default=False)
    ],
    json: JsonFile = None,
) -> None:
    """Say all that is known of a published stream: columns, traps, origin, licence, digests, and where it is.

    For example:

    driftline data info weather
    """
    from driftline.cli.data import show_one

    show_one(name, json)


@data.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Streams, or the word all.", show_default=False)],
) -> None:
    """Download streams, convert them to the normal form, check them and keep them in the cache.

    A stream that is here already is checked. Where one fails, the others are fetched all the same. For example:

    driftline data fetch weather poker
    """
    from driftline.cli.data import fetch_all

    fetch_all(names)


app.add_typer(data, name="data")
