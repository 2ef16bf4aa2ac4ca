from tests.end_to_end.clients import outcome
from tests.end_to_end.test_past_games import oldest_id, played
from tests.server.test_pages import get
from tictactoe_client.online.address import parse_address, reachable_address
from tictactoe_server.server import Server


def path_of(server: Server, link: str | None) -> str:
    """Return the path of a link; the link's host is replaced by this server."""
    start = f"{reachable_address(parse_address(server.url)).link_to('replay')}/"
    assert link is not None
    assert link.startswith(start)
    return f"/replay/{link.removeprefix(start)}"


async def test_replay_shares_the_last_or_any_game_and_revokes_the_link(server: Server) -> None:
    async with played(server, games=2):
        (code, last, errors), (_, other, _) = [
            await outcome("replay", *which, "--share", "-s", server.url) for which in ((), (await oldest_id(server),))
        ]
        assert (code, errors) == (0, "")
        paths = [path_of(server, link) for link in (last, other)]
        assert [(await get(server, path)).status for path in paths] == [200, 200]
        assert await outcome("replay", "--unshare", "-s", server.url) == (0, "The game is no longer shared.", "")
        assert [(await get(server, path)).status for path in paths] == [404, 200]
