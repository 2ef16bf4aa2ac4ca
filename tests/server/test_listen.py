import asyncio
import contextlib
import gc
import socket

import pytest

from tests.adapters import Adapter, no_way_out
from tictactoe_server.transport.listen import addresses_at, announce, open_sockets


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::", None])
def test_nagle_is_disabled_on_accepted_sockets(host: str | None) -> None:
    with contextlib.ExitStack() as stack:
        listening = [stack.enter_context(opened) for opened in open_sockets(host, 0)]
        port = listening[0].getsockname()[1]
        for opened in listening:
            address = "127.0.0.1" if opened.family is socket.AF_INET or host in (None, "::") else "::1"
            stack.enter_context(socket.create_connection((address, port)))
            accepted = stack.enter_context(opened.accept()[0])
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_name_with_several_addresses_is_listened_on_with_one_port() -> None:
    with contextlib.ExitStack() as stack:
        listening = [stack.enter_context(opened) for opened in open_sockets("localhost", 0)]
        assert len({opened.getsockname()[1] for opened in listening}) == 1


@pytest.mark.parametrize(
    ("adapters", "told"),
    [
        ([Adapter("127.0.0.1")], []),
        ([Adapter("127.0.0.1"), Adapter("192.168.7.5", ("fe80::1", 0, 2))], ["192.168.7.5"]),
        ([Adapter("169.254.3.4"), Adapter("10.0.0.5"), Adapter("192.168.7.5")], ["10.0.0.5", "192.168.7.5"]),
        ([Adapter(("2001:db8::5", 0, 0)), Adapter("10.0.0.5")], ["10.0.0.5"]),
        ([Adapter(("fd00::5", 0, 0), ("::1", 0, 0))], ["fd00::5"]),
    ],
)
def test_network_addresses_are_found(monkeypatch: pytest.MonkeyPatch, adapters: list[Adapter], told: list[str]) -> None:
    monkeypatch.setattr("tictactoe_server.transport.listen.ifaddr.get_adapters", lambda: adapters)
    monkeypatch.setattr("tictactoe_server.transport.listen.socket.socket", no_way_out)
    assert addresses_at(None) == told


@pytest.mark.parametrize("turns", [0, 1, 3, 6])
def test_an_announcement_cancelled_twice_leaves_no_socket_open(monkeypatch: pytest.MonkeyPatch, turns: int) -> None:
    async def announce_and_go() -> None:
        announcing = asyncio.create_task(announce(None, 1))
        for _ in range(2):
            for _ in range(turns + 1):
                await asyncio.sleep(0)
            announcing.cancel()

    monkeypatch.setattr("tictactoe_server.transport.listen.addresses_at", lambda host: ["127.0.0.1"])
    asyncio.run(announce_and_go())
    gc.collect()
