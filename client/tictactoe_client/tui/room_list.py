"""The public rooms, kept up to date by what the server says of changes; pure but for the time handed in."""

from __future__ import annotations

from typing import Final

from tictactoe_client.text.wording import describe_clock, describe_manners, format_duration
from tictactoe_client.tui.picture import measure, shorten
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import LobbyChange, RoomSummary, RulesState

_MOST_ROOMS: Final = 2_000
"""How many rooms are remembered; of more those that opened first are forgotten."""


class RoomList:
    """Rooms by code, in the order in which they opened, each with the time at which we heard of it."""

    def __init__(self) -> None:
        self._rooms: dict[str, tuple[RoomSummary, float]] = {}

    def reset(self, rooms: tuple[RoomSummary, ...], now: float) -> None:
        """Take the whole list, newest first as the server sends it."""
        self._rooms = {room.room: (room, now) for room in reversed(rooms)}

    def take(self, change: LobbyChange, now: float) -> None:
        """Take what changed."""
        for room in change.changed:
            self._rooms[room.room] = (room, now)
        for code in change.closed:
            self._rooms.pop(code, None)
        for code in list(self._rooms)[:-_MOST_ROOMS]:
            del self._rooms[code]

    def waiting(self, own: str | None) -> list[RoomSummary]:
        """Return the rooms with a free seat that are not of the player `own`, newest first."""
        return [room for room in self._newest("waiting") if not _holds(room, own)]

    def playing(self) -> list[RoomSummary]:
        """Return the rooms in which a game is on, newest first."""
        return self._newest("playing")

    def age_ms(self, room: RoomSummary, now: float) -> int:
        """Return how long a room has been open by now."""
        heard_at = self._rooms[room.room][1] if room.room in self._rooms else now
        return room.age_ms + round((now - heard_at) * 1000)

    def _newest(self, status: str) -> list[RoomSummary]:
        return [room for room, _ in reversed(self._rooms.values()) if room.status == status]


def describe_room(room: RoomSummary, age_ms: int, width: int) -> str:
    """Return a room's row in fixed columns; where these do not fit, as many of its parts as do, the code first."""
    names = " v ".join(clean_text(seat.name) for seat in room.seats.values() if seat is not None) or "-"
    count = "1 move" if room.ply == 1 else f"{room.ply} moves"
    moves = count if room.status == "playing" else describe_clock(room.clock)
    rules, age = ", ".join((*describe_manners(room), short_rules(room.rules))), format_duration(age_ms)
    text = f"{room.room}   {shorten(rules, 24):<24} {shorten(names, 20):<20} {moves:<11} {age}"
    if measure(text) <= width:
        return text
    parts = [room.room, rules, shorten(names, 20), moves, age]
    while len(parts) > 1 and measure("  ".join(parts)) > width:
        parts.pop()
    return "  ".join(parts)


def short_rules(rules: RulesState) -> str:
    """Return rules in very few words: ``15x15, 5 in a row``."""
    parts = [f"{rules.rows}x{rules.columns}"]
    if rules.line != 3 or rules.rows != 3 or rules.columns != 3:
        parts.append(f"{rules.line} in a row")
    if rules.misere:
        parts.append("misère")
    if rules.gravity:
        parts.append("falls")
    if rules.blocked:
        parts.append("blocked")
    return ", ".join(parts)


def _holds(room: RoomSummary, player: str | None) -> bool:
    return any(seat is not None and seat.player == player for seat in room.seats.values())
