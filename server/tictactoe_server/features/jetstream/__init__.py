"""The store of several servers, in NATS JetStream.

Only the modules in this package import the NATS library, which a single server does not need.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
        raise CannotOpenStore("A store on NATS needs the library nats-py: pip install '.[cluster]'.") from missing
