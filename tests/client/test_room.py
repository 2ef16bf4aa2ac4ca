import asyncio

import pytest
from msgspec.structs import replace

from tests.client.states import ANA, BO, completed, players, seat, state
from tests.faults.hostile_server import make_welcome
from tictactoe_client import ConnectionLost, ProtocolBroken
from tictactoe_client.online.events import Cut, Happening, Missed, RoomEvent, Updated
from tictactoe_client.online.room import Room
from tictactoe_engine import Rules
from tictactoe_protocol.pushes import Offers, Ok, RoomState
from tictactoe_protocol.requests import Request

THREE = Rules(4, 4, 3, marks="XOA")


class FakeCourier:
    """A connection that answers every request with ok."""

    welcome = make_welcome()

    def __init__(self, player: str = ANA) -> None:
        self.player = player
        self.asked: list[Request] = []

    async def request(self, request: Request) -> Ok:
        self.asked.append(request)
        return Ok(id="1")


class Listener:
    """A listener that records everything a room announces."""

    def __init__(self, room: Room) -> None:
        self.heard: list[RoomEvent] = []
        self.stop = room.subscribe(self.heard.append)

    @property
    def updates(self) -> list[Updated]:
        return [event for event in self.heard if isinstance(event, Updated)]


def entered(*states: RoomState) -> Room:
    """Return a room that ana entered, and that has seen these states."""
    room = Room(FakeCourier(), "K7M4PQ")
    room._enter(Ok(id="1", room="K7M4PQ", seat="X"))
    for each in states:
        room._receive(each)
    return room


def test_the_position_knows_who_is_passed_over() -> None:
    seats = players(THREE)
    seats["O"] = replace(seat(BO, "bo"), out=True)
    room = entered(replace(state((0,), THREE), turn="A", seats=seats))
    assert (room.position.turn, room.position.active_marks) == ("A", "XA")


def test_whoever_missed_states_hears_how_many_moves_and_which_offers_are_open() -> None:
    room = entered(state((4,)))
    listener = Listener(room)
    room._receive(state((4, 0, 8, 2), offers=Offers(draw="O")))
    assert room.moves == (4, 0, 8, 2)
    assert listener.updates[-1].news == (Missed(3, (0, 8, 2)), Happening("offered", "O", kind="draw"))
    assert listener.heard[1:] == [*listener.updates[-1].news, listener.updates[-1]]


def test_a_state_that_is_sent_again_brings_no_news() -> None:
    first = state((4,))
    again = completed(state((4, 0)), first)
    room = entered(first, again)
    listener = Listener(room)
    room._receive(replace(again, watchers=1))
    assert listener.updates[-1].news == ()


def test_moves_that_do_not_lead_to_the_board_give_no_position() -> None:
    room = entered(replace(state((4, 0)), moves=(0, 4)))
    with pytest.raises(ProtocolBroken):
        _ = room.position


def test_an_older_state_is_ignored() -> None:
    room = entered(state((4,)))
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
        room._receive(completed(state((4,)), room.state))
        room._end("left")
        assert [type(event) async for event in events] == [Updated, Happening, Updated]
    async with entered(state()).events() as events:
        assert isinstance(await anext(events), Updated)
    with pytest.raises(StopAsyncIteration):
        await anext(events)


def test_the_first_listener_gets_the_events_since_entering() -> None:
    room = entered(state(), completed(state((4,)), state()))
    assert [type(event) for event in Listener(room).heard] == [Updated, Happening, Updated]
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
