"""The options that say where a store on NATS is and who asks, as every command about one has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., object])

store_option = click.option(
    "--store",
    metavar="URLS",
    envvar="TICTACTOE_STORE",
    required=True,
    help="The NATS servers, as in nats://a.example,b.example,c.example.",
)
_CREDENTIALS = click.option(
    "--store-credentials",
    type=click.Path(path_type=Path),
    metavar="FILE",
    envvar="TICTACTOE_STORE_CREDENTIALS",
    help="Who you are: a user's credentials for NATS, or the seed of an nkey.",
)
_AUTHORITIES = click.option(
    "--store-ca",
    type=click.Path(path_type=Path),
    metavar="FILE",
    envvar="TICTACTOE_STORE_CA",
    help="Certificates to trust instead of the system's, in PEM.",
)


def access_options(command: Decorated) -> Decorated:
    """Give a command the options that say who asks, and whom to trust."""
    return _CREDENTIALS(_AUTHORITIES(command))
