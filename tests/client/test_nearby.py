"""Servers found on the local network: those that say who they are, and nothing of what else is announced there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from tictactoe_client.online.nearby import Nearby, NearbyServer, find_nearby, inspect
from tictactoe_protocol import SERVICE_TYPE


def announced(name: str = "hall", address: str = "10.1.2.3", port: int = 8765, **said: Any) -> AsyncServiceInfo:
    properties = {"v": "1", **said}
    return AsyncServiceInfo(
        SERVICE_TYPE,
        f"{name}.{SERVICE_TYPE}",
        port=port,
        parsed_addresses=[address],
        properties={key: value for key, value in properties.items() if value is not None},
        server="hall.local.",
    )


def urls(servers: tuple[NearbyServer, ...]) -> list[tuple[str, str]]:
    return [(server.name, server.address.url) for server in servers]


async def test_a_server_is_found_with_its_name_and_followed_until_it_goes() -> None:
    told: asyncio.Queue[tuple[NearbyServer, ...]] = asyncio.Queue()
    announcing = AsyncZeroconf()
    try:
        await (await announcing.async_register_service(announced("Class 4b"), strict=False))
        assert ("Class 4b", "ws://10.1.2.3:8765") in urls(await find_nearby())
        async with asyncio.timeout(10), Nearby(lambda: told.put_nowait(nearby.servers)) as nearby:
            while "Class 4b" not in dict(urls(await told.get())):
                pass
            await announcing.async_unregister_all_services()
            while "Class 4b" in dict(urls(await told.get())):
                pass
    finally:
        await announcing.async_close()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (announced(), ("hall", "ws://10.1.2.3:8765")),
        (announced(tls="play.example"), ("hall", "wss://play.example:8765")),
        (announced(address="fd00::7"), ("hall", "ws://[fd00::7]:8765")),
        (announced("an\x9b\u202ea"), ("ana", "ws://10.1.2.3:8765")),
        (announced("host.example.org"), ("host.example.org", "ws://10.1.2.3:8765")),
        (announced("x" * 60), ("x" * 40, "ws://10.1.2.3:8765")),
        (announced(v="2"), None),
        (announced(v=None), None),
        (announced(port=0), None),
        (announced(address="127.0.0.1"), None),
        (announced(address="224.0.0.251"), None),
        (announced(address="8.8.8.8"), None),
        (announced(tls="host/../?x=1"), None),
        (announced(tls="a b"), None),
        (announced(tls="\x1b]0;x\x07"), None),
        (announced(tls=""), None),
    ],
)
def test_what_strangers_announce_is_inspected(said: AsyncServiceInfo, found: tuple[str, str] | None) -> None:
    server = inspect(said)
    assert (urls((server,))[0] if server is not None else None) == found
