"""How requests are answered: what was carried out, what was refused and why, and what went wrong."""

from __future__ import annotations

from typing import Any, Final

import structlog
from msgspec import UNSET, Struct

from tictactoe_protocol import ErrorCode, encode, error_answer
from tictactoe_protocol.pushes import Ok
from tictactoe_server.core.live_room import Change, LiveRoom
from tictactoe_server.core.rooms import Player, Refused
from tictactoe_server.core.session import Session
from tictactoe_server.storage.store import StoreBusy, StoreUnavailable, Unreadable
from tictactoe_server.transport.frames import encode_frame

log: Final = structlog.get_logger(__name__)


class Call(Struct, frozen=True, eq=False):
    """A `request` of a `session`'s `player` that came at `now` (ms of served time); `live` is the room it names."""

    session: Session
    player: Player
    request: Any
    live: LiveRoom
    now: int

    def answer(self, **content: Any) -> None:
        """Say that it was carried out, to one who gave it an id; see `Ok` for what may be said."""
        if self.request.id is not UNSET:
            self.session.push(Ok(id=self.request.id, **content))

    def answer_with_room(self, live: LiveRoom) -> None:
        """Say that it led into a room, and what has been played there."""
        seat = live.room.mark_of(self.player.id) if live.is_played_by(self.session) else None
        self.answer(room=live.room.code, seat=seat, moves=live.room.position.moves)


def refuse(session: Session, request: Any, error: Exception) -> None:
    """Say why a request was not carried out; what is nobody's intention is logged."""
    refused = _refusal_of(request, error)
    session.refuse(
        error_answer(
            refused.code,
            refused.message,
            id=None if request.id is UNSET else request.id,
            room=getattr(request, "room", None),
            path=refused.path,
            retry_ms=refused.retry_ms,
            url=refused.url,
            data=refused.data,
        )
    )


def _refusal_of(request: object, error: Exception) -> Refused:
    kind = type(request).__name__
    match error:
        case Refused():
            return error
        case StoreBusy():
            return Refused(ErrorCode.BUSY, "store", retry_ms=500)
        case StoreUnavailable() if not isinstance(error, Unreadable):
            log.warning("store unavailable", request=kind)
            return Refused(ErrorCode.UNAVAILABLE, retry_ms=1000)
        case _:
            log.error("a request failed", request=kind, exc_info=error)
            return Refused(ErrorCode.INTERNAL)


class Requested(Change, kw_only=True, eq=False):
    """A change that a session asked for, which is busy until it is settled."""

    call: Call

    def settled(self, error: Exception | None) -> tuple[Session, bytes] | None:
        """Answer, and let the session go on."""
        session = self.call.session
        answer = None
        if error is None:
            answer = self.carried_out()
        else:
            refuse(session, self.call.request, error)
        session.go_on()
        return answer

    def carried_out(self) -> tuple[Session, bytes] | None:
        """Answer what is stored, before anybody is shown it; returns the answer where it goes out with the state."""
        id = self.call.request.id
        return None if id is UNSET else (self.call.session, encode_frame(encode(Ok(id=id))))
