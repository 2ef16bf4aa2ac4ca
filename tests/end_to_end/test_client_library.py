import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator
from typing import TypeVar

import pytest

from tests.faults.hostile_server import hostile_server
from tests.peer import PATIENCE_SECONDS
from tests.proxy import Proxy
from tictactoe_client import ConnectionLost, Refused, Room, VersionRefused, connect
from tictactoe_client.online import connection
from tictactoe_client.online.backoff import Backoff
from tictactoe_protocol.requests import Hello
from tictactoe_server.server import Server

State = TypeVar("State")


async def state_where(states: AsyncIterable[State], **expected: object) -> State:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for state in states:
            if all(getattr(state, name) == value for name, value in expected.items()):
                return state
    raise AssertionError(f"it ended without {expected}")


@contextlib.asynccontextmanager
async def pair(url: str) -> AsyncIterator[tuple[Room, Room]]:
    async with connect(url, name="ana") as ana, connect(url, name="bo") as bo:
        first = await ana.rooms.create()
        second = await bo.rooms.join(first.code)
        for room in (first, second):
            await state_where(room, status="playing")
        yield first, second


async def test_the_client_knows_its_player_and_its_server(server: Server) -> None:
    async with connect(server.url, name="ana") as client:
        assert client.name == "ana"
        assert client.server.startswith("tictactoe-server/")
        assert client.player
        assert client.latency_seconds > 0
        assert await client.ping() > 1_600_000_000_000
    async with connect(server.url, token=client.token) as again:
        assert again.player == client.player


async def test_a_server_that_stops_answering_is_found_out(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = connection.PING_INTERVAL_SECONDS + connection.PING_TIMEOUT_SECONDS + connection.CLOSE_TIMEOUT_SECONDS
    assert connection.PING_TIMEOUT_SECONDS >= 10  # a stall of this length never ends the connection
    assert whole <= 15
    for name in ("PING_INTERVAL_SECONDS", "PING_TIMEOUT_SECONDS", "CLOSE_TIMEOUT_SECONDS"):
        monkeypatch.setattr(connection, name, getattr(connection, name) / 40)
    async with connect(proxy.url) as client:
        messages = client.messages()
        assert (await anext(messages)).push is not None
        proxy.down.is_swallowing = True
        with pytest.raises(ConnectionLost):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await anext(messages)


async def test_the_latency_follows_that_of_the_connection(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_client.online.connection.PING_INTERVAL_SECONDS", 0.01)
    quick = Backoff((0.01,), longest=0.02, hold_seconds=60)
    async with connect(proxy.url, reconnect=quick) as client, asyncio.timeout(PATIENCE_SECONDS):
        for cuts in (False, True):
            proxy.down.delay_seconds = slow = 1.5
            while client.latency_seconds < slow:
                await client.ping()
            proxy.down.delay_seconds = 0
            if cuts:
                proxy.cut()
                await client.ping()
            while not cuts and client.latency_seconds >= slow:
                await client.ping()
            assert client.latency_seconds < slow


async def test_a_bot_is_shown_as_a_program_also_after_a_reconnect(proxy: Proxy) -> None:
    quick = Backoff((0.01,), longest=0.02, hold_seconds=60)
    async with connect(proxy.url, name="deep", reconnect=quick, bot=True) as deep:
        room = await deep.rooms.create()
        proxy.cut()
        await deep.ping()
        other = await deep.rooms.create(seat="O")
        for state in (await state_where(room), await state_where(other)):
            assert {seat.bot for seat in state.seats.values() if seat is not None} == {"guest"}


async def test_a_refusal_is_typed_and_the_connection_stays(server: Server) -> None:
    async with pair(server.url) as (first, second):
        with pytest.raises(Refused) as refused:
            await second.move(4, ply=0)
        assert (refused.value.code, refused.value.message) == ("not_your_turn", "It's ana's move.")
        assert refused.value.room == first.code
        await first.move(4)
        await state_where(second, ply=1)
        with pytest.raises(Refused) as taken:
            await second.move(4)
        assert (taken.value.code, taken.value.path) == ("occupied", "cell")


async def test_the_end_of_the_block_gives_the_seat_up(server: Server) -> None:
    async with connect(server.url, name="bo") as bo:
        async with connect(server.url, name="ana") as ana:
            room = await bo.rooms.join((await ana.rooms.create()).code)
            await state_where(room, status="playing")
        over = await state_where(room, status="over")
        assert over.seats["X"] is not None
        assert over.seats["X"].left


async def test_a_seat_that_is_kept_is_taken_up_again_by_the_token(server: Server) -> None:
    async with connect(server.url, name="ana", keep_seats=True) as ana:
        code = (await ana.rooms.create()).code
    async with connect(server.url, token=ana.token) as ana:
        assert (await ana.rooms.join(code)).seat == "X"


async def test_closing_a_room_ends_the_iteration_with_the_reason(server: Server) -> None:
    async with connect(server.url) as client, connect(server.url) as other:
        room = await client.rooms.create()
        watched = await other.rooms.watch(room.code)
        await room.leave()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert [state.room async for state in watched]
        assert (watched.ended, watched.closed_reason) == ("closed", "Everybody left.")


async def test_a_stopped_server_ends_everything_with_connection_lost(server: Server) -> None:
    async with connect(server.url) as client:
        room = await client.rooms.create()
        await state_where(room)
        messages = client.messages()
        await server.__aexit__(None, None, None)
        with pytest.raises(ConnectionLost) as lost:
            await state_where(room, status="over")
        assert lost.value.close_code == 1012
        assert lost.value.retry_ms is not None
        with pytest.raises(ConnectionLost):
            await client.ping()
        with pytest.raises(ConnectionLost):
            async for _ in messages:
                pass


async def test_a_welcome_of_another_version_is_refused() -> None:
    async with hostile_server(answers={Hello: lambda _: ['{"type":"welcome","protocol":1}']}) as server:
        with pytest.raises(VersionRefused, match="The server speaks protocol 1 and this client"):
            async with connect(server.url):
                pass


async def test_closing_the_client_ends_every_iteration(server: Server) -> None:
    async with connect(server.url, keep_seats=True) as client:
        messages = client.messages()
        room = await client.rooms.create()
        await state_where(room)
    kinds = [type(message.push).__name__ async for message in messages]
    assert kinds == ["Welcome", "Ok", "RoomState"]
    assert [state.ply async for state in room] == [0]
    assert room.ended == "left"
    with pytest.raises(ConnectionLost, match="the client was closed"):
        await client.ping()
