import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import pytest
from websockets.asyncio.server import ServerConnection

from tests.end_to_end.clients import ClientProcess, link_to, plain_game, run_client, serving
from tests.end_to_end.test_client_library import state_where
from tests.faults.hostile_server import HostileServer, hostile_server, make_welcome
from tests.kept import rooms_left, session_of
from tests.peer import PATIENCE_SECONDS, Peer, open_peer
from tests.proxy import Proxy
from tests.terminal import pipe
from tictactoe_client import Client, ConnectionLost, Interrupted, Refused, Room, connect
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.events import Back, Gone, Lost, Retrying
from tictactoe_client.online.messages import Messages
from tictactoe_client.plain.game import PlainGame
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output
from tictactoe_protocol.pushes import Error, LobbyChange
from tictactoe_protocol.requests import Hello, History, Record, Rooms
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings as ServerSettings

QUICK = Backoff((0.01,), longest=0.02, hold_seconds=20)
BRIEF = Backoff((0.01,), longest=0.01, hold_seconds=0.05)


async def cut_off(ana: ClientProcess, proxy: Proxy) -> None:
    proxy.lose()
    await ana.until("Connection lost.")


Event = TypeVar("Event")


async def event_of(messages: Messages, kind: type[Event]) -> Event:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for message in messages:
            if isinstance(message.event, kind):
                return message.event
    raise AssertionError(f"no {kind}")


@contextlib.asynccontextmanager
async def far_room(server: Server, proxy: Proxy) -> AsyncIterator[tuple[Client, Room, Peer]]:
    """Start a game between ana, through the proxy, and bo, directly; yield ana's client, her room and bo."""
    async with connect(proxy.url, name="ana", reconnect=QUICK) as ana, open_peer(server.url, "bo") as bo:
        room = await ana.rooms.create()
        await bo.ask("join", room=room.code)
        await state_where(room, status="playing")
        yield ana, room, bo


async def lose_the_answer(asking: Coroutine[Any, Any, None], proxy: Proxy, arrived: Coroutine[Any, Any, Any]) -> None:
    """Send a request through the proxy, cut the connection after the server has handled it, and await the reply."""
    proxy.down.is_swallowing = True
    task = asyncio.create_task(asking)
    await arrived
    proxy.down.is_swallowing = False
    proxy.cut()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await task


async def test_a_move_whose_answer_was_lost_is_sent_again_and_played_once(server: Server, proxy: Proxy) -> None:
    async with far_room(server, proxy) as (_, room, bo):
        await lose_the_answer(room.move(4), proxy, bo.state(ply=1))
        assert (await state_where(room, ply=1)).board == "....X...."
        await bo.send("move", room=room.code, cell=0, ply=1)
        assert (await state_where(room, ply=2)).turn == "X"


async def test_answered_requests_are_not_repeated_after_reconnecting() -> None:
    async with (
        hostile_server() as hostile,
        Proxy(int(hostile.url.rpartition(":")[2])) as proxy,
        connect(proxy.url, reconnect=QUICK) as client,
    ):
        messages = client.messages()
        assert len(await client.rooms.list()) == 2
        with pytest.raises(Refused):
            await client.games.record("5")
        proxy.cut()
        await event_of(messages, Back)
        assert len(await client.games.list()) == 1
        assert [type(request) for request in hostile.heard] == [Hello, Rooms, Record, Hello, History]


async def test_a_lost_answer_to_a_chat_interrupts_it(server: Server, proxy: Proxy) -> None:
    async with far_room(server, proxy) as (_, room, bo):
        with pytest.raises(Interrupted):
            await lose_the_answer(room.chat("hello"), proxy, bo.next_of("chat"))


async def test_watching_and_the_lobby_are_restored_after_a_reconnect(server: Server, proxy: Proxy) -> None:
    async with connect(proxy.url, reconnect=QUICK) as watcher, open_peer(server.url, "ana") as ana:
        code = (await ana.ask("create"))["room"]
        room = await watcher.rooms.watch(code)
        await watcher.rooms.lobby(on=True)
        messages = watcher.messages()
        proxy.cut()
        await event_of(messages, Back)
        await watcher.ping()
        assert room.seat is None
        await ana.ask("create")
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for message in messages:
                if isinstance(message.push, LobbyChange):
                    break
        assert (await ana.ask("leave", room=code))["type"] == "ok"


async def test_a_room_closed_during_an_absence_is_reported(server: Server, proxy: Proxy) -> None:
    async with connect(proxy.url, reconnect=QUICK) as watcher, open_peer(server.url, "ana") as ana:
        room = await watcher.rooms.watch((await ana.ask("create"))["room"])
        messages = watcher.messages()
        proxy.lose()
        await ana.ask("leave", room=room.code)
        proxy.is_closed = False
        gone = await event_of(messages, Gone)
        assert (gone.room, gone.refused.code, room.ended) == (room.code, "no_such_room", "closed")
        await room.leave()


async def test_a_client_that_cannot_come_back_in_time_gives_up(proxy: Proxy) -> None:
    async with connect(proxy.url, reconnect=BRIEF) as client:
        room = await client.rooms.create()
        await state_where(room)
        proxy.lose()
        with pytest.raises(ConnectionLost, match="the connection was lost for too long") as lost:
            await client.ping()
        assert lost.value.gave_up
        with pytest.raises(ConnectionLost):
            await state_where(room, status="over")


@contextlib.asynccontextmanager
async def absent_server(hold_ms: int, absent_seconds: float) -> AsyncIterator[tuple[HostileServer, Proxy, Messages]]:
    """Lose a server that holds seats for `hold_ms`; yield it with its proxy and the client's messages."""
    backoff = Backoff((0.01,), longest=0.01, absent_seconds=absent_seconds)
    async with (
        hostile_server(answers={Hello: lambda _: [make_welcome(hold_ms=hold_ms)]}) as server,
        Proxy(int(server.url.rpartition(":")[2])) as proxy,
        connect(proxy.url, reconnect=backoff) as client,
    ):
        messages = client.messages()
        proxy.lose()
        yield server, proxy, messages


async def test_a_hold_does_not_run_out_while_no_server_answers() -> None:
    async with absent_server(hold_ms=1, absent_seconds=PATIENCE_SECONDS) as (_, proxy, messages):
        for _ in range(5):
            await event_of(messages, Retrying)
        proxy.is_closed = False
        await event_of(messages, Back)


async def test_a_server_that_comes_back_and_is_busy_at_first_is_still_waited_for() -> None:
    refusals = [Error(code="busy", message="Too many.")] * 2
    async with absent_server(hold_ms=1_000, absent_seconds=PATIENCE_SECONDS) as (server, proxy, messages):
        while (await event_of(messages, Retrying)).left_seconds > PATIENCE_SECONDS - 1:
            pass
        server.answers[Hello] = lambda _: [refusals.pop() if refusals else make_welcome()]
        proxy.is_closed = False
        await event_of(messages, Back)
    assert not refusals


async def test_attempts_end_even_if_no_server_answers() -> None:
    async with absent_server(hold_ms=1, absent_seconds=0.05) as (_, _, messages):
        with pytest.raises(ConnectionLost) as lost:
            await event_of(messages, Back)
        assert lost.value.gave_up


async def test_the_client_tries_to_return_for_as_long_as_the_server_holds_a_seat() -> None:
    settings = ServerSettings(host="127.0.0.1", port=0, hold_seconds=300)
    async with Server(settings) as server, Proxy(server.port) as proxy, connect(proxy.url, reconnect=True) as client:
        messages = client.messages()
        proxy.cut()
        assert (await event_of(messages, Lost)).hold_seconds == 300


async def test_a_server_that_forgot_us_ends_the_attempts(proxy: Proxy) -> None:
    async with Server(ServerSettings(host="127.0.0.1", port=0)) as other, connect(proxy.url, reconnect=QUICK) as client:
        proxy.target = other.port
        messages = client.messages()
        proxy.cut()
        with pytest.raises(ConnectionLost) as lost:
            await event_of(messages, Gone)
        assert lost.value.gave_up
        assert "token" in lost.value.reason


async def test_retry_now_ends_the_wait(proxy: Proxy) -> None:
    async with connect(proxy.url, reconnect=Backoff((3600,), hold_seconds=3600)) as client:
        messages = client.messages()
        proxy.cut()
        await event_of(messages, Retrying)
        client.retry_now()
        await event_of(messages, Back)
        assert await client.ping()


async def test_a_client_that_was_put_out_does_not_come_back() -> None:
    async def put_out(socket: ServerConnection) -> None:
        await socket.recv()
        welcome = {"type": "welcome", "protocol": 2, "server": "s", "player": "p", "name": "n", "token": "t"}
        await socket.send(json.dumps({**welcome, "rooms": [], "hold_ms": 60_000, "sharing": True, "ladders": []}))
        await socket.close(1008, "too many messages")

    async with serving(put_out) as url, connect(url, reconnect=QUICK) as client:
        with pytest.raises(ConnectionLost) as lost:
            async for _ in client.messages():
                pass
    assert (lost.value.close_code, lost.value.gave_up) == (1008, False)


def test_the_waits_double_up_to_four_seconds_and_a_random_half_of_each_is_left_out() -> None:
    plain = Backoff(jitter=0)
    assert [wait for (_, wait), _ in zip(plain.ways(1), range(8), strict=False)] == [0.4, 0.8, 1.6, 3.2, 4, 4, 4, 4]
    tried = [[wait for (_, wait), _ in zip(Backoff().ways(1), range(7), strict=False)] for _ in range(300)]
    for waits, longest in zip(zip(*tried, strict=True), (0.4, 0.8, 1.6, 3.2, 4, 4, 4), strict=True):
        assert 0.5 * longest <= min(waits) < 0.55 * longest
        assert 0.95 * longest < max(waits) <= longest


def test_announced_return_times_are_spread_up_to_twice_the_wait() -> None:
    tried = [
        [wait for (_, wait), _ in zip(Backoff(jitter=0).ways(1, 1000), range(3), strict=False)] for _ in range(300)
    ]
    told, first, second = (set(waits) for waits in zip(*tried, strict=True))
    assert 1 <= min(told) < 1.1
    assert 1.9 < max(told) <= 2
    assert (first, second) == ({0.4}, {0.8})


async def test_a_transcript_that_gives_up_gives_advice(proxy: Proxy, capsys: pytest.CaptureFixture[str]) -> None:
    with pipe() as (reader, writer):
        async with connect(proxy.url, name="ana", reconnect=BRIEF) as ana, open_peer(proxy.url, "bo") as bo:
            code = (await bo.ask("create"))["room"]
            game = asyncio.create_task(
                PlainGame(session_of(ana), Keyboard(reader), Output()).run(Choice("join", code=code))
            )
            await bo.state(status="playing")
            os.write(writer, b"chat here I am\n")
            await bo.next_of("chat")
            proxy.lose()
            assert await game == 7
    assert capsys.readouterr().err == (
        "Could not get back: the connection was lost for too long. bo may claim the game. "
        f"Try again: tictactoe-client join {link_to(proxy.url, code)}\n"
    )


async def test_a_script_hears_of_the_loss_and_its_move_is_sent_again(server: Server, proxy: Proxy) -> None:
    async with run_client("new", "--json", "-s", proxy.url) as ana, open_peer(server.url, "bo") as bo:
        code = (await ana.message(type="room"))["room"]
        await bo.ask("join", room=code)
        await ana.message(type="room", status="playing")
        proxy.down.is_swallowing = True
        ana.send(type="move", at="b2")
        await bo.state(ply=1)
        proxy.down.is_swallowing = False
        proxy.cut()
        assert (await ana.message(type="disconnected"))["hold_ms"] == 60_000
        assert (await ana.message(type="reconnecting"))["attempt"] == 1
        assert (await ana.message(type="connected"))["from"] == "client"
        assert (await ana.message(type="welcome"))["player"]
        assert (await ana.message(type="room"))["board"] == "....X...."
        assert (await ana.message(type="ok"))["id"] == "line-1"
        proxy.down.is_swallowing = True
        ana.send(type="chat", text="hello")
        await bo.next_of("chat")
        proxy.down.is_swallowing = False
        proxy.cut()
        assert (await ana.message(type="error"))["code"] == "interrupted"


async def test_without_a_connection_questions_are_answered_and_a_move_is_kept(server: Server, proxy: Proxy) -> None:
    async with plain_game(proxy.url, url_of_bo=server.url) as (ana, bo, _):
        await cut_off(ana, proxy)
        before = len(ana.lines)
        ana.type("l", "s 2", "hello", "b2", "c3", "moves", "chat hi", "")
        await ana.until("There is no connection. Your")
        assert ana.lines[before:] == [
            "No move has been played yet.",
            "Row 2: A empty, B empty, C empty.",
            'I don\'t know "hello". A move looks like b2 or 5. ? for help.',
            "B2 will be played as soon as the connection is back.",
            "B2 will be played as soon as the connection is back.",
            "No move has been played yet.",
            "There is no connection. Type chat again when it is back.",
            "There is no connection. Your move, X.",
        ]
        proxy.is_closed = False
        await ana.until("Connected again after ")
        assert await ana.read_line() == "You play B2, centre."
        await bo.state(ply=1)
        ana.type("l")
        assert await ana.read_line() == "Last: you played B2, centre."


async def test_ctrl_c_without_a_connection_ends_at_once_and_keeps_the_seat(server: Server, proxy: Proxy) -> None:
    async with run_client("new", "-n", "ana", "-s", proxy.url) as ana:
        code = (await ana.until("Code")).split()[1]
        await ana.until("Waiting for another player.")
        await cut_off(ana, proxy)
        ana.process.send_signal(signal.SIGINT)
        assert await ana.end() == 130
    assert code in rooms_left(proxy.url)
