"""What a client sends again after a loss, and what it says to a server that may know less than it has seen."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from msgspec import UNSET

from tests.end_to_end.test_client_library import state_where
from tests.end_to_end.test_reconnect import QUICK, event_of, far_room, lose_the_answer
from tests.faults.hostile_server import Frame, HostileServer, hostile_server, state
from tests.peer import PATIENCE_SECONDS, Peer
from tests.proxy import Proxy
from tictactoe_client import Room, connect
from tictactoe_client.online.conversation import Pending
from tictactoe_client.online.errors import Interrupted
from tictactoe_client.online.events import Back
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Chat, Claim, Create, Draw, Join, Match, Rematch, Request, Undo, Watch
from tictactoe_server.server import Server


@contextlib.asynccontextmanager
async def moved_once(server: Server, proxy: Proxy) -> AsyncIterator[tuple[Room, Peer]]:
    """Let ana play X through the proxy and bo O past it; each has moved."""
    async with far_room(server, proxy) as (_, room, bo):
        await room.move(0)
        await bo.ask("move", room=room.code, cell=4, ply=1)
        await state_where(room, ply=2)
        yield room, bo


async def test_a_move_is_taken_back_once_however_often_that_is_allowed(server: Server, proxy: Proxy) -> None:
    async with moved_once(server, proxy) as (room, bo):
        await bo.ask("undo", room=room.code, action="offer")
        await room.sync()
        await lose_the_answer(room.undo("accept"), proxy, bo.state(ply=1))
        assert (await state_where(room, ply=1)).board == "X........"
        assert (await bo.ask("move", room=room.code, cell=8, ply=1))["type"] == "ok"


async def test_an_undo_that_was_asked_for_is_not_asked_for_again_after_a_no(server: Server, proxy: Proxy) -> None:
    async with moved_once(server, proxy) as (room, bo):

        async def decline() -> None:
            await bo.until(lambda message: message.get("offers", {}).get("undo") == "X")
            await bo.ask("undo", room=room.code, action="decline")

        await lose_the_answer(room.undo(), proxy, decline())
        await room.sync()
        assert room.state.offers.undo is None


async def test_a_rematch_that_began_while_the_answer_was_lost_is_acknowledged(server: Server, proxy: Proxy) -> None:
    async with moved_once(server, proxy) as (room, bo):
        await bo.ask("resign", room=room.code)
        await state_where(room, status="over")
        await bo.ask("rematch", room=room.code)
        await lose_the_answer(room.rematch(), proxy, bo.state(game=2))
        assert (await state_where(room, game=2)).ply == 0


def sent(hostile: HostileServer, *kinds: type) -> list[Request]:
    return [request for request in hostile.heard if isinstance(request, kinds)]


@contextlib.asynccontextmanager
async def told() -> AsyncIterator[tuple[HostileServer, Proxy]]:
    """Run a server, and a proxy to it that can be cut."""
    async with hostile_server() as hostile, Proxy(int(hostile.url.rpartition(":")[2])) as proxy:
        yield hostile, proxy


async def test_offers_and_rematches_name_the_position_they_are_meant_for() -> None:
    async with told() as (hostile, proxy), connect(proxy.url) as client:
        room = await client.join("K7M4PQ")
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


async def test_one_who_comes_back_says_what_they_have_seen() -> None:
    async with told() as (hostile, proxy), connect(proxy.url, reconnect=QUICK) as client:
        messages = client.messages()
        room = await client.join("K7M4PQ")
        await hostile.push(state(7))
        await state_where(room, seq=7)
        proxy.cut()
        await event_of(messages, Back)
        await client.ping()
        await room.leave()
        await client.watch("K7M4PQ")
        assert [getattr(request, "seq", None) for request in sent(hostile, Join, Watch)] == [UNSET, 7, 7]


@pytest.mark.parametrize(
    ("line", "may_be"),
    [
        ({"type": "undo", "action": "offer", "game": 1, "ply": 2}, True),
        ({"type": "undo", "action": "offer", "ply": 2}, False),
        ({"type": "move"}, True),
        ({"type": ["move"]}, False),
        ({"type": "chat", "game": 1, "ply": 2}, False),
    ],
)
async def test_a_line_of_json_may_be_sent_again_where_the_request_may(line: dict[str, object], *, may_be: bool) -> None:
    assert Pending({"id": "1", **line}).may_be_repeated == may_be


@pytest.mark.parametrize("kind", [Create, Match, Chat, Claim])
async def test_what_would_take_effect_twice_is_not_sent_again_after_a_loss(kind: type[Request]) -> None:
    requests: dict[type, Request] = {
        Create: Create(),
        Match: Match(),
        Chat: Chat(room="K7M4PQ", text="hello"),
        Claim: Claim(room="K7M4PQ", as_="win"),
    }
    heard = asyncio.Event()

    def say_nothing(_: Request) -> list[Frame]:
        heard.set()
        return []

    async with told() as (hostile, proxy), connect(proxy.url, reconnect=QUICK) as client:
        hostile.answers[kind] = say_nothing
        messages = client.messages()
        asking = asyncio.create_task(client.request(requests[kind]))
        await heard.wait()
        proxy.cut()
        await event_of(messages, Back)
        with pytest.raises(Interrupted):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asking
        await client.ping()
        assert len(sent(hostile, kind)) == 1


async def test_a_server_cannot_put_a_client_into_rooms_that_it_did_not_ask_for() -> None:
    async with told() as (hostile, proxy), connect(proxy.url, reconnect=QUICK) as client:
        messages = client.messages()
        await client.join("K7M4PQ")
        for letter in "ABCDEFGH":
            await hostile.push(Ok(id="none", room=f"K7M4P{letter}", seat="X", moves=()))
        await client.ping()
        proxy.cut()
        await event_of(messages, Back)
        await client.ping()
        assert [request.room for request in sent(hostile, Join) if isinstance(request, Join)] == ["K7M4PQ", "K7M4PQ"]
