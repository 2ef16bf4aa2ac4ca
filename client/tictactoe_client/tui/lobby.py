"""The public rooms of the server at the other end of the link, and a few boards of games that are on there.

They are learnt when that is wanted, then kept up to date by what the server says of changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from tictactoe_client.online.messages import Message
from tictactoe_client.text.wording import describe_clock, describe_manners
from tictactoe_client.tui.picture import shorten
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import LiveBoard, LiveBoards, LobbyChange, Ok, RoomSummary, RulesState

if TYPE_CHECKING:
    from tictactoe_client.tui.app import TicTacToe

_MOST_ROOMS: Final = 2_000
"""How many rooms are remembered; of more those that opened first are forgotten."""

_BOARDS: Final = 3

COLUMNS: Final = ("room", "game", "players", "who", "clock", "age")
"""What is told of a room in a list, the least important last."""


class Lobby:
    """Rooms by code, in the order in which they opened, each with the time at which we heard of it; for all screens."""

    def __init__(self, desk: TicTacToe) -> None:
        self.boards: tuple[LiveBoard, ...] = ()
        self._desk = desk
        self._rooms: dict[str, tuple[RoomSummary, float]] = {}

    def follow(self, *, on: bool = True) -> None:
        """Learn the rooms, where there is a connection, and have every change told from now on, or none any more."""
        if self._desk.link.phase == "online":
            self._desk.start(self._subscribe(on=on))

    def hear(self, message: Message) -> None:
        """Take lists and changes in the order in which the server tells them.

        What is followed is followed again after a loss, with a list to begin with.
        """
        push, now = message.push, self._desk.now()
        if isinstance(push, LobbyChange):
            for room in push.changed:
                self._rooms[room.room] = (room, now)
            for code in push.closed:
                self._rooms.pop(code, None)
            for code in list(self._rooms)[:-_MOST_ROOMS]:
                del self._rooms[code]
        elif isinstance(push, LiveBoards):
            self.boards = push.boards
        elif isinstance(push, Ok) and push.rooms is not UNSET:
            self._rooms = {room.room: (room, now) for room in reversed(push.rooms)}

    def forget(self) -> None:
        """Know of no room: those of the next server are others."""
        self._rooms, self.boards = {}, ()

    def waiting(self, own: str | None) -> list[RoomSummary]:
        """Return the rooms with a free seat that are not of the player `own`, newest first."""
        return [room for room in self._newest("waiting") if not _holds(room, own)]

    def playing(self) -> list[RoomSummary]:
        """Return the rooms in which a game is on, newest first."""
        return self._newest("playing")

    def describe(self, room: RoomSummary) -> tuple[str, ...]:
        """Return what a list says of a room, column by column."""
        taken = [clean_text(seat.name) for seat in room.seats.values() if seat is not None]
        free = len(room.seats) - len(taken)
        players = f"{len(room.seats)}, {free} free" if free else f"{len(room.seats)}"
        moves = "1 move" if room.ply == 1 else f"{room.ply} moves"
        age_ms = room.age_ms + round((self._desk.now() - self._rooms[room.room][1]) * 1000)
        rules = ", ".join((*describe_manners(room), short_rules(room.rules)))
        if self._desk.settings.ascii:
            rules = rules.replace("è", "e")
        how = moves if room.status == "playing" else describe_clock(room.clock)
        return room.room, rules, players, shorten(" v ".join(taken) or "-", 24), how, describe_age(age_ms)

    def _newest(self, status: str) -> list[RoomSummary]:
        return [room for room, _ in reversed(self._rooms.values()) if room.status == status]

    async def _subscribe(self, *, on: bool) -> None:
        client = self._desk.link.client
        if client is not None:
            await client.lobby(on=on, boards=_BOARDS if on else 0)


def describe_age(milliseconds: int) -> str:
    """Return an age in words that change seldom.

    >>> describe_age(3_000), describe_age(130_000), describe_age(9_000_000)
    ('new', '2 min', '2 h')
    """
    minutes = milliseconds // 60_000
    return "new" if minutes < 1 else f"{minutes} min" if minutes < 60 else f"{minutes // 60} h"


def short_rules(rules: RulesState) -> str:
    """Return rules in very few words: ``15x15, 5 in a row``."""
    parts = [f"{rules.rows}x{rules.columns}"]
    if rules.line != 3 or rules.rows != 3 or rules.columns != 3:
        parts.append(f"{rules.line} in a row")
    parts += [word for word, is_so in (("misère", rules.misere), ("falls", rules.gravity)) if is_so]
    return ", ".join([*parts, "blocked"] if rules.blocked else parts)


def _holds(room: RoomSummary, player: str | None) -> bool:
    return any(seat is not None and seat.player == player for seat in room.seats.values())
