"""The purpose of a tournament's rooms: each is for one game between two players and ends with a result."""

from __future__ import annotations

from typing import Final, cast

from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.events import round_of
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import Purpose, Room, Terms

NAME: Final = "event"
TERMS: Final = Terms(
    is_organised=True,
    absence="loses",
    games_count="never",
    is_aborted=False,
    stands_still=True,
    draw_from=EVENT_DRAW_PLY,
    undo=False,
    rematch=False,
    hints=False,
    guests=False,
)


def purpose_of(event: str, pairing: str) -> Purpose:
    """Return the purpose of the room for a pairing of an event."""
    return Purpose(NAME, {"event": event, "pairing": pairing, "round": round_of(pairing)}, TERMS)


def event_of(room: Room | FinishedGame) -> str:
    """Return the code of the event that a room or game belongs to, or ""."""
    return cast(str, room.purpose.fields.get("event", ""))
