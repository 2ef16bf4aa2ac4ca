"""Names from a trusted proxy's sign-on: the same on all devices, unavailable to others, and only from the proxy."""

import json
from contextlib import AbstractAsyncContextManager
from ipaddress import ip_network
from typing import Any

import pytest

from tests.end_to_end.test_server_command import run
from tests.peer import Message, Peer, open_peer
from tests.server.test_forgetting import until_done
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

BEHIND_PROXY = Settings(
    host="127.0.0.1", port=0, trusted_proxies=(ip_network("127.0.0.1"),), trust_header="Remote-User"
)


def signed_on(server: Server, *names: str, **hello: Any) -> AbstractAsyncContextManager[Peer]:
    """Connect as a proxy does for a signed-on user, and say hello."""
    return open_peer(server.url, headers=[("Remote-User", name) for name in names], **hello)


async def welcome(server: Server, *names: str, **hello: str) -> Message:
    async with signed_on(server, *names, **hello) as peer:
        return peer.welcome


async def test_a_signed_on_user_is_the_same_player_on_every_device() -> None:
    async with Server(BEHIND_PROXY) as server:
        async with open_peer(server.url, "guest") as guest:
            other = guest.welcome
        first = await welcome(server, "ana", name="somebody")
        assert (first["name"], first["claimed"]) == ("ana", True)
        second = await welcome(server, "ana", token=other["token"])
        assert (second["player"], second["name"]) == (first["player"], "ana")
        assert second["token"] not in (first["token"], other["token"])
        again = await welcome(server, "ana", token=second["token"], name="Zoe")
        assert (again["token"], again["name"]) == (second["token"], "ana")
        async with open_peer(server.url, token=other["token"]) as guest:
            assert guest.welcome["player"] == other["player"], "who was there before is still who they were"
        bo = await welcome(server, "bo", link="7KQ2M94F")
        assert bo["player"] != first["player"]


async def test_a_token_or_code_of_a_signed_on_player_counts_only_with_the_header() -> None:
    async with Server(BEHIND_PROXY) as server:
        async with signed_on(server, "ana") as ana:
            token, link = ana.welcome["token"], (await ana.ask("link"))["link_code"]
        for proof in ({"token": token}, {"token": token, "name": "Zoe"}, {"link": link}):
            async with open_peer(server.url, **proof) as other:
                assert (other.welcome["code"], other.welcome["data"]) == ("bad_token", {"why": "signed on"})
        assert (await welcome(server, "ana", token=token))["token"] == token


async def test_signed_on_and_claimed_names_exclude_each_other() -> None:
    async with Server(BEHIND_PROXY) as server, open_peer(server.url, "bo") as bo:
        assert (await bo.ask("claim_name", name="bo"))["type"] == "ok"
        ana = await welcome(server, "ana")
        assert (await bo.ask("claim_name", name="ANA"))["code"] == "bad_name"
        async with signed_on(server, "bo") as late:
            assert late.welcome["claimed"] is False
            assert late.welcome["player"] != bo.welcome["player"]
            room = (await late.ask("create"))["room"]
            assert (await late.state(room=room))["seats"]["X"]["name"] == "bo?"
            refused = await late.ask("claim_name", name="carl")
            assert refused["data"]["why"] == "signed on"
        assert (await welcome(server, "ana"))["player"] == ana["player"]


@pytest.mark.features
async def test_a_forgotten_user_signs_on_as_a_new_player() -> None:
    async with Server(BEHIND_PROXY) as server:
        async with signed_on(server, "ana") as ana:
            await ana.ask("forget")
            assert (await ana.next_of("error"))["code"] == "kicked"
            before = ana.welcome
            await until_done(server, before["player"])
        found = await welcome(server, "ana", token=before["token"])
        assert (found["name"], found["claimed"], found["player"] != before["player"]) == ("ana", True, True)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (("Jörg".encode().decode("latin-1"),), "Jörg"),
        (("J\xf6rg",), "Jörg"),
        (("x" * 25,), "at most 24"),
        (("ana@school.example",), '"@"'),
        (("ana", "bo"), '","'),
        (("hard-bot",), "hard-bot"),
        (("",), "guest-"),
    ],
)
async def test_a_signed_on_name_is_read_as_utf8_and_validated(said: tuple[str, ...], heard: str) -> None:
    async with Server(BEHIND_PROXY) as server:
        assert heard in json.dumps(await welcome(server, *said), ensure_ascii=False).replace('\\"', '"')


async def test_an_untrusted_name_is_ignored(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = Settings(
        host="127.0.0.1", port=0, trusted_proxies=(ip_network("10.0.0.0/8"),), trust_header="Remote-User"
    )
    async with Server(elsewhere) as server:
        for _ in range(2):
            assert (await welcome(server, "Xylophon"))["name"].startswith("guest-")
    told = caplog.text + "".join(capsys.readouterr())
    assert (told.count("untrusted proxy: user name ignored"), "Xylophon" in told) == (1, False)


async def test_a_header_that_anybody_could_send_is_refused_at_the_start() -> None:
    code, _, errors = await run("--data", ":memory:", "--trust-header", "Remote-User")
    assert (code, "--trust-header requires --trusted-proxy" in errors) == (2, True)
