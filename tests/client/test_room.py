import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.client.states import ANA, BO, players, seat, state
from tests.faults.hostile_server import make_welcome
from tictactoe_client import ConnectionLost, MovesUnknown
from tictactoe_client.online.events import Change, Closed, Cut, Moved, RoomEvent, Updated
from tictactoe_client.online.room import Room
from tictactoe_engine import Rules
from tictactoe_protocol.pushes import Ok, RoomState
from tictactoe_protocol.requests import Request, Sync

THREE = Rules(4, 4, 3, marks="XOA")


class FakeCourier:
    """A connection that has all moves of the game and counts the requests for them."""

    welcome = make_welcome()

    def __init__(self, moves: Sequence[int] | None = None, player: str = ANA) -> None:
        self.moves = moves
        self.player = player
        self.asked: list[Request] = []

    async def request(self, request: Request) -> Ok:
        self.asked.append(request)
        return Ok(id="1", moves=tuple(self.moves or ()))


class Listener:
    """A listener that records everything a room announces."""

    def __init__(self, room: Room) -> None:
        self.heard: list[RoomEvent] = []
        self.stop = room.subscribe(self.heard.append)

    @property
    def changes(self) -> list[Change]:
        return [event for event in self.heard if isinstance(event, Change)]

    @property
    def updates(self) -> list[Updated]:
        return [event for event in self.heard if isinstance(event, Updated)]


def entered(*states: RoomState, moves: Sequence[int] = (), known: Sequence[int] | None = None) -> Room:
    """Return a room that ana entered after `moves`, and that has seen these states."""
    room = Room(FakeCourier(known), "K7M4PQ")
    room._enter(Ok(id="1", room="K7M4PQ", seat="X", moves=tuple(moves)))
    for each in states:
        room._receive(each)
    return room


def test_a_room_follows_the_moves_and_knows_the_position() -> None:
    room = entered(state(), state((4,)), state((4, 0)))
    assert room.moves == (4, 0)
    assert room.knows_moves
    assert (room.position.moves, room.position.turn) == ((4, 0), "X")
    assert room.is_my_turn
    assert room.plays
    assert not room.looks_on


def test_the_position_knows_who_is_passed_over() -> None:
    seats = players(THREE)
    seats["O"] = replace(seat(BO, "bo"), out=True)
    room = entered(replace(state((0,), THREE), turn="A", seats=seats), moves=(0,))
    assert (room.position.turn, room.position.active_marks) == ("A", "XA")


def test_a_watcher_is_never_on_turn() -> None:
    room = entered(state())
    room._enter(Ok(id="2", room="K7M4PQ", seat=None, moves=()))
    assert room.is_watching
    assert room.seat is None
    assert not room.is_my_turn
    assert room.looks_on


async def test_missed_moves_are_requested_and_announced() -> None:
    room = entered(state((4,)), moves=(4,), known=(4, 0, 8, 2))
    listener = Listener(room)
    events = room.events()
    room._receive(state((4, 0, 8, 2)))
    assert room.state == state((4,))
    async for event in events:
        if isinstance(event, Updated) and event.is_gap:
            break
    assert [(event.mark, event.cell, event.ply) for event in listener.changes if isinstance(event, Moved)] == [
        ("O", 0, 2),
        ("X", 8, 3),
        ("O", 2, 4),
    ]
    assert room.moves == (4, 0, 8, 2)
    assert listener.updates[-1].is_gap


async def test_the_server_is_asked_once_for_the_moves_of_a_state() -> None:
    courier = FakeCourier((1, 2, 3))
    room = Room(courier, "K7M4PQ")
    room._enter(Ok(id="1", room="K7M4PQ", seat="X", moves=()))
    events = room.events()
    for _ in range(3):
        room._receive(state((4, 0)))
        assert isinstance(await anext(events), Updated)
    assert [type(request) for request in courier.asked] == [Sync]
    assert room.has_state
    assert not room.knows_moves
    with pytest.raises(MovesUnknown):
        _ = room.position


async def test_events_during_a_sync_follow_its_moves() -> None:
    room = entered(state((4,)), moves=(4,), known=(4, 0, 8))
    listener = Listener(room)
    room._receive(state((4, 0, 8)))
    room._receive(state((4, 0, 8, 2)))
    room._end(Closed("idle"))
    assert [update.state.ply for update in listener.updates] == [1, 3, 4]
    assert isinstance(listener.heard[-1], Closed)


def test_an_older_state_is_ignored() -> None:
    room = entered(state((4,)), moves=(4,))
    listener = Listener(room)
    room._receive(state())
    assert len(listener.updates) == 1


def test_an_unsubscribed_listener_gets_no_more_events() -> None:
    room = entered(state())
    listener = Listener(room)
    listener.stop()
    room._receive(state((4,)))
    assert len(listener.heard) == 1


async def test_a_failing_listener_does_not_affect_others() -> None:
    failures: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    room = entered(state())
    room.subscribe(lambda event: 1 / 0)
    listener = Listener(room)
    room._receive(state((4,)))
    assert len(failures) == 3
    assert len(listener.updates) == 2


async def test_events_stop_when_the_room_ends_and_when_they_are_given_back() -> None:
    room = entered(state())
    async with room.events() as events:
        room._receive(state((4,)))
        room._end("left")
        assert [type(event) async for event in events] == [Updated, Moved, Updated]
    async with entered(state()).events() as events:
        assert isinstance(await anext(events), Updated)
    with pytest.raises(StopAsyncIteration):
        await anext(events)


def test_the_first_listener_gets_the_events_since_entering() -> None:
    room = entered(state(), state((4,)))
    assert [type(event) for event in Listener(room).heard] == [Updated, Moved, Updated]
    assert [type(event) for event in Listener(room).heard] == [Updated]


async def test_a_connection_lost_for_good_ends_events_with_an_error_and_is_the_last_that_listeners_hear() -> None:
    room = entered(state())
    listener, lost = Listener(room), ConnectionLost("it broke")
    async with room.events() as events:
        room._end(lost)
        assert isinstance(await anext(events), Updated)
        with pytest.raises(ConnectionLost):
            await anext(events)
    assert listener.heard[-1] == Cut(lost)
    assert Listener(room).heard[-1] == Cut(lost), "who listens later hears it as well"
