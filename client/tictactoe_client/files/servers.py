"""Which servers are meant: one by its URL, or all addresses of a house, each of which has rows of its own.

With any one of them what was kept for the house is found again, by older clients, too.
"""

from __future__ import annotations

Servers = str | tuple[str, ...]


def each_of(servers: Servers) -> tuple[str, ...]:
    """Return the URLs.

    >>> each_of("ws://one"), each_of(("ws://one", "ws://two"))
    (('ws://one',), ('ws://one', 'ws://two'))
    """
    return (servers,) if isinstance(servers, str) else servers
