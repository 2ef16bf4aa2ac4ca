"""How requests are answered: what was carried out, what was refused and why, and what went wrong."""

from __future__ import annotations

from typing import Any, Final

import structlog
from msgspec import UNSET

from tictactoe_protocol import ErrorCode, error_answer
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Request
from tictactoe_server.core.live_room import Change, LiveRoom
from tictactoe_server.core.session import Session
from tictactoe_server.rooms import Command, Player, Refused
from tictactoe_server.storage.store import StoreBusy, StoreUnavailable, Unreadable

log: Final = structlog.get_logger(__name__)


def answer(session: Session, request: Request, **content: Any) -> None:
    """Say that a request was carried out, to one who gave it an id; see `Ok` for what may be said."""
    if request.id is not UNSET:
        session.push(Ok(id=request.id, **content))


def answer_with_room(session: Session, request: Request, live: LiveRoom) -> None:
    """Say that a request led into a room, and what has been played there."""
    player = session.player
    seat = live.room.mark_of(player.id) if player is not None and live.is_played_by(session) else None
    answer(session, request, room=live.room.code, seat=seat, moves=live.room.position.moves)


def refuse(session: Session, request: Request, error: Exception) -> None:
    """Say why a request was not carried out; what is nobody's intention is logged."""
    refused = _refusal_of(request, error)
    id = None if request.id is UNSET else request.id
    room = getattr(request, "room", None)
    session.refuse(
        error_answer(
            refused.code,
            refused.message,
            id=id,
            room=room,
            path=refused.path,
            retry_ms=refused.retry_ms,
            url=refused.url,
        )
    )


def _refusal_of(request: Request, error: Exception) -> Refused:
    kind = type(request).__name__
    match error:
        case Refused():
            return error
        case StoreBusy():
            return Refused(ErrorCode.BUSY, "The server has too much to store at once.", retry_ms=500)
        case StoreUnavailable() if not isinstance(error, Unreadable):
            log.warning("store unavailable", request=kind)
            return Refused(ErrorCode.UNAVAILABLE, "The server cannot store this now.", retry_ms=1000)
        case _:
            log.error("a request failed", request=kind, exc_info=error)
            return Refused(ErrorCode.INTERNAL, "The server made a mistake.")


class Asked(Change):
    """A change that a session asked for, and waits for before its next request."""

    __slots__ = ("request", "session")

    def __init__(
        self, session: Session, player: Player, request: Request, live: LiveRoom, command: Command, now: int
    ) -> None:
        super().__init__(live, player, command, now)
        self.session = session
        self.request = request
        session.is_busy = True

    def settled(self, error: Exception | None) -> None:
        """Answer, and let the session go on."""
        if error is None:
            self.carried_out()
        else:
            refuse(self.session, self.request, error)
        self.session.go_on()

    def carried_out(self) -> None:
        """Answer what is stored, before anybody is shown it."""
        answer(self.session, self.request)
