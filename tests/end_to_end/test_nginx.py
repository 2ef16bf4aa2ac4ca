"""Behind a real nginx with the documented configuration: games, limits per player, and nginx's own limits."""

import asyncio
import contextlib
import os
import re
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_network
from pathlib import Path

import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import InvalidStatus

from tests.authority import Authority
from tests.end_to_end.clients import run_client
from tests.environment import environment
from tests.peer import PATIENCE_SECONDS, open_peer, play_out
from tests.ports import free_ports
from tests.raw import open_bytes, read_to_end
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "proxy.md"
NGINX = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin")))

pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx is installed here (Debian: apt install nginx)")


def documented_site() -> str:
    found = re.search(r"<!-- nginx -->\n```nginx\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


@dataclass(frozen=True)
class Site:
    http: int
    https: int

    @property
    def url(self) -> str:
        return f"wss://localhost:{self.https}"


def adapt(site: str, changes: dict[str, str]) -> str:
    """Return the configuration with these words replaced; each of them must occur."""
    for before, after in changes.items():
        assert before in site, before
        site = site.replace(before, after)
    return site


def wait_for(port: int, nginx: subprocess.Popen[bytes]) -> None:
    while nginx.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS):
            return


def leading_to(port: int) -> dict[str, str]:
    """Return the replacements that lead the configuration to a server on this port."""
    return {"127.0.0.1:8765": f"127.0.0.1:{port}"}


@contextlib.contextmanager
def running_nginx(
    folder: Path, authority: Authority, changes: dict[str, str], site: str | None = None
) -> Iterator[Site]:
    """Run nginx with the documented configuration, except for ports, file names and the test's changes."""
    http, https = free_ports(2)
    changes |= {
        "listen [::]:80;": "",
        "listen [::]:443 ssl;": "",
        "listen 80;": f"listen 127.0.0.1:{http};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https} ssl;",
        "/etc/letsencrypt/live/play.example.org/fullchain.pem": str(authority.cert),
        "/etc/letsencrypt/live/play.example.org/privkey.pem": str(authority.key),
    }
    kept = " ".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    whole = (
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{ worker_connections 512; }}\n"
        f"http {{ access_log off; {kept}\n{adapt(site or documented_site(), changes)}}}\n"
    )
    (folder / "nginx.conf").write_text(whole)
    command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, env=environment())
    assert checked.returncode == 0, checked.stderr
    nginx = subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL)
    try:
        wait_for(https, nginx)
        assert nginx.poll() is None, (folder / "error.log").read_text()
        yield Site(http, https)
    finally:
        nginx.terminate()
        nginx.wait()


@contextlib.asynccontextmanager
async def behind_nginx(
    authority: Authority,
    folder: Path,
    counted: Limits | None = None,
    limits: dict[str, str] | None = None,
    base_path: str = "",
) -> AsyncIterator[Site]:
    settings = Settings(host="127.0.0.1", port=0, trusted_proxies=(ip_network("127.0.0.1"),), base_path=base_path)
    async with Server(settings, limits=counted) as server:
        with running_nginx(folder, authority, (limits or {}) | leading_to(server.port)) as site:
            yield site


async def enter(site: Site, authority: Authority, source: str, **headers: str) -> contextlib.AsyncExitStack:
    """Open a connection from an address of this machine, and return a stack that closes it."""
    stack = contextlib.AsyncExitStack()
    await stack.enter_async_context(
        open_socket(site.url, ssl=authority.trusting(), local_addr=(source, 0), proxy=None, additional_headers=headers)
    )
    return stack


async def test_a_game_is_played_through_nginx(authority: Authority, tmp_path: Path) -> None:
    trusting = authority.trusting()
    async with (
        behind_nginx(authority, tmp_path) as site,
        open_peer(site.url, "ana", tls=trusting) as ana,
        open_peer(site.url, "bo", tls=trusting) as bo,
    ):
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        state = await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        assert state["result"]["winner"] == "X"
        async with run_client("check", "--plain", "-s", site.url, "--ca", str(authority.ca)) as client:
            assert await client.end() == 0


async def test_plain_http_leads_to_https_and_there_to_the_server(authority: Authority, tmp_path: Path) -> None:
    question = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    async with behind_nginx(authority, tmp_path) as site:
        for port, tls, status in ((site.http, None, b"301"), (site.https, authority.trusting(), b"200")):
            async with open_bytes(port, tls) as (reader, writer):
                writer.write(question)
                answer = await read_to_end(reader)
                assert answer.startswith(b"HTTP/1.1 " + status)


async def test_nginx_passes_each_line_of_a_stream_on_at_once(authority: Authority, tmp_path: Path) -> None:
    trusting = authority.trusting()
    async with (
        behind_nginx(authority, tmp_path) as site,
        open_peer(site.url, "ana", tls=trusting) as ana,
        open_peer(site.url, "bo", tls=trusting) as bo,
        open_bytes(site.https, trusting) as (reader, writer),
    ):
        room = (await ana.ask("create"))["room"]
        writer.write(f"GET /api/rooms/{room}/stream HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await reader.readuntil(b"\r\n\r\n")
            assert b'"status":"waiting"' in await reader.readline()
            await bo.ask("join", room=room)
            while b'"status":"playing"' not in await reader.readline():
                pass


@pytest.mark.parametrize(("passed_on", "base_path"), [("/", ""), ("/", "/games"), ("", "/games")])
async def test_a_server_under_a_path_of_a_proxy_is_played_on_and_has_its_page(
    authority: Authority, tmp_path: Path, passed_on: str, base_path: str
) -> None:
    trusting = authority.trusting()
    below = {"location / {": "location /games/ {", "127.0.0.1:8765;": f"127.0.0.1:8765{passed_on};"}
    async with behind_nginx(authority, tmp_path, limits=below, base_path=base_path) as site:
        for typed in ("/games/", "/games"):
            url = f"{site.url}{typed}"
            async with run_client("check", "--plain", "-s", url, "--ca", str(authority.ca)) as client:
                assert await client.end() == 0, await client.errors()
        async with open_peer(f"{site.url}/games/", "ana", tls=trusting) as ana:
            room = (await ana.ask("create"))["room"]
        link = f"https://localhost:{site.https}/games/{room}"
        async with run_client("watch", "--plain", "--ca", str(authority.ca), link) as client:
            await client.until("Connected")
        for accept, words in (("text/html", f'src="{base_path or "."}/assets/'), ("text/plain", f"  {link}\n")):
            async with open_bytes(site.https, trusting) as (reader, writer):
                head = f"GET /games/{room} HTTP/1.0\r\nHost: localhost:{site.https}\r\nAccept: {accept}\r\n\r\n"
                writer.write(head.encode())
                answer = (await read_to_end(reader)).decode()
                assert words in answer or (accept, base_path) == ("text/plain", "")


async def test_limits_count_the_clients_of_nginx_whatever_they_claim(authority: Authority, tmp_path: Path) -> None:
    async with behind_nginx(authority, tmp_path, Limits(connections_per_address=1)) as site:
        first = await enter(site, authority, "127.0.0.1")
        other = await enter(site, authority, "127.0.0.2")
        with pytest.raises(InvalidStatus) as refused:
            await enter(site, authority, "127.0.0.2", **{"X-Forwarded-For": "198.51.100.7"})
        assert refused.value.response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        await first.aclose()
        await other.aclose()


@pytest.mark.parametrize("limit", ["limit_conn tictactoe_players 1000", "rate=50r/s"])
async def test_nginx_turns_away_too_much_from_one_address(authority: Authority, tmp_path: Path, limit: str) -> None:
    few = {"limit_conn tictactoe_players 1000": {limit: "limit_conn tictactoe_players 2"}}
    scarce = {"rate=50r/s": {limit: "rate=1r/m", "burst=1000": "burst=1"}}
    async with behind_nginx(authority, tmp_path, limits=(few | scarce)[limit]) as site:
        opened = [await enter(site, authority, "127.0.0.1") for _ in range(2)]
        with pytest.raises(InvalidStatus) as refused:
            await enter(site, authority, "127.0.0.1")
        assert refused.value.response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        opened.append(await enter(site, authority, "127.0.0.2"))
        for stack in opened:
            await stack.aclose()


async def test_the_client_reports_the_answer_of_nginx_without_a_server(authority: Authority, tmp_path: Path) -> None:
    with running_nginx(tmp_path, authority, leading_to(free_ports(1)[0])) as site:
        async with run_client("check", "--plain", "-s", site.url, "--ca", str(authority.ca)) as client:
            assert await client.end() == 3
            assert "nginx/" in (errors := await client.errors())
            assert "answered HTTP 502: it cannot reach the server behind it" in errors
            assert "Is the server running?" not in errors


@pytest.mark.parametrize(
    ("dropped", "words"),
    [
        ("proxy_set_header Upgrade         $http_upgrade;", "nginx/[0-9.]+ does not pass on the headers Upgrade"),
        ("proxy_set_header Connection      $connection_upgrade;", "nginx/[0-9.]+ does not pass on the headers Upgrade"),
        ("proxy_set_header Host            $http_host;", "Browser +failed: pages from https://localhost:[0-9]+ are"),
    ],
)
async def test_check_finds_settings_of_a_proxy_that_drop_connections(
    authority: Authority, tmp_path: Path, dropped: str, words: str
) -> None:
    async with (
        behind_nginx(authority, tmp_path, limits={dropped: ""}) as site,
        run_client("check", "--plain", "-s", site.url, "--ca", str(authority.ca)) as client,
    ):
        assert await client.end() == 3
        assert re.search(words, "\n".join(client.lines) + await client.errors())
