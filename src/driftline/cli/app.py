"""The commands, their arguments and their help; the code of a command is imported when it is called."""

from pathlib import Path
from typing import Annotated

import typer

from driftline.cli.data_app import data
from driftline.cli.keys_app import DEFAULT_DATA, keys
from driftline.cli.options import (
    MAX_BYTES,
    OUTPUT,
    READING,
    BadRows,
    By,
    Categorical,
    CostsFile,
    CoverageLevel,
    Delay,
    Delimiter,
    Encoding,
    ErrorLevel,
    Header,
    Ignore,
    JsonFile,
    Label,
    LabelMemory,
    LayoutFile,
    Limit,
    MaxBytes,
    Model,
    ModelFile,
    Models,
    OnBadRow,
    Parameters,
    Positive,
    Quiet,
    Report,
    Save,
    Seed,
    Source,
    Time,
    ToleratedLevel,
    Use,
)

DEFAULT_STORE = Path("experiments/results")
DEFAULT_OUT = Path("paper")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 success; 1 failure; 2 wrong usage; 130 interrupted by Ctrl-C, after the results so far were "
    "written; 143 ended by SIGTERM.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from driftline import __version__

        typer.echo(f"driftline {__version__}")
        raise typer.Exit


@app.callback()
def driftline(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
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
    error: ErrorLevel = None,
    coverage: CoverageLevel = None,
    tolerated: ToleratedLevel = None,
    positive: Positive = None,
    label_memory: LabelMemory = False,
    costs: CostsFile = None,
    time: Time = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    use: Use = None,
    layout: LayoutFile = None,
    on_bad_row: BadRows = OnBadRow.STOP,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    report: Report = None,
    save: Save = None,
    json: JsonFile = None,
    write_layout: Annotated[
        Path | None,
        typer.Option(
            "--write-layout",
            metavar="FILE",
            help="Write how the columns were understood to a TOML file, to be edited and passed as --layout.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run a classifier over a stream: predict each row, then learn its label.

    Shows the error with its limits, what could be answered at a chosen error, sets of labels, alarms, when the stream
    changed and which columns changed. Ctrl-C ends a run early; the results so far are shown and written. For example:

    driftline run my.csv --label class --report my.html --save my.driftline

    cat my.csv | driftline run - --label class --json -
    """
    from driftline.cli.guarantees import chosen_guarantees
    from driftline.cli.run import run_stream
    from driftline.cli.source import ReadOptions

    run_stream(
        source,
        ReadOptions(label, time, ignore, categorical, on_bad_row, header, delimiter, encoding, use, layout),
        model,
        parameters or [],
        delay=delay,
        limit=limit,
        seed=seed,
        guarantees=chosen_guarantees(error, coverage, tolerated),
        positive=positive,
        label_memory=label_memory,
        costs=costs,
        report=report,
        save=save,
        json=json,
        layout_file=write_layout,
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
    error: ErrorLevel = None,
    coverage: CoverageLevel = None,
    tolerated: ToleratedLevel = None,
    positive: Positive = None,
    by: By = "error",
    time: Time = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    use: Use = None,
    layout: LayoutFile = None,
    on_bad_row: BadRows = OnBadRow.STOP,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    report: Report = None,
    json: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Run several classifiers over the same stream, and test whether the best one is significantly better.

    The confidence intervals and p-values compare each classifier with the best one, by batches of rows; both are
    corrected for the number of pairs. After Ctrl-C, or if a classifier fails, the finished ones are compared. For
    example:

    driftline compare my.csv --label class --models amrc,dwm,majority

    driftline compare my.csv --label class --models amrc,dwm --by balanced-accuracy
    """
    from driftline.cli.compare import compare_models
    from driftline.cli.guarantees import chosen_guarantees
    from driftline.cli.source import ReadOptions

    compare_models(
        source,
        ReadOptions(label, time, ignore, categorical, on_bad_row, header, delimiter, encoding, use, layout),
        models,
        delay=delay,
        limit=limit,
        seed=seed,
        guarantees=chosen_guarantees(error, coverage, tolerated),
        positive=positive,
        by=by,
        report=report,
        json=json,
        quiet=quiet,
    )


@app.command()
def predict(
    model: ModelFile,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The rows to predict; - for the standard input.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The file to write: Parquet if its name ends in .parquet, otherwise CSV; - for the standard output.",
        ),
    ] = Path("-"),
    on_bad_row: BadRows = OnBadRow.STOP,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="The encoding of a text file. By default that of the file that the model learned from.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column by which you recognise rows; it is written first. Its name, or its position counted from 0.",
            show_default=False,
        ),
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(
            "--learn",
            metavar="FILE",
            help="Learn labels of rows that were predicted earlier: from a file with a column of ids and one of "
            "labels, or with - from the lines of the input that have a label, which are not answered. Needs --id.",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Save the model after the last row, with what it has learned and the rows whose labels it waits for. "
            "Needs --id.",
            show_default=False,
        ),
    ] = None,
    safe_cells: Annotated[
        bool,
        typer.Option(
            "--safe-cells",
            help="Put an apostrophe before labels that a spreadsheet would take for a formula (text that begins with "
            "=, +, -, @, a tab or a line break, and is not a number).",
        ),
    ] = False,
    max_bytes: MaxBytes = MAX_BYTES,
) -> None:
    """Predict new rows: a label, or none if the row should be handed over, and how far it can be trusted.

    The file must have the columns that the model learned from, in any order. It needs no labels, and other columns are
    ignored. Rows are numbered by their lines in the file. Models of amrc and its variants have an answer, blank
    where the row should be handed over; the confidence that the prediction is right; a bound on the error of this row;
    and the set of labels that can be right, at the first levels that the model follows (run --error, --coverage). For
    example:

    driftline predict my.driftline new.csv --out predictions.csv

    Rows that come through a pipe are answered one by one, as they come:

    tail -f events.csv | driftline predict my.driftline - --id order
    """
    from driftline.cli.predict import predict_file

    given = {"has_header": header, "delimiter": delimiter, "encoding": encoding}
    changes = {name: value for name, value in given.items() if value is not None}
    predict_file(
        model,
        file,
        out,
        str(on_bad_row),
        changes,
        id_column=id_column,
        learn=learn,
        save=save,
        safe_cells=safe_cells,
        max_bytes=max_bytes,
    )


@app.command()
def explain(
    model: ModelFile,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of lines to show.")] = 20,
    json: JsonFile = None,
    max_bytes: MaxBytes = MAX_BYTES,
) -> None:
    """Show which columns of which classes are moving, how fast, and how surprising that is.

    The result describes the time of the last rows that the model has learned. For example:

    driftline explain my.driftline
    """
    from driftline.cli.explain import explain_model

    explain_model(model, top, json, max_bytes)


@app.command()
def demo(
    steps: Annotated[int, typer.Option(min=20, help="Length of the stream.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the stream and of the randomised rule.")] = 0,
) -> None:
    """Run AMRC and the published method on the paper's synthetic stream, and compare errors with bounds.

    Two Gaussian classes move back and forth on a circle; the true error of a rule is known at every step. For example:

    driftline demo --steps 500
    """
    from driftline.cli.demo import run_demo
    from driftline.cli.output import DataConsole

    run_demo(DataConsole(), steps, seed)


@app.command()
def models(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A classifier; shows its description and parameters.", show_default=False),
    ] = None,
    json: JsonFile = None,
) -> None:
    """List the classifiers, and the packages to install for those that are missing.

    In Python: driftline.registry.create(NAME, random_state=0, …). For example:

    driftline models dwm
    """
    from driftline.cli.models import show_models

    show_models(name, json)


@app.command()
def paper(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An experiment, or the word list or all.", show_default=False)
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Only small streams, and only their first rows: takes some minutes.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="All rows of all streams: takes hours.")] = False,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for one on each core.")] = -1,
    backend: Annotated[
        str, typer.Option(help="The joblib backend: loky, or one of a cluster, such as dask or ray.")
    ] = "loky",
    resume: Annotated[
        bool, typer.Option(help="Use stored results and continue interrupted runs, or run everything again.")
    ] = True,
    run: Annotated[bool, typer.Option(help="Run what has no stored result, or use stored results only.")] = True,
    rerun_stale: Annotated[
        bool, typer.Option("--rerun-stale", help="Repeat the runs whose stored results were made by other code.")
    ] = False,
    store: Annotated[Path, typer.Option(help="Folder of stored results.")] = DEFAULT_STORE,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and pages.")] = DEFAULT_OUT,
) -> None:
    """Reproduce a table or figure of the paper, next to the published one.

    A table is printed, and written as CSV, Markdown, LaTeX and HTML. A figure is written as SVG and PNG, with its
    points as CSV and a page as HTML. Runs with a stored result are not repeated; results of other code are shown as
    stale. For the streams, see driftline data. For example:

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


@app.command()
def serve(
    data_folder: Annotated[
        Path, typer.Option("--data", metavar="FOLDER", help="Folder of the database; created if it does not exist.")
    ] = DEFAULT_DATA,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 for any that is free.")] = 8000,
    expire_after: Annotated[
        float, typer.Option(metavar="DAYS", help="Days after which a row without a label is given up.")
    ] = 30.0,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="DRIFTLINE_DATABASE",
            help="Database to use in place of SQLite: postgresql://user:password@host/name.",
        ),
    ] = None,
    kafka: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML file that names topics of Kafka, where to read rows and labels and to publish predictions, "
            "with lines such as servers = 'localhost:9092', streams.payments.rows = 'rows', streams.payments.labels = "
            "'labels' and streams.payments.predictions = 'predictions'.",
        ),
    ] = None,
) -> None:
    """Serve live streams over HTTP: predictions now, labels later, and nothing lost.

    All that was answered is on disk: after a crash, the server goes on with the same models, and the rows that wait for
    labels. Ctrl-C stops it. For example:

    driftline serve

    driftline serve --kafka kafka.toml

    curl localhost:8000/v1/streams -H 'Content-Type: application/json' -d '{"name": "payments"}'
    """
    from driftline.cli.serve import serve

    serve(data_folder, host, port, expire_after, database, kafka)


@app.command("warm-up")
def warm_up(quiet: Quiet = False) -> None:
    """Compile ahead what driftline's classifiers need, for example when a container image is built.

    The first use of a classifier compiles it, which takes up to a minute, and saves the machine code: in the folder
    named by the environment variable NUMBA_CACHE_DIR, otherwise beside the installed package or in the user's cache.
    Later processes use it, also if the folder is then read-only. For example:

    driftline warm-up
    """
    from driftline.cli.warm_up import warm_up

    warm_up(quiet=quiet)


app.add_typer(data, name="data")
app.add_typer(keys, name="keys")
