import asyncio
import contextlib
import json
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.authority import Authority
from tests.end_to_end.clients import COMMAND, run_client
from tests.faults.hostile_server import ROOM, Answer, Frame, hostile_server, identity
from tests.raw import Serving, listening
from tests.terminal import RESTORED, run_screen
from tests.together import try_each
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Hello, Join, Request
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


def answering(answer: bytes) -> Serving:
    """Return a server that reads once, answers once and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read(4096)
            writer.write(answer)
            await writer.drain()
            writer.close()

    return serve


async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(4096):
            pass
        writer.close()


@pytest.fixture
def certificate(authority: Authority) -> ssl.SSLContext:
    """Return a server's TLS context with a certificate of an authority that clients do not trust."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.cert, authority.key)
    return context


@contextlib.asynccontextmanager
async def trouble(kind: str, certificate: ssl.SSLContext) -> AsyncIterator[str]:
    """Yield the address of a server that fails in this way."""
    http = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    elsewhere = b"HTTP/1.1 302 Found\r\nLocation: gopher://nowhere/\r\nContent-Length: 0\r\n\r\n"
    answers = {
        "HTTP": http,
        "not found": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "elsewhere": elsewhere,
        "TLS behind nginx": b"HTTP/1.1 400 Bad Request\r\n\r\nThe plain HTTP request was sent to HTTPS port",
        "garbage": b"\x00\x1b]0;owned\x07SSH-2.0-x\r\n\r\n" * 9,
        "hangs up": b"",
        "endless header": b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 100_000,
        "half a handshake": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    }
    if kind in answers:
        async with listening(answering(answers[kind])) as port:
            yield f"ws://127.0.0.1:{port}"
    elif kind == "silence":
        async with listening(keep_silent) as port:
            yield f"ws://127.0.0.1:{port}"
    elif kind == "silence after the handshake":
        async with hostile_server("bo", {Hello: lambda _: []}) as server:
            yield server.url
    elif kind == "TLS without TLS":
        async with listening(answering(http)) as port:
            yield f"wss://127.0.0.1:{port}"
    elif kind in ("another host", "another port"):
        async with hostile_server() as server:
            place = server.url.replace("127.0.0.1", "localhost" if kind == "another host" else "127.0.0.1").encode()
            redirect = b"HTTP/1.1 302 Found\r\nLocation: " + place + b"\r\nContent-Length: 0\r\n\r\n"
            async with listening(answering(redirect)) as port:
                yield f"ws://127.0.0.1:{port}"
            assert server.heard == []
    elif kind == "TLS where none is spoken":
        async with listening(keep_silent, certificate) as port:
            yield f"ws://127.0.0.1:{port}"
    elif kind == "TLS to a server without":
        async with Server(Settings(host="127.0.0.1", port=0)) as server:
            yield f"wss://127.0.0.1:{server.port}"
    elif kind == "TLS of a stranger":
        async with listening(keep_silent, certificate) as port:
            yield f"wss://localhost:{port}"
    else:
        yield {"refused": "ws://127.0.0.1:1", "no such host": "ws://nowhere.invalid:8765"}[kind]


AFTER_AN_ANSWER = "5"
"""How many seconds to wait for the second answer of a server that gave the first one, also on a busy machine."""

TROUBLE = {
    "refused": "connection refused",
    "no such host": "no such host",
    "HTTP": "the server answered HTTP 200",
    "not found": "the server answered HTTP 404",
    "elsewhere": "this is not a WebSocket server",
    "another host": "the server redirects to ws://localhost:",
    "another port": "the server redirects to ws://127.0.0.1:",
    "TLS where none is spoken": "this is not a WebSocket server; if it needs TLS, use wss://",
    "TLS behind nginx": "the server needs TLS: use wss://",
    "garbage": "this is not a WebSocket server",
    "hangs up": "this is not a WebSocket server",
    "endless header": "this is not a WebSocket server",
    "half a handshake": "this is not a WebSocket server",
    "silence": "no answer within 0.5 s",
    "silence after the handshake": f"no answer to hello within {AFTER_AN_ANSWER} s",
    "TLS without TLS": "TLS: the server seems not to use it; if so, use ws://",
    "TLS to a server without": "TLS: the server seems not to use it; if so, use ws://",
    "TLS of a stranger": "TLS: its certificate was issued by an authority that this machine does not trust",
}


ANSWERED = (
    *("HTTP", "not found", "another host", "another port"),
    *("TLS behind nginx", "TLS of a stranger", "TLS without TLS", "TLS to a server without"),
)
"""Servers that answer by HTTP or to a TLS handshake, so the player needs no advice on how to start one."""


def patience(kind: str) -> str:
    """Return how many seconds to wait for such a server: few for a silent one, else enough for an answer."""
    return {"silence": "0.5", "silence after the handshake": AFTER_AN_ANSWER}.get(kind, "120")


@pytest.mark.parametrize("kind", TROUBLE)
async def test_a_command_explains_a_missing_server_in_one_sentence(kind: str, certificate: ssl.SSLContext) -> None:
    async with trouble(kind, certificate) as url:
        async with run_client("play", "--plain", "--timeout", patience(kind), "-s", url) as client:
            assert await client.end() == 3
            errors = await client.errors()
        assert errors.removeprefix("✗ ").startswith(f"Can't reach {url}  ({TROUBLE[kind]}")
        assert errors.count("\n") == {"no such host": 3, **dict.fromkeys(ANSWERED, 1)}.get(kind, 4)
        assert client.lines == [f"Connecting to {url} ..."]


async def test_advice_names_the_server_by_its_path_if_the_client_was_started_by_its_own() -> None:
    client, server = (str(Path(sys.executable).with_name(f"tictactoe-{name}")) for name in ("client", "server"))
    async with run_client("rooms", "-s", "ws://localhost:1", command=(client,), PATH="/bin") as rooms:
        assert f"Start one:  {server}\n" in await rooms.errors()


async def test_json_mode_ends_with_its_last_line_and_three(certificate: ssl.SSLContext) -> None:
    async with trouble("HTTP", certificate) as url, run_client("play", "--json", "-s", url) as client:
        assert await client.end() == 3
        told, closed = map(json.loads, client.lines)
        assert (told["type"], told["code"]) == ("error", "unreachable")
        assert told["message"].startswith(f"Can't reach {url}")
        assert closed == {"from": "client", "type": "closed", "exit": 3}


@pytest.mark.parametrize("kind", ["garbage", "silence"])
async def test_the_screen_says_why_there_is_no_server_and_how_to_go_on(kind: str, certificate: ssl.SSLContext) -> None:
    async with (
        trouble(kind, certificate) as url,
        run_screen(*COMMAND, "--timeout", patience(kind), "-s", url) as screen,
    ):
        first_words = " ".join(TROUBLE[kind].split()[:3])
        await screen.shows("✗ Can't reach", first_words, "Or choose another server:", "r tries again", "r retry")
        screen.type("\x11")
        assert await screen.end() == 3
        assert all(sequence in screen.written for sequence in RESTORED)
        assert b"Traceback" not in screen.written


@pytest.mark.parametrize("kind", ["silence", "silence after the handshake"])
async def test_connecting_can_be_cancelled_at_once(kind: str, certificate: ssl.SSLContext) -> None:
    for key, code in (("\x03", 130), ("\x11", 0)):
        async with trouble(kind, certificate) as url, run_screen(*COMMAND, "--timeout", "3600", "-s", url) as screen:
            await screen.shows("Connecting to")
            screen.type(key)
            assert await screen.end() == code
    async with (
        trouble(kind, certificate) as url,
        run_client("play", "--plain", "--timeout", "3600", "-s", url) as client,
    ):
        await client.until("Connecting to")
        client.process.send_signal(signal.SIGINT)
        assert await client.end() == 130
        assert await client.errors() == ""


async def test_a_server_that_falls_silent_is_not_waited_for_without_end() -> None:
    def let_in(request: Request) -> list[Frame]:
        return [Ok(id=identity(request), room=ROOM, seat="X")]

    async def attempt(case: tuple[Answer, str, str]) -> None:
        answer, mode, said = case
        options = ("--timeout", AFTER_AN_ANSWER)
        async with hostile_server("bo", {Join: answer}) as server:
            command = ("join", ROOM, *options, "-s", server.url)
            if mode == "full screen":
                async with run_screen(*COMMAND, *command) as screen:
                    await screen.shows(said)
                    screen.type("\x11")
                    assert await screen.end() == 0
            else:
                async with run_client(*command, mode) as client:
                    assert await client.end() == 3
                    assert said in await client.errors()

    unanswered = f"no answer to join within {AFTER_AN_ANSWER} s"
    cases: list[tuple[Answer, str, str]] = [
        *((lambda _: [], mode, unanswered) for mode in ("--plain", "--json", "full screen")),
        *((let_in, mode, unanswered) for mode in ("--plain", "--json")),
    ]
    await try_each(cases, attempt, at_a_time=len(cases))
