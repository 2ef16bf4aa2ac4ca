"""The option for the data folder, which several commands have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., object])


def chosen_folder(context: click.Context, own_data: str | None) -> Path | None:
    """Return the data folder from a command's own `--data`, or else from the program's; None for ``:memory:``."""
    data = context.find_root().params["data"] if own_data is None else own_data
    return None if data == ":memory:" else Path(data).expanduser()


def with_folder(help: str) -> Callable[[Decorated], Decorated]:
    """Return a decorator that passes the data folder to a command as `folder`. It refuses ``:memory:``."""

    def find(context: click.Context, option: click.Parameter, own_data: str | None) -> Path:
        folder = chosen_folder(context, own_data)
        if folder is None:
            raise click.UsageError("This command requires a data folder; a server with --data :memory: has none.")
        return folder

    return click.option("--data", "folder", metavar="DIR", help=help, callback=find)
