import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.authority import Authority
from tests.end_to_end.clients import COMMAND, run_client
from tests.ports import free_ports
from tests.terminal import run_screen
from tictactoe_client import connect
from tictactoe_client.online.backoff import Backoff
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.specs import Storage


@contextlib.asynccontextmanager
async def secured(authority: Authority, port: int = 0, store: Storage | None = None) -> AsyncIterator[Server]:
    settings = Settings(host="127.0.0.1", port=port, tls_cert=authority.cert, tls_key=authority.key)
    async with Server(settings, store) as server:
        yield server


async def tls_error(authority: Authority, host: str = "localhost", ca: Path | None = None) -> str:
    """Return the words in brackets in the command's complaint about a server with this certificate."""
    async with secured(authority) as server:
        url = f"wss://{host}:{server.port}"
        async with run_client("check", "--plain", "-s", url, "--ca", str(ca or authority.ca)) as client:
            assert await client.end() == 3
            first, *_ = (await client.errors()).removeprefix("✗ ").splitlines()
            return first.removeprefix(f"Can't reach {url}  (").rstrip(")")


async def test_a_private_authority_is_trusted_everywhere(authority: Authority) -> None:
    async with secured(authority) as server:
        async with run_client("rooms", "--json", "-s", server.url, "--ca", str(authority.ca)) as client:
            assert await client.end() == 0
        async with run_screen(*COMMAND, "-s", server.url, TICTACTOE_CA=str(authority.ca)) as screen:
            await screen.shows("Find an opponent", "●")
            screen.type("\x11")
            assert await screen.end() == 0


async def test_the_certificate_itself_can_be_trusted(authority: Authority) -> None:
    async with secured(authority) as server, connect(server.url, ca=authority.cert) as client:
        assert client.player


async def test_a_reconnect_uses_the_same_trust_settings(authority: Authority) -> None:
    backoff, store = Backoff(first=(0.05,), longest=0.05, jitter=0), MemoryStore(kept_by())
    (port,) = free_ports(1)
    async with contextlib.AsyncExitStack() as stack:
        async with secured(authority, port, store) as server:
            client = await stack.enter_async_context(connect(server.url, ca=authority.ca, reconnect=backoff))
        async with secured(authority, port, store):
            assert await client.ping()


async def test_a_certificate_for_another_name_is_reported(authority: Authority) -> None:
    authority.issue("play.example.org")
    assert await tls_error(authority) == "TLS: its certificate is not for localhost"
    assert await tls_error(authority, "127.0.0.1") == "TLS: its certificate is not for 127.0.0.1"


async def test_an_expired_certificate_is_reported(authority: Authority) -> None:
    authority.issue(until=datetime.now(UTC) - timedelta(days=1))
    assert await tls_error(authority) == "TLS: its certificate has expired"


async def test_an_unknown_issuer_is_reported(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other")
    told = await tls_error(authority, ca=stranger.ca)
    assert told == (
        "TLS: its certificate was issued by an authority that this machine does not trust; --ca FILE adds a trusted one"
    )


@pytest.mark.parametrize(
    ("name", "told"), [("nothing.pem", "nothing.pem: no such file or directory"), ("key.pem", "key.pem contains no")]
)
async def test_a_file_without_certificates_is_reported(
    authority: Authority, tmp_path: Path, name: str, told: str
) -> None:
    assert (await tls_error(authority, ca=tmp_path / name)).startswith(f"TLS: {tmp_path}/{told}")
