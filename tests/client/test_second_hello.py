"""Hello at a server that does not know `features` yet: said again without, on the same connection."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from tests.end_to_end.clients import run_client
from tests.faults.hostile_server import CLIENT, TOKEN, Frame, hostile_server
from tictactoe_client import Refused, connect
from tictactoe_protocol.pushes import UNDERSTOOD, Error, Welcome
from tictactoe_protocol.requests import Hello, Request

REFUSAL = Error(code="bad_message", message='hello: there is no field "features".', path="features")


def answer_as_in_1_2(request: Request) -> Iterable[Frame]:
    if isinstance(request, Hello) and request.features:
        return [REFUSAL]
    return [Welcome(protocol=1, server="tictactoe-server/1.2.0", player=CLIENT, name="ana", token=TOKEN, rooms=())]


async def test_hello_is_said_again_without_features_where_the_server_refuses_them() -> None:
    async with hostile_server("bo", {Hello: answer_as_in_1_2}) as server:
        async with connect(server.url, name="ana", token="secret") as client:
            assert client.player == CLIENT
        hellos = [request for request in server.heard if isinstance(request, Hello)]
        assert [(hello.name, hello.token, hello.features) for hello in hellos] == [
            ("ana", "secret", tuple(name for name in UNDERSTOOD if name != "challenges")),
            ("ana", "secret", ()),
        ]
        assert server.connections == 1


async def test_a_server_that_refuses_features_that_were_not_named_is_not_asked_again() -> None:
    async with hostile_server("bo", {Hello: lambda _: [REFUSAL]}) as server:
        with pytest.raises(Refused, match="no field"):
            async with connect(server.url):
                pass
        assert len(server.heard) == 2


async def test_the_program_says_nothing_of_the_first_hello() -> None:
    async with (
        hostile_server("bo", {Hello: answer_as_in_1_2}) as server,
        run_client("play", "--json", "--server", server.url) as client,
    ):
        lines = [json.loads(await client.read_line() or "{}") for _ in range(2)]
        assert [line["type"] for line in lines] == ["connected", "welcome"]
