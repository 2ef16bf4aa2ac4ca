"""The requests without an answer yet, and which of them may be sent once more after a loss."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Final, Literal, get_args

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from tictactoe_client.online import errors
from tictactoe_client.online.room import Room
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Request

_ENTERING: Final = frozenset({"create", "match", "join", "watch"})
_ONCE: Final = frozenset({"hello", "create", "match", "undo", "claim", "chat", "event_open"})
_REPEATABLE: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - _ONCE
"""What may be sent a second time; so may an undo that names its game and position."""


class Pending:
    """A request without an answer yet: it is to be sent, was sent, or its answer is looked for elsewhere.

    `text` is what is sent, and `room` the code of the room that it is about, if any; one that `enters` may lead into a
    room that we are not in. What `may_be_repeated` changes nothing, or is refused, when it is sent a second time.
    `brings_back` is the room of ours into which it leads us again. `waited_seconds` is how long was waited so far as
    the servers did not agree which of them has the room.
    """

    def __init__(self, request: Request | Mapping[str, object], brings_back: Room | None = None) -> None:
        said = to_builtins(request)
        kind = str(said.get("type"))
        self.text = encode(said).decode()
        self.id, self.room = str(said["id"]), str(said.get("room") or "")
        self.enters = kind in _ENTERING
        self.may_be_repeated = kind in _REPEATABLE or (kind == "undo" and {"game", "ply"} <= said.keys())
        self.brings_back = brings_back
        self.stands: Literal["unsent", "sent", "elsewhere"] = "unsent"
        self.waited_seconds = 0.0
        self.answer: asyncio.Future[Ok] = asyncio.get_running_loop().create_future()
        # Where nobody waits any more, nobody misses an answer that is an error.
        self.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())

    def fail(self, error: Exception) -> None:
        """Let an error be the answer, where there is none yet."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Unanswered(dict[str, Pending]):
    """All requests without an answer, by their ids, in the order in which they were asked."""

    def __init__(self) -> None:
        super().__init__()
        self._ids = itertools.count(1)

    @property
    def open(self) -> list[Pending]:
        """Those that somebody still waits for."""
        return [pending for pending in self.values() if not pending.answer.done()]

    def expect(self, request: Request | Mapping[str, object], brings_back: Room | None = None) -> Pending:
        """Expect an answer to a request, which gets an id of our own where it is none of JSON and has none."""
        if not isinstance(request, Mapping) and request.id is UNSET:
            request = replace(request, id=f"client-{next(self._ids)}")
        pending = Pending(request, brings_back)
        self[pending.id] = pending
        return pending

    def take_back(self) -> None:
        """Let all be sent once more whose answers will not come; what must not be sent twice fails."""
        for pending in self.open:
            if pending.stands == "sent" and pending.may_be_repeated:
                pending.stands = "unsent"
            elif pending.stands == "sent":
                pending.fail(errors.Interrupted())
