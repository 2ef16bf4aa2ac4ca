"""What the server can do, as services that plug into the core: each says what it handles, keeps and shows."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.topics import Topic
from tictactoe_server.storage.specs import TableSpec

Handler = Callable[[Call], Coroutine[Any, Any, bool | None] | None]
"""Carries a request out, at once or as a coroutine; raises `Refused`. The session waits for the end of it, and longer
where a coroutine returns True: then a change follows that lets the session go on."""


class Service:
    """What `handles` some kinds of requests. Those that name a room are for whoever is in it, but for those that it
    `admits`, by which one comes in. Its `tables` are made by every store, and its `topics` are those that sessions may
    subscribe to.
    """

    handles: Mapping[type, Handler] = {}
    admits: frozenset[type] = frozenset()
    tables: Sequence[TableSpec[Any]] = ()
    topics: Sequence[Topic] = ()

    def start(self, core: Core) -> None:
        """Begin, before anybody is let in: here is where listeners are added to the core."""

    async def close(self) -> None:
        """End what is still under way."""
