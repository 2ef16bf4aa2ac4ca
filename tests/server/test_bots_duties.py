"""What bots make of states."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from msgspec.structs import replace

from tests.fakes import FakeHouse, FakePool
from tests.peer import PATIENCE_SECONDS
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.requests import Move
from tictactoe_server.bots import Bots
from tictactoe_server.bots.waiting import Priority
from tictactoe_server.rooms import Command, Dropped, Player, Room, apply, open_room

CODE = "K7M4PQ"
ANA = Player("pana", "ana")
BOT = Player("bot-1", "hard-bot")

OpenBots = Callable[..., Bots]


def room_after(*commands: tuple[Player, Command], bots: Sequence[Player] = (BOT,)) -> Room:
    """Return a room of 3x3 after some commands; ana has the seats that no bot has."""
    seats = [SeatState(bot.id, bot.name, online=True, bot="hard") for bot in bots]
    room = open_room(CODE, PRESETS["classic"], ANA if len(bots) < 2 else None, 0, bots=seats)
    for player, command in commands:
        room = apply(room, player, command, 0)
    return room


def move(player: Player, cell: int, ply: int) -> tuple[Player, Move]:
    return player, Move(room=CODE, cell=cell, ply=ply)


TO_MOVE = room_after(move(ANA, 4, 0))


@pytest.fixture
def house() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
async def open_bots(house: FakeHouse, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenBots]:
    """Return a function that opens bots who send to `house` what a pool tells them, at once and again at once."""
    monkeypatch.setattr("tictactoe_server.bots.bots._AGAIN_SECONDS", 0.0)
    async with contextlib.AsyncExitStack() as stack:

        def start(pool: FakePool | None = None) -> Bots:
            bots = Bots(pool or FakePool(0), house, pause_seconds=0.0)
            stack.push_async_callback(bots.close)
            return bots

        yield start


async def commands_of(house: FakeHouse, count: int) -> list[Command]:
    """Return the commands when there are so many of them, and there has been time for more."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(house.commands) < count:  # noqa: ASYNC110 - the house tells nobody
            await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
    return house.commands


async def test_who_plays_a_person_that_is_here_thinks_before_others(open_bots: OpenBots, house: FakeHouse) -> None:
    pool = FakePool(0)
    bots = open_bots(pool)
    gone = apply(TO_MOVE, ANA, Dropped(), 0)
    alone = room_after(bots=(BOT, Player("bot-2", "other-bot")))
    for count, room in enumerate((TO_MOVE, replace(gone, code="GONE22"), replace(alone, code="A22222")), 1):
        bots.notice(room)
        await commands_of(house, count)
    assert pool.asked == [Priority.PERSON, Priority.HOUSE, Priority.HOUSE]
