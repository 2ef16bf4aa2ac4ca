"""The options that say where everything is kept and who asks, as several commands have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., object])

store_option = click.option(
    "--store",
    metavar="URLS",
    envvar="TICTACTOE_STORE",
    required=True,
    help="The NATS servers, as in nats://a.example,b.example,c.example.",
)


def access_options(command: Decorated) -> Decorated:
    """Add the options for credentials and certificates of the store to a command."""
    ca = _file_option("store-ca", "Certificates to trust instead of the system's, in PEM.")
    who = _file_option("store-credentials", "Who you are: a user's credentials for NATS, or the seed of an nkey.")
    return who(ca(command))


def _file_option(name: str, help: str) -> Callable[[Decorated], Decorated]:
    variable = f"TICTACTOE_{name.replace('-', '_').upper()}"
    return click.option(f"--{name}", type=click.Path(path_type=Path), metavar="FILE", envvar=variable, help=help)


class Place(NamedTuple):
    """Which server is meant: by its data folder, None where it keeps nothing, and by its port."""

    folder: Path | None
    port: int


def folder_of(data: str) -> Path | None:
    """Return the folder given by `--data`, None for ``:memory:``."""
    return None if data == ":memory:" else Path(data).expanduser()


def with_folder(words: str) -> Callable[[Decorated], Decorated]:
    """Pass the `folder` of the command's own `--data`, or of the program's, to a command."""

    def find(context: click.Context, option: click.Parameter, own_data: str | None) -> Path:
        folder: Path | None = context.obj.folder if own_data is None else folder_of(own_data)
        if folder is None:
            raise click.UsageError("A server with --data :memory: keeps nothing.")
        return folder

    return click.option("--data", "folder", metavar="DIR", help=words, callback=find)
