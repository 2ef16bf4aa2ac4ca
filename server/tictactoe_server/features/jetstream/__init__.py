"""Several servers with one store. Only modules of this package need the NATS library; single servers don't load it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tictactoe_server.storage.store import CannotOpenStore


def hidden(urls: str) -> str:
    """Return URLs without credentials, for people to read.

    >>> hidden("nats://ana:secret@a,b")
    'nats://a,b'
    """
    scheme, separator, rest = urls.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


@contextmanager
def needing_nats() -> Iterator[None]:
    """Guard imports of NATS modules; raises `CannotOpenStore` if nats-py is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("nats", "nkeys", "nacl"):
            raise
        raise CannotOpenStore("A store on NATS needs the library nats-py: pip install '.[cluster]'.") from missing
