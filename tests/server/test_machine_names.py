"""By which names a server is its own page's: those of home networks and of this machine, and no stranger's."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from threading import Event

import pytest

from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS
from tests.rows import each
from tests.server.test_pages import BROWSER, get
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.http_messages import HttpRequest
from tictactoe_server.transport.listen import MachineNames, SystemLookup, find_machine_names

OURS = "192.168.178.20"


class Router(SystemLookup):
    """The DNS of a network, as a table; `asked` has every name and address that it was asked for."""

    def __init__(self, names: dict[str, list[str]], addresses: dict[str, list[str]]) -> None:
        self.names = names
        self.addresses = addresses
        self.asked: list[str] = []

    def names_of(self, place: str) -> Collection[str]:
        self.asked.append(place)
        return self.names.get(place, ())

    def addresses_of(self, name: str) -> Collection[str]:
        self.asked.append(name)
        return self.addresses.get(name, ())


def page_at(place: str) -> HttpRequest:
    """Return the request for a WebSocket by a page from this host, which names that host as the server's, too."""
    fields: dict[str, list[str]] = {"origin": [f"http://{place}"], "upgrade": ["websocket"]}
    return HttpRequest("GET", "/ws", "", place, fields, keeps_alive=True, has_body=False)


@each(
    "host",
    [
        *("nas.lan", "nas.home:8765", "NAS.Lan.", "a.b.lan", "nas.intranet", "nas.private", "nas.corp"),
        *("nas.local", "nas.internal", "nas.home.arpa", "nas.localhost", "nas", "localhost", "[fe80::1]:80", OURS),
    ],
)
def test_names_that_nobody_can_register_are_the_servers_own(host: str) -> None:
    assert Admission(uncounted()).knows(host)


@pytest.mark.parametrize(
    "host", ["evil.example", "lan.example", "nas.lan.example", "nas.fritz.box", ".example", "", "."]
)
def test_names_that_somebody_may_have_bound_to_our_address_are_not(host: str) -> None:
    admission = Admission(uncounted())
    assert not admission.knows(host)
    assert not admission.allows_origin(page_at(host))


def test_what_the_router_calls_this_machine_is_its_own_name() -> None:
    router = Router({OURS: ["NAS.fritz.box."]}, {"nas.fritz.box": [OURS, "fd00::20"]})
    assert find_machine_names([OURS], "nas", router) == {"nas.fritz.box"}


def test_the_whole_name_of_the_host_is_its_own() -> None:
    router = Router({"nas": ["nas.example.org", "nas"]}, {"nas.example.org": ["127.0.1.1"]})
    assert find_machine_names([OURS], "nas", router) == {"nas.example.org"}


def test_a_name_that_does_not_lead_back_here_is_not() -> None:
    router = Router({OURS: ["mail.example", "gone.example"]}, {"mail.example": ["198.51.100.7"]})
    assert find_machine_names([OURS], "nas", router) == set()


def test_no_name_that_a_request_says_is_ever_looked_up() -> None:
    router = Router({OURS: ["nas.fritz.box"]}, {"nas.fritz.box": [OURS], "evil.example": [OURS]})
    admission = Admission(uncounted())
    admission.learn_names(find_machine_names([OURS], "nas", router))
    for host in ("evil.example", "nas.fritz.box", "other.fritz.box"):
        assert admission.knows(host) == admission.allows_origin(page_at(host)) == (host == "nas.fritz.box")
    assert "evil.example" not in router.asked


def test_the_system_knows_this_machine_by_the_name_of_the_loopback() -> None:
    assert "localhost" in find_machine_names(["127.0.0.1"], "localhost", SystemLookup())
    assert find_machine_names(["192.0.2.1"], "no-such-host.invalid", SystemLookup()) == set()


def test_names_are_learnt_beside_whatever_else_is_done_and_no_more_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    router = Router({OURS: ["nas.fritz.box"]}, {"nas.fritz.box": [OURS], OURS: [OURS]})
    monkeypatch.setattr("tictactoe_server.transport.listen.SystemLookup", lambda: router)
    learnt, has_learnt = list[frozenset[str]](), Event()

    def learn(names: frozenset[str]) -> None:
        learnt.append(names)
        has_learnt.set()

    machine_names = MachineNames(OURS, learn)
    machine_names.start()
    assert has_learnt.wait(PATIENCE_SECONDS)
    machine_names.stop()
    assert learnt == [{"nas.fritz.box"}]


async def test_a_server_that_others_reach_learns_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    router = Router({socket.gethostname(): ["nas.fritz.box"]}, {"nas.fritz.box": ["127.0.1.1"]})
    monkeypatch.setattr("tictactoe_server.transport.listen.SystemLookup", lambda: router)
    async with asyncio.timeout(PATIENCE_SECONDS), Server(Settings(host="0.0.0.0", port=0)) as server:
        while (await get(server, "/", accept=BROWSER, host="nas.fritz.box")).status != 200:
            pass
        assert (await get(server, "/", accept=BROWSER, host="evil.example")).status == 421


async def test_a_page_under_this_machines_name_is_shown() -> None:
    async with Server(Settings(host="127.0.0.1", port=0)) as server:
        assert (await get(server, "/", accept=BROWSER, host="nas.fritz.box")).status == 421
        server._admission.learn_names(frozenset({"nas.fritz.box"}))
        assert (await get(server, "/", accept=BROWSER, host="nas.fritz.box")).status == 200
        assert (await get(server, "/", accept=BROWSER, host="nas.lan:80")).status == 200
