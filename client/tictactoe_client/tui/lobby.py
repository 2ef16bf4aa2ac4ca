"""The public rooms of the server at the other end of the link, and a few boards of games that are on there."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from itertools import takewhile
from typing import Any, Literal

from msgspec import UNSET

from tictactoe_client.exits import list_helps
from tictactoe_client.online.errors import Unreachable, VersionRefused
from tictactoe_client.online.messages import Message
from tictactoe_client.session import Session
from tictactoe_client.text.lobby import describe_outcome
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import shorten
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import LiveBoard, LiveBoards, LobbyChange, Ok, PastGame, RoomSummary, RulesState
from tictactoe_protocol.wording import describe_clock, describe_manners


class Lobby:
    """Rooms by code, in the order in which they opened, each with the time at which we heard of it; for all screens.

    Of more than 2,000 those that opened first are forgotten.
    """

    def __init__(self, link: Session, start: Callable[[Coroutine[Any, Any, object]], object]) -> None:
        self.boards: tuple[LiveBoard, ...] = ()
        self._link = link
        self._start = start
        self._rooms: dict[str, tuple[RoomSummary, float]] = {}

    def follow(self, *, on: bool = True) -> None:
        """Learn the rooms, where there is a connection, and have every change told from now on, or none any more."""
        client = self._link.client
        if client is not None and self._link.phase == "online":
            self._start(client.lobby(on=on, boards=3 if on else 0))

    def hear(self, message: Message) -> bool:
        """Take a list, which comes again after a loss, or a change of it; tell whether it was one."""
        push, now = message.push, time.monotonic()
        if isinstance(push, LobbyChange):
            self._rooms |= {room.room: (room, now) for room in push.changed}
            for code in (*push.closed, *list(self._rooms)[:-2_000]):
                self._rooms.pop(code, None)
        elif isinstance(push, LiveBoards):
            self.boards = push.boards
        elif isinstance(push, Ok) and push.rooms is not UNSET:
            self._rooms = {room.room: (room, now) for room in reversed(push.rooms)}
        else:
            return False
        return True

    def forget(self) -> None:
        """Know of no room: those of the next server are others."""
        self._rooms, self.boards = {}, ()

    def list_rooms(self, status: Literal["waiting", "playing"], but: str | None = None) -> list[RoomSummary]:
        """Return the rooms with a free seat, or those in which a game is on, newest first, `but` those of a player."""
        return [
            room
            for room, _ in reversed(self._rooms.values())
            if room.status == status and not any(seat and seat.player == but for seat in room.seats.values())
        ]

    def tabulate(self, status: Literal["waiting", "playing"], but: str | None = None) -> dict[str, tuple[str, ...]]:
        """Return what a list says of such rooms by their codes, below the titles of its columns."""
        is_on = status == "playing"
        table: dict[str, tuple[str, ...]] = {
            "": ("room", "game", "players", "who", "moves" if is_on else "clock", "age")
        }
        for room in self.list_rooms(status, but):
            taken = [clean_text(seat.name) for seat in room.seats.values() if seat is not None]
            free = len(room.seats) - len(taken)
            players = f"{len(room.seats)}, {free} free" if free else f"{len(room.seats)}"
            rules = ", ".join((*describe_manners(room), short_rules(room.rules)))
            how = str(room.ply) if is_on else describe_clock(room.clock)
            age = describe_age(room.age_ms + round((time.monotonic() - self._rooms[room.room][1]) * 1000))
            table[room.room] = room.room, rules, players, shorten(" v ".join(taken) or "-", 24), how, age
        return table


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
    if (rules.line, rules.rows, rules.columns) != (3, 3, 3):
        parts.append(f"{rules.line} in a row")
    parts += [word for word, is_so in (("misère", rules.misere), ("falls", rules.gravity)) if is_so]
    return ", ".join([*parts, "blocked"] if rules.blocked else parts)


def describe_record(games: Sequence[PastGame], viewer: str) -> str:
    """Return how the newest game, the first, went and how many were won in a row; nothing where there is none."""
    if not games:
        return ""
    others = ", ".join(clean_text(player.name) for player in games[0].players.values() if player.player != viewer)
    told = f"Last: {describe_outcome(games[0], viewer)}{f', against {others}' if others else ''}."
    winners = (game.players.get(game.result.winner or "") for game in games)
    streak = len(list(takewhile(lambda winner: winner is not None and winner.player == viewer, winners)))
    more = "at least " if streak == len(games) and streak > 9 else ""
    return f"{told} {more}{streak} wins in a row." if streak > 1 else told


def describe_no_server(link: Session, keymap: Keymap, *, offers_own: bool) -> list[tuple[str, str]]:
    """Say that a server is called, or why there is none and what helps, in texts with their roles.

    With `offers_own` the screen takes keys for a server of this run, and for the way back to the one before.
    """
    before = link.before if offers_own else None
    if link.failure is None:
        lines = [(f"Connecting to {link.address.url} ...", "dim")]
        return [*lines, ("", ""), (f"{keymap.show('back')} goes back to {before.url}", "dim")] if before else lines
    helps = list_helps(link.failure)
    if offers_own and can_start_local(link):
        helps.insert(1, ("Or one for this run alone:", f"press {keymap.show('local')}"))
    if before is not None:
        helps.insert(0, (f"Back to {before.url}:", f"press {keymap.show('back')}"))
    if isinstance(link.failure, VersionRefused):
        helps.append(("Nothing can be played there until then.", ""))
    lines = [(f"✗ {clean_text(link.failure.message)}", "bad"), ("", "")]
    for text, command in helps:
        lines += [(f"  {text}", ""), (f"    {command}", "key")]
    return [*lines, ("", ""), (f"  {keymap.show('retry' if offers_own else 'refresh')} tries again", "key")]


def can_start_local(link: Session) -> bool:
    """Tell whether a server of this run alone would help."""
    return isinstance(link.failure, Unreachable) and link.address.is_loopback
