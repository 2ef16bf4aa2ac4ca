"""Push messages to browsers: only to their own services, encrypted and signed."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import http_ece
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.authority import Authority
from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import open_peer
from tests.server.days.receiver import Receiver
from tests.server.days.test_notices import alone, looked
from tictactoe_server import clock as clocks
from tictactoe_server.features.days import notices
from tictactoe_server.features.days.notices import GATHER_MS, MOST_BROWSERS
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

ENDPOINT = "https://fcm.googleapis.com/fcm/send/abc:DEF-1"


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


class Browser:
    """The keys of a browser that subscribes."""

    def __init__(self) -> None:
        self.key, self.auth = ec.generate_private_key(ec.SECP256R1()), b"0123456789abcdef"

    def subscription(self, endpoint: str = ENDPOINT) -> dict[str, Any]:
        public = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        keys = {"p256dh": encode(public), "auth": encode(self.auth)}
        return {"endpoint": endpoint, "expirationTime": None, "keys": keys}

    def open(self, body: bytes) -> dict[str, Any]:
        text = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        found: dict[str, Any] = json.loads(text)
        return found


@pytest.fixture
async def server(clock: FakeClock, receiver: Receiver, authority: Authority) -> AsyncIterator[Server]:
    settings = Settings("127.0.0.1", 0, tls_cert=authority.cert, tls_key=authority.key)
    async with Server(settings, None, uncounted(), monotonic_ns=clock, features=receiver.features()) as running:
        yield running


@pytest.fixture(autouse=True)
def _port(monkeypatch: pytest.MonkeyPatch, receiver: Receiver) -> None:
    """Connect to the receiver instead of port 443."""
    connect = asyncio.open_connection

    async def elsewhere(host: str, port: int, **more: Any) -> Any:
        return await connect(host, receiver.port if port == 443 else port, **more)

    monkeypatch.setattr(asyncio, "open_connection", elsewhere)


@pytest.mark.parametrize("status", [201, 410])
async def test_a_browser_decrypts_the_message(
    server: Server, clock: FakeClock, receiver: Receiver, authority: Authority, status: int
) -> None:
    browser, tls = Browser(), authority.trusting()
    url = server.url.replace("localhost", "127.0.0.1")
    async with open_peer(url, "ana", tls=tls) as ana, open_peer(url, "bo", tls=tls) as bo:
        room = (await ana.ask("create", clock={"days": 3}))["room"]
        await bo.ask("join", room=room)
        await bo.state(status="playing")
        reply = await bo.ask("notify", push=browser.subscription())
        assert reply["push"] == browser.subscription()
        key, x, o = reply["push_key"], ana.welcome["token"], bo.welcome["token"]
    await alone(server)
    clock.advance(1000)
    async with open_peer(url, token=x, tls=tls) as ana:
        await ana.ask("join", room=room)
        await ana.ask("move", room=room, cell=0, ply=0)
    await alone(server)
    receiver.statuses = [status]
    clock.advance(GATHER_MS)
    await looked(server)
    ((first, fields, body),) = receiver.requests
    assert first == "POST /fcm/send/abc:DEF-1 HTTP/1.1"
    assert (fields["content-encoding"], fields["host"], fields["ttl"]) == ("aes128gcm", "fcm.googleapis.com", "86400")
    message = browser.open(body)
    assert message["text"].startswith("1 game is waiting for you: https://127.0.0.1:")
    assert [game["room"] for game in message["games"]] == [room]
    check_signature(fields["authorization"], key)
    async with open_peer(url, token=o, tls=tls) as bo:
        assert ((await bo.ask("notify"))["push"] is None) == (status == 410)


def check_signature(authorization: str, key: str) -> None:
    kind, _, parameters = authorization.partition(" ")
    found = dict(part.strip().split("=", 1) for part in parameters.split(","))
    assert (kind, found["k"]) == ("vapid", key)
    text, _, signature = found["t"].rpartition(".")
    head, claims = (json.loads(decode(part)) for part in text.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    assert claims["aud"] == "https://fcm.googleapis.com"
    assert claims["sub"].startswith("https://127.0.0.1:")
    assert 0 < claims["exp"] - clocks.wall() < 24 * 60 * 60
    numbers = [int.from_bytes(part, "big") for part in (decode(signature)[:32], decode(signature)[32:])]
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(key))
    public.verify(encode_dss_signature(numbers[0], numbers[1]), text.encode(), ec.ECDSA(hashes.SHA256()))


async def test_several_browsers(server: Server, authority: Authority) -> None:
    async with open_peer(server.url, "bo", tls=authority.trusting()) as bo:
        for number in range(MOST_BROWSERS + 1):
            await bo.ask("notify", push=Browser().subscription(f"{ENDPOINT}{number}"))
        await bo.ask("notify", push=Browser().subscription(f"{ENDPOINT}1"))
        (row,) = (await bo.ask("export"))["export"]["notices"]
        assert [one["endpoint"][-1] for one in row["push"]] == ["2", "3", "4", "5", "1"]
        assert (await bo.ask("notify", push=None))["push"] is None


@pytest.mark.parametrize(
    "endpoint",
    [
        *("https://chat.example/push", "https://fcm.googleapis.com.evil.example/", "https://127.0.0.1/", "http://a"),
        *(
            "https://fcm.googleapis.com:8443/",
            "https://push.apple.com/",
            "https://a.b.evil-notify.windows.com.example/",
        ),
    ],
)
async def test_other_services_are_refused(server: Server, authority: Authority, endpoint: str) -> None:
    async with open_peer(server.url, "bo", tls=authority.trusting()) as bo:
        assert await bo.refusal("notify", push=Browser().subscription(endpoint)) == "bad_message"


@pytest.mark.parametrize(
    "keys", [{"p256dh": "AAAA", "auth": "AAAA"}, {"p256dh": "?", "auth": "MDEyMzQ1Njc4OWFiY2RlZg"}]
)
async def test_bad_keys_are_refused(server: Server, authority: Authority, keys: dict[str, str]) -> None:
    async with open_peer(server.url, "bo", tls=authority.trusting()) as bo:
        assert await bo.refusal("notify", push=Browser().subscription() | {"keys": keys}) == "bad_message"


async def test_push_needs_https_and_its_libraries(
    server: Server, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Server(Settings("127.0.0.1", 0), None, uncounted()) as plain, open_peer(plain.url) as ana:
        assert "push_key" not in await ana.ask("notify")
        assert await ana.refusal("notify", push=Browser().subscription()) == "not_allowed"
    monkeypatch.setattr(notices, "find_spec", lambda name: None)
    async with open_peer(server.url, "bo", tls=authority.trusting()) as bo:
        assert "push_key" not in await bo.ask("notify")
        assert await bo.refusal("notify", push=Browser().subscription()) == "not_allowed"
