"""A server that sends nonsense: every front end of the client ends with a sentence and a code, or continues."""

import asyncio
import contextlib
import json
import signal
from collections.abc import Awaitable, Callable

import pytest
from msgspec import to_builtins
from websockets.exceptions import ConnectionClosed

from tests.end_to_end.clients import COMMAND, run_client
from tests.faults.hostile_server import (
    OTHER,
    ROOM,
    Answer,
    Frame,
    HostileServer,
    hostile_server,
    identity,
    make_welcome,
    state,
)
from tests.terminal import RESTORED, run_screen
from tests.together import try_each
from tictactoe_protocol.pushes import ChatLine, Error, Ok
from tictactoe_protocol.requests import Join

COMPLAINT = "The server breaks the protocol"
Deed = Callable[[HostileServer], Awaitable[None]]


def send(*frames: Frame) -> Deed:
    return lambda server: server.push(*frames)


async def send_no_text(server: HostileServer) -> None:
    assert server.socket is not None
    await server.socket.send(b'{"type":"new","of":"\xff\xfe"}', text=True)


async def send_no_websocket(server: HostileServer) -> None:
    assert server.socket is not None
    server.socket.transport.write(b"\xff" * 200)


BROKEN: dict[str, Deed] = {
    "no JSON": send("hello"),
    "nested without end": send('{"type":"room","room":' + "[" * 50_000),
    "board of wrong length": send(json.dumps({**to_builtins(state(5, (4,))), "board": "..."})),
    "binary": send(b'{"type":"notice","code":"restarting","retry_ms":1}'),
    "no UTF-8": send_no_text,
    "no WebSocket": send_no_websocket,
    "message of five MiB": send('{"type":"new","of":"' + "x" * 5 * 2**20 + '"}'),
}
HARMLESS: dict[str, Deed] = {
    "unknown types": send(*(json.dumps({"type": f"new-{number}", "of": [number]}) for number in range(500))),
    "welcomes without end": send(*[make_welcome(protocol=9, player="p-x")] * 500),
    "a chat of a megabyte": send(ChatLine(room=ROOM, from_="x", seat=None, text="y" * 2**20, at=0, player=OTHER)),
    "a seq that goes back": send(state(9), state(3, (4, 0)), state(-7)),
    "answers to nothing": send(Ok(id="nobody"), Error(id="nobody", code="x", message="y"), Ok(id="client-99")),
}


@pytest.mark.parametrize("mode", ["--plain", "--json"])
async def test_nonsense_ends_the_run_with_a_sentence_and_four(mode: str) -> None:
    async def attempt(name: str) -> None:
        async with (
            hostile_server("bo") as server,
            run_client("join", ROOM, mode, "-s", server.url) as client,
        ):
            await client.until("Your move, X." if mode == "--plain" else '{"type":"room"')
            await BROKEN[name](server)
            assert await client.end() == 4
            errors = await client.errors()
        assert errors.startswith(COMPLAINT)
        assert errors.count("\n") == 1
        if mode == "--json":
            told = [json.loads(line) for line in client.lines[-3:]]
            assert [message["type"] for message in told] == ["disconnected", "error", "closed"]
            assert (told[1]["code"], told[2]["exit"]) == ("version", 4)

    await try_each(BROKEN, attempt)


async def test_the_full_screen_ends_with_a_sentence_and_four() -> None:
    async def attempt(name: str) -> None:
        async with (
            hostile_server("bo") as server,
            run_screen(*COMMAND, "join", ROOM, "-s", server.url) as screen,
        ):
            await screen.until("Your move")
            await BROKEN[name](server)
            assert await screen.end() == 4
        assert all(sequence in screen.written for sequence in RESTORED)
        assert COMPLAINT.encode() in screen.written.rpartition(RESTORED[0])[2]
        assert b"Traceback" not in screen.written

    await try_each(BROKEN, attempt)


async def test_a_transcript_survives_invalid_messages() -> None:
    async def attempt(name: str) -> None:
        async with (
            hostile_server("bo") as server,
            run_client("join", ROOM, "--plain", "-s", server.url) as client,
        ):
            await client.until("Your move, X.")
            await HARMLESS[name](server)
            client.type("o")
            await client.until("You are X.")
            client.process.send_signal(signal.SIGINT)
            assert await client.end() == 130
            assert await client.errors() == ""

    await try_each(HARMLESS, attempt)


@pytest.mark.parametrize(("room", "seat"), [("; rm -rf ~", "X"), (ROOM, "XO")], ids=["no room code", "no mark"])
async def test_an_answer_to_join_that_makes_no_sense_ends_with_four(room: str, seat: str) -> None:
    answers: dict[type, Answer] = {Join: lambda request: [Ok(id=identity(request), room=room, seat=seat)]}
    async with (
        hostile_server("bo", answers) as server,
        run_client("join", ROOM, "--plain", "-s", server.url) as client,
    ):
        assert await client.end() == 4
        assert (await client.errors()).startswith(COMPLAINT)


async def flood(server: HostileServer) -> None:
    with contextlib.suppress(ConnectionClosed):
        while True:
            await server.push(*[ChatLine(room=ROOM, from_="x", seat=None, text="y" * 100, at=0, player=OTHER)] * 10)


@pytest.mark.parametrize("mode", ["--plain", "--json"])
async def test_a_flood_drowns_no_ctrl_c(mode: str) -> None:
    async with hostile_server() as server, run_client("join", ROOM, mode, "-s", server.url) as client:
        await client.until("Your move" if mode == "--plain" else '{"type":"room"')
        flooding = asyncio.create_task(flood(server))
        await client.until("x (watching)" if mode == "--plain" else '{"type":"chat"')
        client.process.send_signal(signal.SIGINT)
        assert await client.end() == 130
        await flooding
