"""What a client names in its hello: what the server keeps of it, and which names it refuses."""

from __future__ import annotations

import pytest
from websockets.asyncio.client import connect

from tests.peer import Peer, open_peer
from tictactoe_server.server import Server


async def test_a_session_keeps_the_features_that_its_hello_named_and_ignores_unknown_ones(server: Server) -> None:
    async with open_peer(server.url, features=["seq", "abort", "later-than-this", "seq"]):
        assert [session.features for session in server.core.presence] == [{"abort", "seq"}]


async def test_one_who_names_no_features_understands_none(server: Server) -> None:
    async with open_peer(server.url):
        assert [session.features for session in server.core.presence] == [frozenset()]


@pytest.mark.parametrize(
    ("features", "path"),
    [
        (["f"] * 65, "features"),
        ("seq", "features"),
        (["seq", "Seq"], "features[1]"),
        ([""], "features[0]"),
        (["f" * 33], "features[0]"),
        ([7], "features[0]"),
    ],
)
async def test_what_is_no_list_of_short_words_is_refused_and_hello_may_be_said_again(
    server: Server, features: object, path: str
) -> None:
    async with connect(server.url, proxy=None) as socket:
        peer = Peer(socket)
        refused = await peer.ask("hello", features=features)
        assert (refused["code"], refused["path"]) == ("bad_message", path)
        assert (await peer.ask("hello", features=["f" * 32] * 64))["type"] == "welcome"
