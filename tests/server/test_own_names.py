"""Names under which a server accepts its own page: local names, its host name and those it was given; no other name."""

from __future__ import annotations

import socket

import pytest

from tests.limits import uncounted
from tests.rows import each
from tests.server.test_pages import BROWSER, get
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.http_messages import HttpRequest


def page_at(host: str) -> HttpRequest:
    """Return a WebSocket request from a page at this host, sent to a server of the same name."""
    fields: dict[str, list[str]] = {"origin": [f"http://{host}"], "upgrade": ["websocket"]}
    return HttpRequest("GET", "/ws", "", host, fields, keeps_alive=True, has_body=False)


@each(
    "host",
    [
        *("nas.lan", "nas.home:8765", "NAS.Lan.", "a.b.lan", "nas.intranet", "nas.private", "nas.corp", "nas.local"),
        *("nas.internal", "nas.home.arpa", "nas.localhost", "nas", "localhost", "[fe80::1]:80", "192.168.178.20"),
    ],
)
def test_names_that_nobody_can_register_are_accepted(host: str) -> None:
    admission = Admission(uncounted())
    assert admission.knows(host)
    assert admission.allows_origin(page_at(host))


@pytest.mark.parametrize(
    "host", ["evil.example", "lan.example", "nas.lan.example", "nas.fritz.box", ".example", "", "."]
)
def test_names_that_anybody_can_bind_to_our_address_are_refused(host: str) -> None:
    admission = Admission(uncounted())
    assert not admission.knows(host)
    assert not admission.allows_origin(page_at(host))


async def test_the_page_is_shown_under_the_host_name_and_under_the_names_of_origins() -> None:
    settings = Settings(host="127.0.0.1", port=0, origins=("http://nas.fritz.box",))
    async with Server(settings) as server:
        for host, status in ((socket.gethostname(), 200), ("nas.fritz.box", 200), ("evil.example", 421)):
            assert (await get(server, "/", accept=BROWSER, host=host)).status == status
