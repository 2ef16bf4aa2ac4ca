"""Requests that have no answer yet: each waits for its own, whatever connection brings it, or for an error."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.connection import Connection
from tictactoe_client.online.errors import Interrupted
from tictactoe_client.online.messages import refusal_of
from tictactoe_protocol.pushes import Error, Ok
from tictactoe_protocol.requests import (
    Analyse,
    Draw,
    History,
    Join,
    Leave,
    Lobby,
    Move,
    Ping,
    Record,
    Rematch,
    Request,
    Resign,
    Rooms,
    Sync,
    Undo,
    Watch,
)

_OWN_ID_PREFIX: Final = "client-"
_REPEATABLE: Final = (
    *(Move, Join, Watch, Leave, Resign, Rematch, Draw),
    *(Sync, Rooms, Lobby, Ping, History, Record, Analyse),
)
"""What may be sent a second time where the answer to the first was lost: it changes nothing, or is refused, then.

So may an undo that names its game and position.
"""
_REPEATABLE_TYPES: Final = frozenset(str(request.__struct_config__.tag) for request in _REPEATABLE)


def is_repeatable(request: Request) -> bool:
    """Tell whether a request may be sent a second time."""
    if isinstance(request, Undo):
        return request.game is not UNSET and request.ply is not UNSET
    return isinstance(request, _REPEATABLE)


def is_repeatable_line(line: Mapping[str, object]) -> bool:
    """Tell the same of what stands in a message."""
    kind = line.get("type")
    return kind in _REPEATABLE_TYPES or (kind == "undo" and {"game", "ply"} <= line.keys())


@dataclass(slots=True)
class Pending:
    """A request without an answer yet, and the connection over which it was sent last, if any."""

    request: Request
    answer: asyncio.Future[Ok]
    sent_over: Connection | None = None

    @property
    def id(self) -> str:
        """The id by which the answer is known."""
        return str(self.request.id)

    def fail(self, error: Exception) -> None:
        """Let an error be the answer, where there is none yet."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def forget(self) -> None:
        """Let nobody miss the answer."""
        if not self.answer.cancel() and not self.answer.cancelled():
            self.answer.exception()


class PendingRequests:
    """All of them, in the order in which they were asked."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._waiting: dict[str, Pending] = {}

    def add(self, request: Request) -> Pending:
        """Return a request that is to be answered, with an id of our own where it has none."""
        if request.id is UNSET:
            request = _with_id(request, f"{_OWN_ID_PREFIX}{next(self._ids)}")
        pending = Pending(request, asyncio.get_running_loop().create_future())
        self._waiting[pending.id] = pending
        return pending

    def remove(self, pending: Pending) -> None:
        """Expect no answer any more."""
        self._waiting.pop(pending.id, None)

    def unsent(self, connection: Connection) -> list[Pending]:
        """Return those that did not go out over this connection."""
        return [pending for pending in self._waiting.values() if pending.sent_over is not connection]

    def settle(self, reply: Ok) -> Request | None:
        """Hand an answer to whom it belongs; return what was asked, None where nobody waits for it."""
        pending = self._waiting.get(reply.id)
        if pending is None or pending.answer.done():
            return None
        pending.answer.set_result(reply)
        return pending.request

    def reject(self, error: Error) -> None:
        """Hand a refusal to whom it belongs."""
        pending = self._waiting.get(error.id or "")
        if pending is not None:
            pending.fail(refusal_of(error))

    def interrupt(self) -> None:
        """Fail what was sent over a connection that is gone and must not be sent twice."""
        for pending in self._waiting.values():
            if pending.sent_over is not None and not is_repeatable(pending.request):
                pending.fail(Interrupted())

    def fail_all(self, error: Exception) -> None:
        """There will be no answers any more."""
        for pending in self._waiting.values():
            pending.fail(error)


def _with_id(request: Request, identity: str) -> Request:
    return replace(request, id=identity)
