import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from zeroconf._dns import DNSPointer
from zeroconf._protocol.outgoing import DNSOutgoing
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf
from zeroconf.const import _CLASS_IN, _FLAGS_AA, _FLAGS_QR_RESPONSE, _TYPE_PTR

from tests.environment import SERVICE_TYPE
from tests.peer import PATIENCE_SECONDS
from tests.raw import listening
from tictactoe_client.nearby import NearbyServer, fetch_status, follow_nearby, inspect
from tictactoe_client.online.address import parse_address
from tictactoe_protocol import PROTOCOL_VERSION


def announced(name: str = "hall", address: str = "10.1.2.3", port: int = 8765, **said: Any) -> AsyncServiceInfo:
    properties = {"v": str(PROTOCOL_VERSION), **said}
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


Told = asyncio.Queue[tuple[NearbyServer, ...]]


@contextlib.asynccontextmanager
async def following() -> AsyncIterator[tuple[AsyncZeroconf, Told]]:
    """Announce servers, and follow the list of servers found; in the end no server is announced."""
    told, announcing = Told(), AsyncZeroconf()
    listening = asyncio.create_task(follow_nearby(told.put_nowait))
    try:
        yield announcing, told
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await announcing.async_close()


async def register(announcing: AsyncZeroconf, server: AsyncServiceInfo) -> None:
    """Announce a server with a unique name, without waiting for the repetitions."""
    await announcing.async_register_service(server, strict=False, cooperating_responders=True)


async def test_a_server_is_found_with_its_name_and_followed_until_it_goes() -> None:
    async with following() as (announcing, told):
        await register(announcing, announced("Class 4b"))
        while ("Class 4b", "ws://10.1.2.3:8765") not in urls(await told.get()):
            pass
        await announcing.async_unregister_all_services()
        while "Class 4b" in dict(urls(await told.get())):
            pass


async def test_one_that_turns_out_to_be_of_another_protocol_is_there_no_more() -> None:
    async with following() as (announcing, told):
        await register(announcing, announced("Class 5c"))
        while "Class 5c" not in dict(urls(await told.get())):
            pass
        await (await announcing.async_update_service(announced("Class 5c", v="1")))
        while "Class 5c" in dict(urls(await told.get())):
            pass


def hostile(*names: str) -> DNSOutgoing:
    """Return a packet that announces servers with these names."""
    packet = DNSOutgoing(_FLAGS_QR_RESPONSE | _FLAGS_AA)
    for name in names:
        packet.add_answer_at_time(DNSPointer(SERVICE_TYPE, _TYPE_PTR, _CLASS_IN, 120, name), 0)
    return packet


async def test_foreign_services_do_not_disturb_discovery() -> None:
    async with following() as (announcing, told):
        await register(announcing, announced("Class 6d"))
        while "Class 6d" not in dict(urls(await told.get())):
            pass
        for name in ("evil._http._tcp.local.", f"a\0b.{SERVICE_TYPE}", SERVICE_TYPE, "."):
            announcing.zeroconf.async_send(hostile(name))
        announcing.zeroconf.async_send(hostile(*(f"silent {number}.{SERVICE_TYPE}" for number in range(100))))
        await register(announcing, announced("Class 6e"))
        while "Class 6e" not in dict(urls(servers := await told.get())):
            pass
        assert "Class 6d" in dict(urls(servers))


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"HTTP/1.1 200 OK\r\n", 200),
        (b"HTTP/1.1 404 Not Found\r\n", 404),
        (b"", 0),
        (b"x", 0),
        (b"HTTP/1.1 OK\r\n", 0),
        (b"\0" * 99_999 + b"\n", 0),
    ],
)
async def test_the_status_of_a_page_is_read_and_anything_else_is_no_answer(answer: bytes, status: int) -> None:
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        writer.close()

    async with listening(serve) as port:
        address = parse_address(f"ws://127.0.0.1:{port}/games")
        assert await fetch_status(address, "K7M4PQ", PATIENCE_SECONDS) == status
    assert asked[0].startswith(f"HEAD /games/K7M4PQ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode())


async def test_a_server_that_answers_byte_by_byte_is_given_up() -> None:
    gone = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            for byte in b"HTTP/1.1 200 OK" + b" " * 1_000:
                writer.write(bytes([byte]))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(), 0.05)
                    break
        writer.close()
        gone.set()

    async with listening(drip) as port, asyncio.timeout(PATIENCE_SECONDS):
        assert await fetch_status(parse_address(f"ws://127.0.0.1:{port}"), "K7M4PQ", 0.5) == 0
        await gone.wait()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (announced(), ("hall", "ws://10.1.2.3:8765")),
        (announced(tls="10.1.2.3"), ("hall", "wss://10.1.2.3:8765")),
        (announced(tls="10.1.2.4"), None),
        (announced(tls="localhost"), None),
        (announced(tls="play.invalid"), None),
        (announced(address="fd00::7"), ("hall", "ws://[fd00::7]:8765")),
        (announced("an\x9b\u202ea"), ("ana", "ws://10.1.2.3:8765")),
        (announced("host.example.org"), ("host.example.org", "ws://10.1.2.3:8765")),
        (announced("x" * 60), ("x" * 40, "ws://10.1.2.3:8765")),
        (announced(v="1"), None),
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
async def test_announced_servers_are_inspected(said: AsyncServiceInfo, found: tuple[str, str] | None) -> None:
    server = await inspect(said)
    assert (urls((server,))[0] if server is not None else None) == found
