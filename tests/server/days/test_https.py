"""Webhooks reach only what the operator allows, whatever address a player names."""

import asyncio

import click
import pytest

from tests.limits import uncounted
from tests.peer import open_peer
from tests.server.days.receiver import Receiver, resolve_to_loopback
from tictactoe_server.features.days import https
from tictactoe_server.features.days.feature import DayOptions
from tictactoe_server.features.days.https import HttpsPoster, Target, parse_hosts, parse_target
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

LOOPBACK = (
    *("localhost", "127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0"),
    *("0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"),
)


@pytest.mark.parametrize("host", LOOPBACK)
async def test_no_spelling_of_loopback_is_reached(receiver: Receiver, host: str) -> None:
    place = f"{host}:{receiver.port}"
    settings = Settings("127.0.0.1", 0, features=(DayOptions((("chat.example",),)),))
    async with Server(settings, None, uncounted()) as server, open_peer(server.url) as ana:
        assert await ana.refusal("notify", webhook=f"https://{place}/") == "not_allowed"
    target = parse_target(f"https://{place}/")
    assert target is not None
    listed = [] if host == "127.0.0.1" or host == "[::1]" else [place]  # a listed name is no listed address
    assert await HttpsPoster(listed, context=receiver.context).post(target, b"{}", {}) == 0
    await asyncio.sleep(0)
    assert receiver.connections == 0


@pytest.mark.parametrize(
    "address",
    [
        *("10.0.0.5", "172.16.1.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "224.0.0.1"),
        *("255.255.255.255", "240.0.0.1", "0.0.0.0", "127.8.8.8", "fe80::1", "fe80::1%lo", "fc00::1", "fec0::1"),
        *("ff02::1", "::", "::1", "::ffff:10.0.0.5", "64:ff9b::a00:5", "2002:7f00:1::1", "2001::1", "2001:db8::1"),
    ],
)
async def test_addresses_that_are_not_public(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return [address]

    async def connect(*args: object, **more: object) -> object:
        raise AssertionError("connected")

    monkeypatch.setattr(asyncio, "open_connection", connect)
    assert await HttpsPoster(["chat.example"], resolve).post(Target("chat.example", 443, "/"), b"{}", {}) == 0


async def test_the_connection_is_made_to_the_checked_address(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, connected = [["127.0.0.1"], ["198.41.0.4", "127.0.0.1"]], []

    async def resolve(host: str, port: int) -> list[str]:
        return answers.pop()

    async def connect(host: str, port: int, **more: object) -> object:
        connected.append((host, more["server_hostname"]))
        raise OSError

    target = Target("chat.example", receiver.port, "/")
    poster = HttpsPoster([target.place], resolve, receiver.context)
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "open_connection", connect)
        assert await poster.post(target, b"{}", {}) == 0
    assert connected == [("198.41.0.4", "chat.example")]
    assert await poster.post(target, b"{}", {}) == 0, "the name has another address now"
    assert receiver.connections == 0


@pytest.mark.parametrize("listed", ["127.0.0.1", "127.0.0.1:{port}"])
async def test_a_listed_address_is_reached_and_redirects_are_not_followed(receiver: Receiver, listed: str) -> None:
    target, resolve = Target("chat.example", receiver.port, "/hook?a=b"), resolve_to_loopback
    assert await HttpsPoster([target.place], resolve, receiver.context).post(target, b"{}", {}) == 0
    poster = HttpsPoster([target.place, listed.format(port=receiver.port)], resolve, receiver.context)
    receiver.statuses = [307, 204, None]
    assert [await poster.post(target, b"{}", {"Content-Type": "application/json"}) for _ in range(3)] == [307, 204, 0]
    assert [first for first, _, _ in receiver.requests] == ["POST /hook?a=b HTTP/1.1"] * 3
    assert receiver.connections == 3


async def test_the_certificate_must_be_for_the_host(receiver: Receiver) -> None:
    for context, host in ((receiver.context, "other.example"), (None, "chat.example")):
        poster = HttpsPoster(["127.0.0.1"], resolve_to_loopback, context)
        assert await poster.post(Target(host, receiver.port, "/"), b"{}", {}) == 0
    assert not receiver.requests


async def test_a_slow_or_endless_answer_ends(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 " + b"2" * 1_000_000)
        writer.close()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1 << 16):
            pass
        writer.close()

    monkeypatch.setattr(https, "TIMEOUT_SECONDS", 0.5)
    for answer in (flood, wait):
        monkeypatch.setattr(receiver, "_answer", answer)
        poster = HttpsPoster(["127.0.0.1"], context=receiver.context)
        assert await poster.post(Target("127.0.0.1", receiver.port, "/"), b"{}", {}) == 0


@pytest.mark.parametrize(
    "url",
    [
        *("http://chat.example/", "chat.example/hook", "https:///hook", "https://", "ftp://chat.example/"),
        *("https://user@chat.example/", "https://user:word@chat.example/", "https://chat.example\\@127.0.0.1/"),
        *("https://chat.example:0/", "https://chat.example:65536/", "https://chat.example:443:80/"),
        *("https://chat.example/#part", "https://chat.example/ HTTP/1.1", "https://chat.example/\r\nHost: a"),
        *("https://chat.example%2F@127.0.0.1/", "https://chät.example/", "https://chat.example/ä", "javascript:1"),
    ],
)
async def test_bad_addresses(url: str) -> None:
    settings = Settings("127.0.0.1", 0, features=(DayOptions((("chat.example",),)),))
    async with Server(settings, None, uncounted()) as server, open_peer(server.url) as ana:
        reply = await ana.ask("notify", webhook=url)
    assert (reply["code"], reply["path"]) == ("bad_message", "webhook")


def test_the_list_of_hosts() -> None:
    assert parse_hosts("Discord.com, chat.example:8443,[::1]:443") == ("discord.com", "chat.example:8443", "[::1]")
    for bad in ("", "https://discord.com", "discord.com/path", "a b", "a,,b", "user@discord.com"):
        with pytest.raises(click.BadParameter):
            parse_hosts(bad)
