"""Several servers that share their players and rooms, and keep them in one store.

A server on its own disk does without the library for NATS, which the package `jetstream` needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tictactoe_server.storage.store import CannotOpenStore


def hidden(urls: str) -> str:
    """Return URLs without what tells who we are, for people to read.

    >>> hidden("nats://ana:secret@a,b")
    'nats://a,b'
    """
    scheme, separator, rest = urls.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


@contextmanager
def needing_nats() -> Iterator[None]:
    """Import the NATS modules within; raises `CannotOpenStore` if nats-py is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("nats", "nkeys", "nacl"):
            raise
        raise CannotOpenStore("A store on NATS needs the library nats-py: pip install '.[cluster]'.") from missing
