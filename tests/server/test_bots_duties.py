"""Bots answer each position once, until the answer was handled or the position is over."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from msgspec.structs import replace

from tests.fakes import FakePool, FakeRegistry
from tictactoe_engine import PRESETS
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.requests import Draw, Move, Rematch, Resign, Undo
from tictactoe_server.features.bots.service import Bots
from tictactoe_server.features.bots.workers import Priority
from tictactoe_server.rooms.play import Command, apply
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.seating import drop, open_room
from tictactoe_server.storage.store import StoreUnavailable

CODE = "K7M4PQ"
ANA = Player("pana", "ana")
BOT = Player("bot-1", "hard-bot")

ACCEPT = Undo(room=CODE, action="accept")
DECLINE = Draw(room=CODE, action="decline")
BUSY = Refused(ErrorCode.BUSY, "Later.")
STALE = Refused(ErrorCode.STALE, "Too late.")

OpenBots = Callable[..., Bots]


def room_after(*commands: tuple[Player, Command], bots: Sequence[Player] = (BOT,)) -> Room:
    """Return a 3x3 room after some commands; ana has the seats without bots."""
    seats = [SeatState(bot.id, bot.name, online=True, bot="hard") for bot in reversed(bots)]
    reserved = dict(zip("OX", seats, strict=False))
    room = open_room(CODE, PRESETS["classic"], ANA if len(bots) < 2 else None, 0, reserved=reserved)
    for player, command in commands:
        room = apply(room, player, command, 0)
    return room


def move(player: Player, cell: int, ply: int) -> tuple[Player, Move]:
    return player, Move(room=CODE, cell=cell, ply=ply)


TO_MOVE = room_after(move(ANA, 4, 0))
MOVED = room_after(move(ANA, 4, 0), move(BOT, 0, 1))
ASKED_FOR_UNDO = room_after(move(ANA, 4, 0), move(BOT, 0, 1), (ANA, Undo(room=CODE, action="offer")))
OFFERED_DRAW = room_after((ANA, Draw(room=CODE, action="offer")))
OFFERED_DRAW_ON_TURN = room_after(move(ANA, 4, 0), (ANA, Draw(room=CODE, action="offer")))
WANTED_AGAIN = room_after((ANA, Resign(room=CODE)), (ANA, Rematch(room=CODE)))

MOMENTS = [
    pytest.param(TO_MOVE, Move(room=CODE, cell=0, ply=1), id="move"),
    pytest.param(ASKED_FOR_UNDO, ACCEPT, id="undo"),
    pytest.param(OFFERED_DRAW, Draw(room=CODE, action="accept"), id="draw"),
    pytest.param(WANTED_AGAIN, Rematch(room=CODE), id="rematch"),
]


@pytest.fixture
def registry() -> FakeRegistry:
    return FakeRegistry()


@pytest.fixture
async def open_bots(registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenBots]:
    """Return a function that opens bots which send a pool's answers to `registry` and retry at once."""
    monkeypatch.setattr("tictactoe_server.features.bots.service._AGAIN_SECONDS", 0.0)
    async with contextlib.AsyncExitStack() as stack:

        def start(pool: FakePool | None = None) -> Bots:
            bots = Bots(pool or FakePool(0), registry, pause_seconds=0.0)
            stack.push_async_callback(bots.close)
            return bots

        yield start


def show_again(bots: Bots, room: Room) -> None:
    """Show the same position again, as when a watcher joins."""
    bots.update(replace(room, seq=room.seq + 1))


async def commands_of(registry: FakeRegistry, count: int) -> list[Command]:
    """Return the commands once there are `count`, and time for more has passed."""
    while len(registry.commands) < count:  # noqa: ASYNC110 - the registry does not notify
        await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
    return registry.commands


@pytest.mark.parametrize(
    ("room", "answer"),
    [*MOMENTS, pytest.param(OFFERED_DRAW_ON_TURN, Draw(room=CODE, action="accept"), id="draw before its move")],
)
async def test_a_position_is_answered_once(
    open_bots: OpenBots, registry: FakeRegistry, room: Room, answer: Command
) -> None:
    bots = open_bots()
    registry.is_open.clear()
    bots.update(room)
    show_again(bots, room)
    assert await commands_of(registry, 1) == [answer]
    show_again(bots, room)
    assert await commands_of(registry, 1) == [answer]


@pytest.mark.parametrize("failure", [BUSY, StoreUnavailable(), RuntimeError("a bug")], ids=["busy", "store", "bug"])
@pytest.mark.parametrize(("room", "answer"), MOMENTS)
async def test_failed_commands_are_repeated_until_they_succeed(
    open_bots: OpenBots, registry: FakeRegistry, room: Room, answer: Command, failure: Exception
) -> None:
    bots = open_bots()
    registry.failures = [failure, failure]
    bots.update(room)
    assert await commands_of(registry, 3) == [answer] * 3
    assert registry.carried_out == [answer]


async def test_thinking_stops_when_the_moment_is_over(open_bots: OpenBots, registry: FakeRegistry) -> None:
    bots = open_bots()
    bots.update(TO_MOVE)
    bots.update(MOVED)
    assert await commands_of(registry, 0) == []


async def test_games_of_connected_people_have_priority(open_bots: OpenBots, registry: FakeRegistry) -> None:
    pool = FakePool(0)
    bots = open_bots(pool)
    gone = drop(TO_MOVE, ANA, 0)
    alone = room_after(bots=(BOT, Player("bot-2", "other-bot")))
    for count, room in enumerate((TO_MOVE, replace(gone, code="GONE22"), replace(alone, code="A22222")), 1):
        bots.update(room)
        await commands_of(registry, count)
    assert pool.asked == [Priority.PERSON, Priority.BOTS, Priority.BOTS]
