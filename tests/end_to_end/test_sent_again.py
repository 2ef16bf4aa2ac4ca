"""Requests that a client repeats after a lost connection, and its words to a server that may lag behind."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from msgspec import UNSET

from tests.end_to_end.test_client_library import state_where
from tests.end_to_end.test_reconnect import QUICK, event_of
from tests.faults.hostile_server import HostileServer, hostile_server, state
from tests.proxy import Proxy
from tictactoe_client import connect
from tictactoe_client.online.client import Pending
from tictactoe_client.online.events import Back
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Draw, Join, Rematch, Request, Undo, Watch


def sent(hostile: HostileServer, *kinds: type) -> list[Request]:
    return [request for request in hostile.heard if isinstance(request, kinds)]


@contextlib.asynccontextmanager
async def told() -> AsyncIterator[tuple[HostileServer, Proxy]]:
    """Run a server, and a proxy to it that can be cut."""
    async with hostile_server() as hostile, Proxy(int(hostile.url.rpartition(":")[2])) as proxy:
        yield hostile, proxy


async def test_offers_and_rematches_name_the_position_they_are_meant_for() -> None:
    async with told() as (hostile, proxy), connect(proxy.url) as client:
        room = await client.rooms.join("K7M4PQ")
        await room.draw()
        await room.draw()
        await room.undo("decline")
        await room.rematch()
        draw, again, undo, rematch = sent(hostile, Draw, Undo, Rematch)
        assert isinstance(draw, Draw)
        assert (draw.game, draw.ply) == (1, 0)
        assert isinstance(again, Draw)
        assert (again.game, again.ply) == (UNSET, UNSET)
        assert isinstance(undo, Undo)
        assert (undo.game, undo.ply) == (1, 0)
        assert isinstance(rematch, Rematch)
        assert rematch.game == 1


async def test_a_reconnecting_client_sends_the_last_seen_state() -> None:
    async with told() as (hostile, proxy), connect(proxy.url, reconnect=QUICK) as client:
        messages = client.messages()
        room = await client.rooms.join("K7M4PQ")
        await hostile.push(state(7))
        await state_where(room, seq=7)
        proxy.cut()
        await event_of(messages, Back)
        await client.ping()
        await room.leave()
        await client.rooms.watch("K7M4PQ")
        assert [getattr(request, "seq", None) for request in sent(hostile, Join, Watch)] == [UNSET, 7, 7]


@pytest.mark.parametrize(
    ("line", "may_be"),
    [
        ({"type": "undo", "action": "offer", "game": 1, "ply": 2}, True),
        ({"type": "undo", "action": "offer", "ply": 2}, False),
        ({"type": "move"}, True),
        ({"type": ["move"]}, False),
        ({"type": "chat", "game": 1, "ply": 2}, False),
        ({"type": "create"}, False),
        ({"type": "match"}, False),
        ({"type": "claim"}, False),
        ({"type": "choose"}, True),
    ],
)
async def test_json_lines_are_repeatable_like_their_requests(line: dict[str, object], *, may_be: bool) -> None:
    assert Pending({"id": "1", **line}).may_be_repeated == may_be


async def test_a_server_cannot_put_a_client_into_rooms_that_it_did_not_ask_for() -> None:
    async with told() as (hostile, proxy), connect(proxy.url, reconnect=QUICK) as client:
        messages = client.messages()
        await client.rooms.join("K7M4PQ")
        for letter in "ABCDEFGH":
            await hostile.push(Ok(id="none", room=f"K7M4P{letter}", seat="X"))
        await client.ping()
        proxy.cut()
        await event_of(messages, Back)
        await client.ping()
        assert [request.room for request in sent(hostile, Join) if isinstance(request, Join)] == ["K7M4PQ", "K7M4PQ"]
