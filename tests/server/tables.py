"""A table for tests of rooms as values: players, their room, and a clock that the test moves."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec import Struct

from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import encode
from tictactoe_protocol.requests import Move
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.records.documents import RoomDocuments
from tictactoe_server.records.tables import GAMES, ROOMS
from tictactoe_server.rooms.play import Command, apply, expire
from tictactoe_server.rooms.room import NOBODY, Player, Refused, Room
from tictactoe_server.rooms.seating import enter, open_room
from tictactoe_server.rooms.view import state_of
from tictactoe_words.refusals import describe_refusal

decode_room = partial(ROOMS.read, None)
decode_game = partial(GAMES.read, None)
_documents = RoomDocuments()

CODE = "K7M4PQ"
ANA, BO, CY, DI = (Player(f"p{name}", name) for name in ("ana", "bo", "cy", "di"))
THREE = Rules(rows=4, columns=4, line=4, marks="XOA")
SWAP2 = Rules(rows=5, columns=5, line=4, opening="swap2")
START = 5_000
HOLD_MS = 60_000
FIVE_MINUTES = ClockFields(initial_ms=300_000, increment_ms=2_000)

Action = Command | Callable[[Room, Player, int], Room]
"""A command, or another change that concerns a player, such as `drop`."""
Step = int | tuple[Player, Action]
"""A cell for the player on turn, or an action of a player."""


def carry_out(room: Room, player: Player, action: Action, now: int) -> Room:
    return apply(room, player, action, now) if isinstance(action, Struct) else action(room, player, now)


def by_nobody(change: Callable[[Room, int], Room]) -> Action:
    return lambda room, player, now: change(room, now)


time_out = by_nobody(expire)


def encode_room(room: Room) -> bytes:
    _documents.forget(room.code)
    return _documents.encode(room)


def refusal(room: Room, player: Player, command: Action, now: int) -> Refused:
    """Return the refusal of a command, which leaves the room unchanged."""
    before = encode_room(room)
    with pytest.raises(Refused) as caught:
        carry_out(room, player, command, now)
    assert encode_room(room) == before
    assert describe_refusal(caught.value.code, caught.value.data)
    return caught.value


class Table:
    """The first player opened the room, the others entered; `now` is in ms and changes by `wait` alone."""

    def __init__(
        self,
        *players: Player,
        rules: Rules = PRESETS["classic"],
        clock: ClockFields | None = None,
        hold_ms: int = HOLD_MS,
    ) -> None:
        self.now = START
        self.room = open_room(CODE, rules, players[0], self.now, clock=clock, hold_ms=hold_ms)
        self.before: Room | None = None
        for player in players[1:]:
            self.do(player, enter)

    def wait(self, ms: int) -> None:
        self.now += ms

    def do(self, player: Player, command: Action) -> Room:
        """Apply a command; every change increments `seq`."""
        after = carry_out(self.room, player, command, self.now)
        assert after is self.room or after.seq == self.room.seq + 1
        self.before, self.room = self.room, after
        return after

    def move(self, cell: int, *, after_ms: int = 0) -> Room:
        """Play a cell as the player on turn, after some time."""
        self.wait(after_ms)
        return self.do(self.to_move, Move(room=CODE, cell=cell, ply=self.room.position.ply))

    def play(self, *cells: int) -> Room:
        for cell in cells:
            self.move(cell)
        return self.room

    def do_all(self, *steps: Step) -> Room:
        """Play cells as the players on turn, and apply the commands of others."""
        for step in steps:
            if isinstance(step, int):
                self.move(step)
            else:
                self.do(*step)
        return self.room

    def expire(self) -> Room:
        return self.do(NOBODY, time_out)

    def refusal(self, player: Player, command: Action) -> Refused:
        return refusal(self.room, player, command, self.now)

    @property
    def to_move(self) -> Player:
        seat = self.room.seat(self.room.position.turn)
        return Player(seat.player, seat.name)

    @property
    def state(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(encode(state_of(self.room, self.now, watchers=0, before=self.before)))
        return content

    @property
    def times(self) -> list[int]:
        """The remaining times of the marks, in their order (ms)."""
        return [*self.state["clock"]["remaining_ms"].values()]

    @property
    def running(self) -> str | None:
        """The mark whose clock runs."""
        mark: str | None = self.state["clock"]["running"]
        return mark


def two(*steps: Step, rules: Rules = PRESETS["classic"], clock: ClockFields | None = None) -> Table:
    table = Table(ANA, BO, rules=rules, clock=clock)
    table.do_all(*steps)
    return table


def three(*steps: Step, clock: ClockFields | None = None) -> Table:
    table = Table(ANA, BO, CY, rules=THREE, clock=clock)
    table.do_all(*steps)
    return table


def timed(*steps: Step, clock: ClockFields = FIVE_MINUTES) -> Table:
    return two(*steps, clock=clock)
