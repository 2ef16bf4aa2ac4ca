"""What is asked of a server, and what of it may be sent once more after a loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from msgspec import to_builtins

from tictactoe_client.online.room import Room
from tictactoe_protocol import encode
from tictactoe_protocol.requests import Request

_ENTERING: Final = frozenset({"create", "match", "join", "watch"})
_ONCE: Final = frozenset({"hello", "create", "match", "undo", "claim", "chat", "event_open"})
_REPEATABLE: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - _ONCE
"""What may be sent a second time; so may an undo that names its game and position."""


class Pending:
    """A request for which an answer is wanted; it gets an id where it is none of JSON and has none.

    `text` is what is sent, and `room` the code of the room that it is about, if any; one that `enters` may lead into a
    room that we are not in. What `may_be_repeated` changes nothing, or is refused, when it is sent a second time.
    `brings_back` is the room of ours into which it leads us again. `waited_seconds` is how long was waited so far as
    the servers did not agree which of them has the room.
    """

    def __init__(
        self, request: Request | Mapping[str, object], new_id: str = "", brings_back: Room | None = None
    ) -> None:
        said = {"id": new_id} | to_builtins(request)
        kind = str(said.get("type"))
        self.text = encode(said).decode()
        self.id, self.room = str(said["id"]), str(said.get("room") or "")
        self.enters = kind in _ENTERING
        self.may_be_repeated = kind in _REPEATABLE or (kind == "undo" and {"game", "ply"} <= said.keys())
        self.brings_back = brings_back
        self.waited_seconds = 0.0
