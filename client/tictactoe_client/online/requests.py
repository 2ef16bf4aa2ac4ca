"""What we asked and has no answer yet. It outlives connections."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, get_args

from msgspec import to_builtins

from tictactoe_client.online.connection import Connection
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Request

_REPEATABLE: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - {
    *("hello", "create", "match", "undo", "claim", "chat")
}
"""What may be sent a second time where the answer to the first was lost: it changes nothing, or is refused, then."""


def is_repeatable_line(line: Mapping[str, object]) -> bool:
    """Tell whether a request may be sent a second time; an undo that names its game and position may be, too."""
    kind = line.get("type")
    return kind in _REPEATABLE or (kind == "undo" and {"game", "ply"} <= line.keys())


class Pending:
    """A request without an answer yet, and the connection over which it was sent last, if any."""

    def __init__(self, request: Request | Mapping[str, object]) -> None:
        self.request = request
        self.id = str(request["id"] if isinstance(request, Mapping) else request.id)
        self.sent_over: Connection | None = None
        self.answer: asyncio.Future[Ok] = asyncio.get_running_loop().create_future()
        # Where nobody waits any more, nobody misses an answer that is an error.
        self.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())

    def fail(self, error: Exception) -> None:
        """Let an error be the answer, where there is none yet."""
        if not self.answer.done():
            self.answer.set_exception(error)

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent a second time."""
        return is_repeatable_line(to_builtins(self.request))
