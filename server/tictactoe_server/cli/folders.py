"""The option that names a data folder, as every command has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

MEMORY: Final = ":memory:"


class Place:
    """Which server is meant: by its data folder, None where it keeps nothing, and by its port."""

    def __init__(self, data: str, port: int) -> None:
        self.folder = folder_of(data)
        self.port = port


def folder_of(data: str) -> Path | None:
    """Return the folder that `--data` names, None for none."""
    return None if data == MEMORY else Path(data).expanduser()


def data_option(words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option `--data` of a command, which goes before that of the program."""
    return click.option("--data", "own_data", metavar="DIR", help=words)


def chosen_folder(context: click.Context, own_data: str | None) -> Path:
    """Return the folder of a command; raises `click.UsageError` where nothing is kept."""
    place: Place = context.obj
    folder = place.folder if own_data is None else folder_of(own_data)
    if folder is None:
        raise click.UsageError("A server with --data :memory: keeps nothing.")
    return folder
