import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.peer import until
from tests.raw import open_bytes, read_to_end
from tests.server.cases import cases
from tests.server.deadlines import expire
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.transport.http_connection import MAX_REQUESTS
from tictactoe_server.transport.http_messages import BadRequest, HttpRequest, HttpResponse, read_request, say

HOST = b"Host: localhost\r\n"


class Answer:
    def __init__(self, status: int, fields: dict[str, str], body: bytes) -> None:
        self.status = status
        self.fields = fields
        self.body = body


async def read_answer(reader: asyncio.StreamReader, *, with_body: bool = True) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head[:-4].split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(fields.get("content-length", 0))) if with_body else b""
    return Answer(int(first.split()[1]), fields, body)


async def heard(server: Server, request: bytes) -> bytes:
    """Return everything that is answered to these bytes until the server closes the connection."""
    async with open_bytes(server.port) as (reader, writer):
        writer.write(request)
        return await read_to_end(reader)


@asynccontextmanager
async def answering(
    server: Server, answer: Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]
) -> AsyncIterator[None]:
    """Replace the answers of the server's pages."""
    before, server._admission.answer = server._admission.answer, answer
    yield
    server._admission.answer = before


async def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    async def slowly(request: HttpRequest) -> HttpResponse:
        await asyncio.sleep(0.05)
        return say(HTTPStatus.OK, request.path)

    def answer(request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        return slowly(request) if request.query == "slow" else say(HTTPStatus.OK, request.path)

    asked = [f"/{number}{'?slow' if number % 3 == 0 else ''}" for number in range(40)]
    async with answering(server, answer), open_bytes(server.port) as (reader, writer):
        writer.write(b"".join(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for path in asked))
        bodies = [(await read_answer(reader)).body.decode() for _ in asked]
    assert bodies == [f"/{number}\n" for number in range(40)]


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"], ids=["the end of input", "the wish to close"])
async def test_all_is_answered_before_the_end(server: Server, last: bytes) -> None:
    async def slowly(request: HttpRequest) -> HttpResponse:
        await asyncio.sleep(0.02)
        return say(HTTPStatus.OK, request.path)

    async with answering(server, slowly), open_bytes(server.port) as (reader, writer):
        writer.write((b"GET /a HTTP/1.1\r\n" + HOST + b"\r\n") * 3 + b"GET /b HTTP/1.1\r\n" + HOST + last + b"\r\n")
        if not last:
            writer.write_eof()
        everything = await read_to_end(reader)
    assert [everything.count(b"/a\n"), everything.count(b"/b\n")] == [3, 1]
    assert everything.endswith(b"/b\n")


@pytest.mark.limits(outbox_bytes=8192, catch_up_seconds=600)
async def test_a_client_that_does_not_read_gets_limited_answers(server: Server) -> None:
    asked = 0

    def answer(_: HttpRequest) -> HttpResponse:
        nonlocal asked
        asked += 1
        return HttpResponse(HTTPStatus.OK, b"x" * 1_000_000)

    async with answering(server, answer), open_bytes(server.port) as (reader, writer):
        writer.write((b"GET /a HTTP/1.1\r\n" + HOST + b"\r\n") * MAX_REQUESTS)
        await until(lambda: asked >= 5)
        await asyncio.sleep(0.2)
        assert asked < 50
        for _ in range(MAX_REQUESTS):
            assert len((await read_answer(reader)).body) == 1_000_000
    assert asked == MAX_REQUESTS


async def test_the_last_request_that_a_connection_may_bring_is_answered_with_its_end(server: Server) -> None:
    answers = await heard(server, (b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n") * (MAX_REQUESTS + 50))
    assert answers.count(b"HTTP/1.1 200 ") == MAX_REQUESTS
    assert answers.count(b"Connection: keep-alive") == MAX_REQUESTS - 1
    assert answers.count(b"Connection: close") == 1


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
async def test_it_does_not_matter_in_which_pieces_requests_come(server: Server, size: int) -> None:
    asked = (b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n") * 3 + b"HEAD /wall HTTP/1.1\r\n" + HOST + b"\r\n"
    asked += b"GET /wall HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    whole = await heard(server, asked)
    async with open_bytes(server.port) as (reader, writer):
        for start in range(0, len(asked), size):
            writer.write(asked[start : start + size])
            await writer.drain()
            await asyncio.sleep(0)
        pieces = await read_to_end(reader)
    without_dates = [re.sub(rb"Date: [^\r]*", b"", answers) for answers in (whole, pieces)]
    assert without_dates[0] == without_dates[1]
    assert whole.count(b"HTTP/1.1 200") == 5


@given(st.binary(max_size=300) | st.text("GET /:aH\r\n\t\0. ohstP1", max_size=80).map(str.encode))
def test_whatever_a_head_is_it_is_a_request_or_refused(head: bytes) -> None:
    for whole in (head, b"GET / HTTP/1.1\r\nHost: a\r\n" + head, b"GET /" + head + b" HTTP/1.1\r\nHost: a"):
        try:
            found = read_request(whole + b"\r\n\r\n")
        except BadRequest:
            continue
        assert found is not None
        request = found[0]
        assert re.fullmatch(r"[\w.~:\[\]-]*", request.host, re.ASCII)
        assert not any("\n" in value or "\0" in value for values in request.fields.values() for value in values)


async def test_other_methods_are_answered_with_405_and_the_allowed_ones(server: Server) -> None:
    for request in ("POST /", "PUT /healthz", "DELETE /K7M4PQ", "OPTIONS *", "TRACE /", "PATCH /", "BREW /"):
        async with open_bytes(server.port) as (reader, writer):
            writer.write(f"{request} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            found = await read_answer(reader)
            assert (found.status, found.fields["allow"]) == (405, "GET, HEAD"), request
            assert b"GET or HEAD" in found.body


@pytest.mark.parametrize("path", ["/healthz", "/", "/K7M4PQ", "/nothing-of-this"])
async def test_head_is_answered_as_get_without_its_body(server: Server, path: str) -> None:
    async with open_bytes(server.port) as (reader, writer):
        for method in ("GET", "HEAD", "HEAD", "GET"):
            writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answers = [await read_answer(reader, with_body=with_body) for with_body in (True, False, False, True)]
    assert len({answer.status for answer in answers}) == 1
    assert len({answer.fields["content-length"] for answer in answers}) == 1
    assert answers[0].body == answers[3].body != b""


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", b"413"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", b"405"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 99999999999\r\n\r\n" + b"x" * 100_000, b"413"),
    ],
)
async def test_a_body_is_not_read_and_ends_the_connection(server: Server, body: bytes, status: bytes) -> None:
    answer = await heard(server, body + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert answer.count(b"HTTP/1.1 ") == 1


async def test_no_body_may_be_said_to_be_there(server: Server) -> None:
    async with open_bytes(server.port) as (reader, writer):
        writer.write((b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n\r\n") * 2)
        assert [(await read_answer(reader)).status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("head", cases("heads that can be read in two ways"))
async def test_ambiguous_requests_are_refused_and_the_connection_closed(server: Server, head: str) -> None:
    answer = await heard(server, head.encode("latin-1") + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\nConnection: close\r\n" in answer
    assert answer.partition(b"\r\n\r\n")[2].strip()


async def test_a_handshake_without_upgrade_is_answered_with_advice_on_proxies(server: Server) -> None:
    kept = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nConnection: close\r\n\r\n"
    for path in (b"/", b"/ws"):
        for version in (b"1.0", b"1.1"):
            answer = await heard(server, b"GET %b HTTP/%b\r\n%b%b" % (path, version, HOST, kept))
            assert answer.startswith(b"HTTP/1.1 426 ")
            assert b"\r\nUpgrade: websocket\r\n" in answer
            assert b"proxy" in answer


async def test_an_address_may_be_said_in_full_and_then_names_the_host(server: Server) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        return say(HTTPStatus.OK, f"{request.host} {request.path} {request.query}")

    async with answering(server, answer):
        asked = b"GET http://there.local:80/a%20b?c=d HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
        assert (await heard(server, asked)).endswith(b"there.local:80 /a b c=d\n")


async def test_requests_for_another_host_are_refused(server: Server) -> None:
    asked = b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert (await heard(server, asked)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.features
@pytest.mark.parametrize("path", ["/api/rooms", "/e/K7M4PQ.json", "/replay/a"])
@pytest.mark.limits(answer_megabytes_per_minute_per_address=1)
async def test_the_volume_of_answers_is_limited_by_address(server: Server, path: str) -> None:
    async with answering(server, lambda request: say(HTTPStatus.OK, "x" * 600_000)):
        statuses = []
        for asked in ("/", "/", path, path, path, "/"):
            request = f"GET {asked} HTTP/1.1\r\n".encode() + HOST + b"Connection: close\r\n\r\n"
            statuses.append((await heard(server, request)).split(b" ", 2)[1])
    assert statuses == [b"200"] * 4 + [b"429", b"200"]


@pytest.mark.limits(hello_seconds=600.0)
async def test_idle_keep_alive_connections_are_closed(server: Server) -> None:
    async with open_bytes(server.port) as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (await read_answer(reader)).status == 200
        (connection,) = server._listener.connections
        expire(connection)
        assert await read_to_end(reader) == b""
    await until(lambda: not server._admission.connections)


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"], ids=["keep-alive", "close"])
@pytest.mark.limits(hello_seconds=600.0, close_seconds=600.0)
async def test_a_slow_reader_gets_the_complete_answer(server: Server, last: bytes) -> None:
    body = bytes(range(256)) * 40_000
    async with (
        answering(server, lambda _: HttpResponse(HTTPStatus.OK, body)),
        open_bytes(server.port) as (reader, writer),
    ):
        writer.write(b"GET /a HTTP/1.1\r\n" + HOST + last + b"\r\n")
        await reader.readuntil(b"\r\n\r\n")
        (connection,) = server._listener.connections
        got = b""
        while unsent := connection._transport.get_write_buffer_size():
            expire(connection)
            while unsent == connection._transport.get_write_buffer_size():
                data = await reader.read(400_000)
                assert data, "the server has hung up"
                got += data
        assert got + await reader.readexactly(len(body) - len(got)) == body


@pytest.mark.parametrize(
    ("forwarded", "host", "origin"),
    [
        ("", "play.example", "https://play.example"),
        ("", "other.example", "http://other.example"),
        ("X-Forwarded-Proto: http\r\n", "play.example", "http://play.example"),
        ("X-Forwarded-Proto: http, https\r\n", "other.example", "https://other.example"),
    ],
)
async def test_the_scheme_behind_a_proxy_follows_header_or_origin(forwarded: str, host: str, origin: str) -> None:
    settings = Settings("127.0.0.1", 0, trusted_proxies=(ip_network("127.0.0.1"),), origins=("https://play.example",))
    async with (
        Server(settings) as server,
        answering(server, lambda request: say(HTTPStatus.OK, request.origin)),
        open_bytes(server.port) as (reader, writer),
    ):
        writer.write(f"GET /a HTTP/1.1\r\nHost: {host}\r\n{forwarded}\r\n".encode())
        assert (await read_answer(reader)).body.decode() == f"{origin}\n"
