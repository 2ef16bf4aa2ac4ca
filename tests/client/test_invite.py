from collections.abc import Iterator

import ifaddr
import pytest

from tests.adapters import Adapter, no_way_out
from tictactoe_client.online import address
from tictactoe_client.online.address import parse_address


@pytest.fixture(autouse=True)
def no_memory() -> Iterator[None]:
    """Forget the remembered addresses of this machine."""
    address.own_addresses.cache_clear()
    yield
    address.own_addresses.cache_clear()


def be_on(monkeypatch: pytest.MonkeyPatch, *adapters: Adapter) -> None:
    """Pretend to have these interfaces and no default route."""
    monkeypatch.setattr("tictactoe_client.online.address.socket.socket", no_way_out)
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: adapters)
    monkeypatch.setattr(address, "_answers", lambda host, port: True)


def test_without_a_default_route_a_link_has_the_address_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    be_on(
        monkeypatch,
        Adapter("127.0.0.1"),
        Adapter(("fd00::5", 0, 0), ("fe80::1", 0, 2), "192.168.7.5"),
        Adapter("10.0.0.5"),
    )
    assert address.own_addresses() == ("192.168.7.5", "10.0.0.5", "fd00::5")
    assert address.reachable_address(parse_address("localhost")).url == "ws://192.168.7.5:8765"
    assert address.is_same_server(parse_address("localhost"), parse_address("10.0.0.5"))
    assert not address.is_same_server(parse_address("localhost"), parse_address("10.0.0.6"))


def test_without_a_network_the_link_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    be_on(monkeypatch, Adapter("127.0.0.1"))
    assert address.reachable_address(parse_address("localhost")).url == "ws://localhost:8765"


def test_with_tls_the_link_keeps_the_name_that_the_certificate_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    be_on(monkeypatch, Adapter("192.168.7.5"))
    assert address.reachable_address(parse_address("wss://localhost:8765")).url == "wss://localhost:8765"
