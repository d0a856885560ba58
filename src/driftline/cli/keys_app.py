"""The commands of ``driftline keys``, their arguments and their help."""

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_DATA = Path("driftline-data")
DataFolder = Annotated[
    Path, typer.Option("--data", metavar="FOLDER", help="Folder of the server's database, as in driftline serve.")
]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="DRIFTLINE_DATABASE",
        help="The server's database, as in driftline serve, if it is not in the folder.",
    ),
]

keys = typer.Typer(
    help="Create, list and revoke the keys of driftline serve.\n\n"
    "As long as there is no key, whoever reaches the server may do everything; with the first one, every request needs "
    "a key. A server that runs knows of changes after a few seconds. For example:\n\n"
    "driftline keys create root",
    no_args_is_help=True,
)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, to tell keys apart.", show_default=False)],
    scope: Annotated[
        list[str],
        typer.Option(
            metavar="STREAM=ROLE",
            help="What the key may do: read, write (predict, label and learn too) or admin (all else); * stands for "
            "all streams. May be given several times.",
        ),
    ] = ["*=admin"],  # noqa: B006  # typer copies it
    data: DataFolder = DEFAULT_DATA,
    database: Database = None,
) -> None:
    """Create a key, and print it. It cannot be shown again, because only its hash is stored.

    For example:

    driftline keys create billing --scope payments=write --scope '*=read'
    """
    from driftline.cli.keys import create_key

    create_key(name, scope, data, database)


@keys.command("list")
def list_keys(data: DataFolder = DEFAULT_DATA, database: Database = None) -> None:
    """List the keys that have not been revoked.

    For example:

    driftline keys list
    """
    from driftline.cli.keys import show_keys

    show_keys(data, database)


@keys.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The id of the key, as driftline keys list shows it.")],
    data: DataFolder = DEFAULT_DATA,
    database: Database = None,
) -> None:
    """Revoke a key.

    For example:

    driftline keys revoke 0123456789ab
    """
    from driftline.cli.keys import revoke_key

    revoke_key(key, data, database)
