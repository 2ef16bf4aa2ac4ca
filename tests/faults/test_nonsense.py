"""A server that sends nonsense: every front end of the client ends with a sentence and a code, or continues."""

import asyncio
import contextlib
import json
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace
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
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import ChatLine, Error, Notice, Ok
from tictactoe_protocol.requests import Join
from tictactoe_protocol.requests import Request as Asked
from tictactoe_protocol.terms import ClockState

COMPLAINT = "The server breaks the protocol"
Deed = Callable[[HostileServer], Awaitable[None]]


def send(*frames: Frame) -> Deed:
    return lambda server: server.push(*frames)


def send_state(**fields: Any) -> Deed:
    return send(json.dumps({**to_builtins(state(5, (4,))), **fields}))


async def send_no_text(server: HostileServer) -> None:
    assert server.socket is not None
    await server.socket.send(b'{"type":"new","of":"\xff\xfe"}', text=True)


async def send_no_websocket(server: HostileServer) -> None:
    assert server.socket is not None
    server.socket.transport.write(b"\xff" * 200)


BROKEN: dict[str, Deed] = {
    "no JSON": send("hello"),
    "nothing": send(""),
    "not a number": send_state(ply=float("nan")),
    "nested without end": send('{"type":"room","room":' + "[" * 50_000),
    "board of wrong length": send_state(board="..."),
    "a number without end": send_state(seq=10**400),
    "other rules": send(state(5, rules=PRESETS["gomoku"])),
    "no room code": send_state(room="$(id)"),
    "binary": send(b'{"type":"notice","code":"restarting","retry_ms":1}'),
    "no UTF-8": send_no_text,
    "no WebSocket": send_no_websocket,
    "message of five MiB": send('{"type":"new","of":"' + "x" * 5 * 2**20 + '"}'),
}
HARMLESS: dict[str, Deed] = {
    "unknown types": send(*(json.dumps({"type": f"new-{number}", "of": [number]}) for number in range(500))),
    "welcomes without end": send(*[make_welcome(protocol=9, player="p-x")] * 500),
    "a chat of a megabyte": send(ChatLine(room=ROOM, from_="x", seat=None, text="y" * 2**20, at=0, player=OTHER)),
    "several moves at once": send(state(5, (4, 0, 8))),
    "a seq that goes back": send(state(9), state(3, (4, 0)), state(-7)),
    "another room": send(replace(state(9, (4, 0)), room="AAAAAA")),
    "answers to nothing": send(Ok(id="nobody"), Error(id="nobody", code="x", message="y"), Ok(id="client-99")),
    "a clock below nothing": send(state(5, clock=ClockState({"X": -(10**9), "O": 10**15}, "X"))),
    "a restart in the past": send(Notice("restarting", -(10**9))),
    "fields that are new": send_state(novelty={"of": [1, 2, 3]}),
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

    await try_each(["no JSON", "board of wrong length", "binary", "no WebSocket", "message of five MiB"], attempt)


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


SENSELESS: dict[str, Answer] = {
    "no room": lambda request: [Ok(id=identity(request))],
    "no room code": lambda request: [Ok(id=identity(request), room="; rm -rf ~", seat="X")],
    "no mark": lambda request: [Ok(id=identity(request), room=ROOM, seat="XO")],
    "no cell": lambda request: seated(request, (-1,)),
    "a cell twice": lambda request: seated(request, (5, 5)),
    "off the board": lambda request: seated(request, (700,)),
}


def seated(request: Asked, moves: tuple[int, ...]) -> list[Frame]:
    """Return a seat, and a state with impossible moves."""
    return [Ok(id=identity(request), room=ROOM, seat="X"), replace(state(), moves=moves)]


async def test_an_answer_to_join_that_makes_no_sense_ends_with_four() -> None:
    async def attempt(name: str) -> None:
        mode = "--json" if name == "no room" else "--plain"
        async with (
            hostile_server("bo", {Join: SENSELESS[name]}) as server,
            run_client("join", ROOM, mode, "-s", server.url) as client,
        ):
            assert await client.end() == 4
            assert (await client.errors()).startswith(COMPLAINT)

    await try_each(SENSELESS, attempt)


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
