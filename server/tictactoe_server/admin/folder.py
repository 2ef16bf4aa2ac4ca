"""The data folder, which several commands need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., object])


def chosen_folder(context: click.Context, own_data: str | None) -> Path | None:
    """Return the data folder by a command's own `--data` or that of the program, None for ``:memory:``."""
    data = context.find_root().params["data"] if own_data is None else own_data
    return None if data == ":memory:" else Path(data).expanduser()


def with_folder(help: str) -> Callable[[Decorated], Decorated]:
    """Pass the data folder to a command, which cannot be ``:memory:``."""

    def find(context: click.Context, option: click.Parameter, own_data: str | None) -> Path:
        folder = chosen_folder(context, own_data)
        if folder is None:
            raise click.UsageError("A server with --data :memory: keeps nothing.")
        return folder

    return click.option("--data", "folder", metavar="DIR", help=help, callback=find)
