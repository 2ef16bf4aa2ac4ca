"""Follows the public rooms of the connected server."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from msgspec import UNSET

from tictactoe_client.online.messages import Message
from tictactoe_client.session import Session
from tictactoe_client.text.lobby import describe_age, short_rules
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import LobbyChange, Ok, RoomSummary
from tictactoe_words.catalogue import say
from tictactoe_words.wording import describe_clock, describe_manners


class Lobby:
    """The newest 2,000 public rooms of the server, each with the time when it was last updated.

    Attributes:
        online: The number of people online, or 0 if it is unknown.
    """

    def __init__(self, session: Session, start: Callable[[Coroutine[Any, Any, object]], object]) -> None:
        self.online = 0
        self._session = session
        self._start = start
        self._rooms: dict[str, tuple[RoomSummary, float]] = {}

    def follow(self, *, on: bool = True) -> None:
        """Subscribe to the server's list of rooms, or unsubscribe; do nothing without a connection."""
        client = self._session.client
        if client is not None and self._session.phase == "online":
            self._start(client.rooms.lobby(on=on))

    def hear(self, message: Message) -> bool:
        """Apply a list of rooms, or a change of the list; return False if the message is neither."""
        push, now = message.push, time.monotonic()
        if isinstance(push, LobbyChange):
            self._rooms |= {room.room: (room, now) for room in push.changed}
            for code in (*push.closed, *list(self._rooms)[:-2_000]):
                self._rooms.pop(code, None)
        elif isinstance(push, Ok) and push.rooms is not UNSET:
            self._rooms = {room.room: (room, now) for room in reversed(push.rooms)}
            self.online = push.online or 0
        else:
            return False
        return True

    def forget(self) -> None:
        self._rooms, self.online = {}, 0

    def list_rooms(self, status: Literal["waiting", "playing"], but: str | None = None) -> list[RoomSummary]:
        """Return the waiting or playing rooms, newest first, except rooms where the player `but` has a seat."""
        return [
            room
            for room, _ in reversed(self._rooms.values())
            if room.status == status and not any(seat and seat.player == but for seat in room.seats.values())
        ]

    def tabulate(self, status: Literal["waiting", "playing"], but: str | None = None) -> dict[str, tuple[str, ...]]:
        """Return a table of the rooms: their rows by code, after a row with the column titles."""
        is_on = status == "playing"
        ids = ("room", "game", "players", "who", "moves" if is_on else "clock", "age")
        table = {"": tuple(say(f"column {id}") for id in ids)}
        for room in self.list_rooms(status, but):
            names = [clean_text(seat.name) for seat in room.seats.values() if seat is not None]
            free = len(room.seats) - len(names)
            players = say("column seats", n=len(room.seats), free=free) if free else str(len(room.seats))
            rules = ", ".join((*describe_manners(room), short_rules(room.rules)))
            how = str(room.ply) if is_on else describe_clock(room.clock)
            age = describe_age(room.age_ms + round((time.monotonic() - self._rooms[room.room][1]) * 1000))
            table[room.room] = room.room, rules, players, say("versus").join(names) or "-", how, age
        return table
