"""One who plays at several servers of a cluster, in one run after the other: the same player at each of them."""

from __future__ import annotations

from msgspec import UNSET

from tests.end_to_end.clients import run_client
from tests.faults.hostile_server import TOKEN, HostileServer, hostile_cluster, hostile_server
from tictactoe_protocol.requests import Hello


async def visit(url: str) -> None:
    """Play there for a moment."""
    async with run_client("new", "--json", "-s", url) as script:
        await script.message(type="room")
        script.send(type="leave")
        script.end_input()
        assert await script.end() == 0


def tokens(server: HostileServer) -> list[object]:
    """Return with which tokens a server was greeted."""
    return [request.token for request in server.heard if isinstance(request, Hello)]


async def test_a_later_run_is_the_same_player_at_another_server() -> None:
    async with hostile_cluster(3) as (one, two, three):
        for server in (one, two, three):
            await visit(server.url)
        assert (tokens(one), tokens(two), tokens(three)) == ([UNSET], [TOKEN], [TOKEN])


async def test_a_server_that_only_says_that_it_is_of_the_cluster_gets_no_token() -> None:
    async with hostile_cluster() as (one, _), hostile_server() as stranger:
        await visit(one.url)
        stranger.cluster, stranger.servers = one.cluster, (stranger.url, one.url)
        await visit(stranger.url)
        await visit(stranger.url)
        assert tokens(stranger) == [UNSET, UNSET]
        assert tokens(one) == [UNSET, TOKEN, TOKEN]
