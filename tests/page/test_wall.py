import re

from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.page.test_play import address
from tests.peer import play_out, two_playing
from tictactoe_server.server import Server

CLOCK = {"initial_ms": 600_000, "increment_ms": 0}


async def test_a_game_on_the_wall_has_its_name_its_players_and_clocks_that_run(server: Server, visit: Visit) -> None:
    async with two_playing(server, rules="gomoku", clock=CLOCK) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [112, 113])
        wall = await visit(address(server, "/wall"))
        game = wall.page.locator(".live-boards li")
        await expect(game).to_contain_text("Gomoku")
        await expect(game.locator(".moving")).to_contain_text("ana")
        await expect(game.locator(".moving .clock")).to_have_text(re.compile(r"^9:(?!59)\d\d$"))
        await expect(game.locator(".live-player").nth(1).locator(".clock")).to_have_text(re.compile("^(10:00|9:59)$"))
        await expect(game.locator(".mini.stones .s0")).to_have_attribute("d", re.compile("^M70 70"))


async def test_the_longest_game_is_large_and_its_end_stays(server: Server, visit: Visit) -> None:
    async with two_playing(server) as (ana, bo, far), two_playing(server, rules="connect-four") as (cy, dee, near):
        await play_out({"X": ana, "O": bo}, far, [0, 3, 1, 4])
        await play_out({"X": cy, "O": dee}, near, [38])
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
