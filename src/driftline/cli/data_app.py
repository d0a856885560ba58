"""The commands of ``driftline data``, their arguments and their help."""

from typing import Annotated

import typer

from driftline.cli.options import JsonFile

data = typer.Typer(
    help="List, describe and download published streams.\n\n"
    "The stream flights comes with driftline. Any other is searched for in the folder named by the environment "
    "variable DRIFTLINE_DATA, then in the user's cache (or the folder named by DRIFTLINE_CACHE). In Python: "
    "driftline.streams.load(NAME). For example:\n\n"
    "driftline data list",
    no_args_is_help=True,
)


@data.command("list")
def list_streams(json: JsonFile = None) -> None:
    """List the published streams, their statistics, and where they are.

    "majority" is the share of the largest class and "no change" the error of predicting the previous label, both in
    percent. "raw" means that only the original files are there; they are converted when the stream is loaded. For
    example:

    driftline data list --json -
    """
    from driftline.cli.data import list_all

    list_all(json)


@data.command()
def info(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A published stream (see driftline data list).", show_default=False)
    ],
    json: JsonFile = None,
) -> None:
    """Describe a published stream: columns, caveats, origin, licence, digests, and where it is.

    For example:

    driftline data info weather
    """
    from driftline.cli.data import show_one

    show_one(name, json)


@data.command()
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Published streams, or the word all.", show_default=False)
    ],
) -> None:
    """Download published streams, convert them, check them and store them in the cache.

    A stream that is already on this computer is only checked. If one fails, the others are still downloaded. For
    example:

    driftline data fetch weather poker
    """
    from driftline.cli.data import fetch_all

    fetch_all(names)
