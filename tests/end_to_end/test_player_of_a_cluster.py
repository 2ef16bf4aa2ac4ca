"""A player who visits several servers of a cluster in successive runs is the same player at each."""

import json
from collections.abc import Iterable

from msgspec import UNSET

from tests.end_to_end.clients import run_client
from tests.faults.hostile_server import TOKEN, Frame, HostileServer, hostile_cluster, hostile_server, make_welcome
from tictactoe_client.files.writer import state_folder
from tictactoe_protocol.pushes import Error
from tictactoe_protocol.requests import Hello, Request


async def visit(url: str) -> str:
    """Play there for a moment, and return what the client wrote on standard error."""
    async with run_client("new", "--json", "-s", url) as script:
        await script.message(type="room")
        script.send(type="leave")
        script.end_input()
        assert await script.end() == 0
        return await script.errors()


def tokens(server: HostileServer) -> list[object]:
    return [request.token for request in server.heard if isinstance(request, Hello)]


async def test_a_later_run_is_the_same_player_at_another_server() -> None:
    async with hostile_cluster(3) as (one, two, three):
        for server in (one, two, three):
            await visit(server.url)
        assert (tokens(one), tokens(two), tokens(three)) == ([UNSET], [TOKEN], [TOKEN])


async def test_a_server_that_only_claims_to_be_in_the_cluster_gets_no_token() -> None:
    async with hostile_cluster() as (one, _), hostile_server() as stranger:
        await visit(one.url)
        stranger.cluster, stranger.servers = one.cluster, (stranger.url, one.url)
        await visit(stranger.url)
        await visit(stranger.url)
        assert tokens(stranger) == [UNSET, UNSET]
        assert tokens(one) == [UNSET, TOKEN, TOKEN]


async def test_a_refused_token_is_kept_and_tried_again_for_a_week() -> None:
    state_file = state_folder() / "players.json"
    known = {"first"}

    def greet(hello: Request) -> Iterable[Frame]:
        assert isinstance(hello, Hello)
        token = "second" if hello.token is UNSET else hello.token
        return [
            make_welcome("bo", token=token) if token in known else Error(code="bad_token", message="It is unknown.")
        ]

    async with hostile_server(answers={Hello: greet}) as server:

        async def visit_with(*accepted: str) -> tuple[list[object], bool]:
            known.clear()
            known.update(accepted)
            server.heard.clear()
            said = await visit(server.url)
            return tokens(server), "no longer knows you as bo" in said

        server.answers[Hello] = lambda hello: [make_welcome("bo", token="first")]
        await visit(server.url)
        server.answers[Hello] = greet
        assert await visit_with("second") == (["first", UNSET], True)
        assert await visit_with("second") == (["first", "second"], True)
        assert await visit_with("first", "second") == (["first"], False)
        assert await visit_with("second") == (["first", "second"], True)
        kept = json.loads(state_file.read_text())
        for row in kept["players"]:
            row["refused_at"] -= 7 * 86_400 if row["refused_at"] else 0
        state_file.write_text(json.dumps(kept))
        assert await visit_with("first", "second") == (["second"], False)
