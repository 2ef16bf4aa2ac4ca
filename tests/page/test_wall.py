import re

from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.page.test_play import address
from tests.peer import Peer, open_peer
from tictactoe_server.server import Server

CLOCK = {"initial_ms": 600_000, "increment_ms": 0}


async def begin(ana: Peer, bo: Peer, rules: object, cells: tuple[int, ...] = (), **terms: object) -> str:
    """Begin a game between two players with these moves, and return its room."""
    room = str((await ana.ask("create", rules=rules, **terms))["room"])
    await bo.ask("join", room=room)
    for ply, cell in enumerate(cells):
        await (ana, bo)[ply % 2].ask("move", room=room, cell=cell, ply=ply)
    return room


async def test_a_game_on_the_wall_has_its_name_its_players_and_clocks_that_run(server: Server, visit: Visit) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        await begin(ana, bo, "gomoku", (112, 113), clock=CLOCK)
        wall = await visit(address(server, "/wall"))
        game = wall.page.locator(".live-boards li")
        await expect(game).to_contain_text("Gomoku")
        await expect(game.locator(".moving")).to_contain_text("ana")
        await expect(game.locator(".moving .clock")).to_have_text(re.compile(r"^9:(?!59)\d\d$"))
        await expect(game.locator(".live-player").nth(1).locator(".clock")).to_have_text(re.compile("^(10:00|9:59)$"))
        await expect(game.locator(".mini.stones .s0")).to_have_attribute("d", re.compile("^M70 70"))


async def test_the_longest_game_is_large_and_its_end_stays(server: Server, visit: Visit) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        far = await begin(ana, bo, "classic", (0, 3, 1, 4))
        await begin(ana, bo, "connect-four", (38,))
        wall = await visit(address(server, "/wall"))
        large = wall.page.locator(".featured")
        await expect(large).to_contain_text("Tic-tac-toe")
        width = "element => element.offsetWidth"
        others = wall.page.locator(".live-boards li:not(.featured)")
        assert await large.evaluate(width) > 1.8 * await others.evaluate(width)
        await ana.ask("move", room=far, cell=2, ply=4)
        ended = wall.page.locator(".live-boards li", has_text="Tic-tac-toe")
        await expect(ended).to_contain_text("ana wins")
        await expect(ended.locator(".mini .won")).to_have_attribute("d", re.compile("^M0 0.*M10 0.*M20 0"))
        await expect(ended.locator(".mini .last + .won")).to_have_count(1)
        await expect(large).to_contain_text("Connect four")


async def test_the_games_of_a_wall_leave_no_row_empty(server: Server, visit: Visit) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        for game in ("classic", "connect-four", "gomoku"):
            await begin(ana, bo, game, (38,) if game == "connect-four" else (4,))
        wall = await visit(address(server, "/wall"))
        others = wall.page.locator(".live-boards li:not(.featured)")
        await expect(others).to_have_count(2)
        upper, lower = [await others.nth(number).bounding_box() for number in range(2)]
        assert upper is not None
        assert lower is not None
        assert lower["x"] == upper["x"]
        assert lower["y"] >= upper["y"] + upper["height"]
