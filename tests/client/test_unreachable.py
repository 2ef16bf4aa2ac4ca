"""The server that has a room does not answer, and another server is asked to take it over."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec import UNSET, UnsetType

from tests.client.test_several_servers import QUICK, event_of
from tests.faults.hostile_server import (
    NOBODY,
    ROOM,
    Frame,
    HostileServer,
    hostile_server,
    identity,
    lets_in,
    make_welcome,
    says_nobody_is_there,
    sends_to,
    state,
)
from tictactoe_client import Refused, connect
from tictactoe_client.online.events import RoomMoved, RoomUnanswered, Updated
from tictactoe_protocol.pushes import Error, HeldSeat, Moved, Ok
from tictactoe_protocol.requests import Hello, Join, Request, Watch
from tictactoe_words.scene import Unanswered

STAYS = "Room K7M4PQ stays there: a player is connected there."


def refuses(request: Request) -> list[Frame]:
    return [Error(id=identity(request), code="not_allowed", message=STAYS, room=ROOM, retry_ms=60_000)]


@asynccontextmanager
async def server_of_a_cluster() -> AsyncIterator[HostileServer]:
    """Yield a server that lists another one, which does not answer."""
    async with hostile_server() as server:
        server.servers = (server.url, NOBODY)
        yield server


def asked(server: HostileServer) -> list[str | UnsetType]:
    """Return the URL in each `join` after the first, if there is one."""
    return [request.unreachable for request in server.heard if isinstance(request, Join)][1:]


def told(*steps: Unanswered) -> list[RoomUnanswered]:
    return [RoomUnanswered(ROOM, step) for step in steps]


async def test_our_room_is_taken_over_by_the_connected_server() -> None:
    async with server_of_a_cluster() as server, connect(server.url, reconnect=QUICK) as client:
        room = await client.rooms.join(ROOM)
        server.answers[Join] = says_nobody_is_there(
            lambda request: [Ok(id=identity(request), room=ROOM, seat="X"), state(3)]
        )
        async with room.events() as happening:
            await event_of(happening, Updated)
            await server.push(Moved(ROOM, NOBODY))
            assert [await event_of(happening, RoomUnanswered)] == told(Unanswered(NOBODY, "asked"))
            assert await event_of(happening, RoomMoved) == RoomMoved(ROOM, server.url)
            assert (await event_of(happening, Updated)).state.seq == 3
        assert asked(server) == [NOBODY]


async def test_a_refused_takeover_of_a_room_is_reported() -> None:
    async with server_of_a_cluster() as server, connect(server.url, reconnect=QUICK) as client:
        room = await client.rooms.join(ROOM)
        server.answers[Join] = says_nobody_is_there(refuses)
        async with room.events() as happening:
            await server.push(Moved(ROOM, NOBODY))
            steps = [await event_of(happening, RoomUnanswered) for _ in range(2)]
            assert steps == told(Unanswered(NOBODY, "asked"), Unanswered(NOBODY, "refused", STAYS))
            assert steps[1].message == f"The server of room {ROOM}, {NOBODY}, does not answer. {STAYS}"
            server.answers[Join] = lets_in(seq=2)
            await event_of(happening, RoomMoved)
        await room.sync()
        assert asked(server)[0] == NOBODY
        assert set(asked(server)[1:]) == {UNSET}, "once a minute"


async def test_a_client_without_a_seat_learns_which_server_is_silent() -> None:
    async with server_of_a_cluster() as server, connect(server.url, timeout_seconds=2) as client:
        server.answers[Join] = server.answers[Watch] = sends_to(NOBODY)
        for enter in (client.rooms.watch, client.rooms.join):
            with pytest.raises(Refused, match=f"The server of room {ROOM}, {NOBODY}, does not answer.") as refused:
                await enter(ROOM)
            assert refused.value.code == "moved"
        assert set(asked(server)) == {UNSET}, "not without a seat there"


async def test_a_seat_of_an_earlier_run_is_asked_for_too() -> None:
    held = HeldSeat(ROOM, "X", state().rules, {"X": "ana", "O": "bo"}, None)
    async with server_of_a_cluster() as server:
        greeting = make_welcome(rooms=(held,), servers=server.servers)
        server.answers = {Hello: lambda _: [greeting], Join: says_nobody_is_there(lets_in())}
        async with connect(server.url) as client:
            assert (await client.rooms.join(ROOM)).code == ROOM
        assert asked(server) == [NOBODY]
