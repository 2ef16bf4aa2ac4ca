import asyncio
import contextlib
import os
import ssl
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.authority import Authority
from tests.environment import environment
from tests.peer import open_peer, until
from tests.raw import open_bytes, read_to_end
from tests.server.test_plain_http import answering
from tictactoe_server import OperatorError
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, say


@contextlib.asynccontextmanager
async def secured(authority: Authority, limits: Limits | None = None, host: str = "localhost") -> AsyncIterator[Server]:
    settings = Settings(host=host, port=0, tls_cert=authority.cert, tls_key=authority.key)
    async with Server(settings, limits=limits) as server:
        yield server


async def names_shown(server: Server, authority: Authority) -> set[str]:
    trusting = authority.trusting()
    trusting.check_hostname = False
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trusting)
    shown = writer.get_extra_info("peercert")
    writer.close()
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()
    return {name for _, name in shown["subjectAltName"]}


async def test_a_tls_client_that_leaves_is_not_logged(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    is_asked = asyncio.Event()

    async def never(_: HttpRequest) -> HttpResponse:
        is_asked.set()
        await asyncio.sleep(60)
        return say(HTTPStatus.OK, "late")

    async with secured(authority) as server, answering(server, never):
        _, writer = await asyncio.open_connection("localhost", server.port, ssl=authority.trusting())
        writer.write(b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await is_asked.wait()
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()
        await until(lambda: not server._admission.connections)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize(
    "begin", [b"", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n"], ids=["mute", "half", "HTTP"]
)
async def test_an_unfinished_tls_handshake_is_dropped_in_time(authority: Authority, begin: bytes) -> None:
    async with secured(authority, Limits(hello_seconds=0.2)) as server:
        async with open_bytes(server.port) as (reader, writer):
            writer.write(begin)
            await read_to_end(reader)
        await until(lambda: not server._listener.connections)


@pytest.mark.parametrize(
    "limits", [Limits(connections=3, connections_per_address=0), Limits(connections_per_address=3)]
)
async def test_handshakes_that_never_end_count_like_connections(authority: Authority, limits: Limits) -> None:
    async with secured(authority, limits) as server, contextlib.AsyncExitStack() as stack:
        inside = await stack.enter_async_context(open_peer(server.url, tls=authority.trusting()))
        silent = [await stack.enter_async_context(open_bytes(server.port)) for _ in range(2)]
        async with open_bytes(server.port) as (reader, _):
            assert await read_to_end(reader) == b""
        assert (await inside.ask("ping"))["type"] == "ok"
        for _, writer in silent:
            writer.close()
        while True:
            with contextlib.suppress(OSError):
                async with open_peer(server.url, tls=authority.trusting()) as newcomer:
                    assert newcomer.welcome["type"] == "welcome"
                    break


async def test_a_server_that_stops_does_not_wait_for_handshakes_of_tls(authority: Authority) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with secured(authority, Limits(hello_seconds=1)) as server:
            reader, _ = await stack.enter_async_context(open_bytes(server.port))
        assert list(server._listener.connections) == []
        assert await read_to_end(reader) == b""


async def test_renewed_files_count_for_new_connections_and_end_no_old_one(authority: Authority) -> None:
    async with (
        secured(authority, Limits(certificate_seconds=0.01)) as server,
        open_peer(server.url, tls=authority.trusting()) as old,
    ):
        authority.issue("play.example.org")
        while await names_shown(server, authority) != {"play.example.org"}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert (await old.ask("ping"))["type"] == "ok"


async def test_wrong_pairs_are_ignored(authority: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with secured(authority) as server:
        assert server.certificate is not None
        (tmp_path / "other").mkdir()
        other = Authority(tmp_path / "other")
        other.issue("play.example.org")
        os.replace(other.cert, authority.cert)
        server.certificate.renew()
        assert await names_shown(server, authority) == {"localhost", "127.0.0.1"}
        authority.cert.unlink()
        server.certificate.renew()
        assert await names_shown(server, authority) == {"localhost", "127.0.0.1"}
    message = "certificate not reloaded: the old one stays in use"
    told = [record.reason for record in caplog.records if record.message == message]  # type: ignore[attr-defined]
    assert told == [
        f"The key {authority.key} does not belong to the certificate {authority.cert}.",
        f"Cannot read {authority.cert}: no such file or directory.",
    ]


async def test_certificate_names_exclude_wildcards(authority: Authority) -> None:
    authority.issue("10.0.0.7", "*.example.org", "play.example.org", "localhost")
    assert Certificate(authority.cert, authority.key).names == ("play.example.org", "localhost", "10.0.0.7")


async def test_an_expired_certificate_is_logged(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    authority.issue(until=datetime.now(UTC) - timedelta(days=1))
    assert Certificate(authority.cert, authority.key).names
    assert "certificate has expired: clients reject it" in caplog.messages


def test_encrypted_keys_and_unusable_files_are_refused(authority: Authority, tmp_path: Path) -> None:
    encrypted = str(tmp_path / "encrypted.pem")
    command = ("openssl", "pkey", "-aes128", "-passout", "pass:secret", "-in", str(authority.key), "-out", encrypted)
    subprocess.run(command, check=True, capture_output=True, env=environment())
    with pytest.raises(OperatorError, match=f"The key {encrypted} is encrypted. Use a key without a passphrase."):
        Certificate(authority.cert, Path(encrypted))
    with pytest.raises(OperatorError, match=f"Cannot read {tmp_path}: is a directory."):
        Certificate(authority.cert, tmp_path)
    with pytest.raises(OperatorError, match=r"Cannot use the certificate in .* or the key in .*: not in pem format\."):
        Certificate(authority.key, authority.cert)
