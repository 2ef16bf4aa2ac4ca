"""What the server can do, as services that plug into the core: each says what it handles, keeps and shows."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.topics import Topic
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.transport.http_messages import HttpResponse

Handler = Callable[[Call], Coroutine[Any, Any, bool | None] | None]
"""Carries a request out, at once or as a coroutine; raises `Refused`. The session waits for the end of it, and longer
where a coroutine returns True: then a change follows that lets the session go on."""


class PageHead(NamedTuple):
    """The page in a browser that will load `module`; the rest is for those who only look at the link."""

    title: str
    description: str
    module: str = "game.js"


Reply = HttpResponse | PageHead | Sequence[str]
"""What is answered in plain HTTP: a response, the page, or lines of text."""

Route = Callable[..., Reply | Coroutine[Any, Any, Reply | None]]
"""Answers an `HttpRequest`, called with it and with the groups of the path, None for one that is not there. Where
its coroutine returns None a room is looked for. Raises `Refused`: `rate_limited` is answered with 429, all else with
404 and counted, so that nothing is found by trying."""


class Service:
    """What `handles` some kinds of requests. Those that name a room are for whoever is in it, but for those that it
    `admits`, by which one comes in. Its `tables` are made by every store, and its `topics` are those that sessions may
    subscribe to. In plain HTTP it answers its `routes`: by regular expressions for whole paths, before any room.
    """

    handles: Mapping[type, Handler] = {}
    admits: frozenset[type] = frozenset()
    tables: Sequence[TableSpec[Any]] = ()
    topics: Sequence[Topic] = ()
    routes: Mapping[str, Route] = {}

    def start(self, core: Core) -> None:
        """Begin, before anybody is let in: here is where listeners are added to the core."""

    async def close(self) -> None:
        """End what is still under way."""
