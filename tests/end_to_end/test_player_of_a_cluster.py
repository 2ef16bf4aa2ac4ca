"""One who plays at several servers of a cluster, in one run after the other: the same player at each of them."""

from __future__ import annotations

from msgspec import UNSET

from tests.end_to_end.clients import run_client
from tests.faults.hostile_server import TOKEN, HostileServer, hostile_cluster, hostile_server
from tests.proxy import Proxy
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


async def test_a_later_run_that_comes_by_another_address_goes_on_as_the_same_player_where_it_is_known() -> None:
    async with hostile_cluster() as (one, two), Proxy(int(two.url.rpartition(":")[2])) as front:
        await visit(one.url)
        await visit(front.url)
        assert tokens(two) == [UNSET, TOKEN]


async def test_a_server_that_only_says_that_it_is_of_the_cluster_gets_no_token() -> None:
    async with hostile_cluster() as (one, _), hostile_server() as stranger:
        await visit(one.url)
        stranger.cluster, stranger.servers = one.cluster, (stranger.url, one.url)
        await visit(stranger.url)
        await visit(stranger.url)
        assert tokens(stranger) == [UNSET, UNSET]
        assert tokens(one) == [UNSET, TOKEN, TOKEN]


async def test_who_is_known_where_nobody_answers_any_more_is_somebody_new() -> None:
    async with hostile_server() as other:
        async with hostile_cluster() as (one, _):
            await visit(one.url)
            other.cluster, other.servers = one.cluster, (other.url, one.url)
        await visit(other.url)
        assert tokens(other) == [UNSET, UNSET]


async def test_what_a_server_names_is_given_no_token_that_it_did_not_have() -> None:
    async with hostile_server() as good, hostile_server() as bad:
        await visit(good.url)
        bad.cluster, bad.servers = "another", (bad.url, good.url)
        await visit(bad.url)
        assert tokens(bad) == [UNSET]
