"""The store of several servers, in NATS JetStream.

Only the modules in this package import the NATS library, which a single server does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tictactoe_server.storage.store import CannotOpenStore


def hidden(urls: str) -> str:
    """Return `urls` without credentials, for messages and logs.

    >>> hidden("nats://ana:secret@a,b")
    'nats://a,b'
    """
    scheme, separator, rest = urls.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


@contextmanager
def needing_nats() -> Iterator[None]:
    """Raise `CannotOpenStore` if an import within the context fails because nats-py is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("nats", "nkeys", "nacl"):
            raise
        raise CannotOpenStore("--store requires the package nats-py: pip install '.[cluster]'.") from missing


def access_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the store's credentials and certificates to `command`."""
    for name, help in (
        ("store-ca", "CA certificates for the NATS servers (PEM). [default: the system's]"),
        ("store-credentials", "Credentials for NATS: a .creds file, or the seed of an nkey."),
    ):
        variable = f"TICTACTOE_{name.replace('-', '_').upper()}"
        option = click.option(f"--{name}", type=click.Path(path_type=Path), metavar="FILE", envvar=variable, help=help)
        command = option(command)
    return command
