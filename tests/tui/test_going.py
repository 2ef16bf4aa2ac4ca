"""Esc leaves every wait at once, even if the server does not answer."""

import pytest

from tests.peer import two_playing
from tests.proxy import Proxy
from tests.tui.conftest import NEVER, Game, OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_server.server import Server


async def test_waiting_is_left_though_the_server_is_silent(proxy: Proxy, open_screen: OpenScreen) -> None:
    async with open_screen(proxy.url, Choice("create")) as ana:
        await ana.until("Waiting for another player")
        proxy.down.is_swallowing = True
        await ana.do("escape", "Playing as")


async def test_a_disconnected_watcher_reads_nothing_about_a_seat(
    server: Server, proxy: Proxy, open_screen: OpenScreen
) -> None:
    async with (
        two_playing(server) as (*_, code),
        open_screen(proxy.url, Choice("watch", code=code), backoff=NEVER) as wat,
    ):
        await wat.until("you watch")
        proxy.cut()
        await wat.until("Connection lost. Trying again in 99", gone="Seat held")
        await wat.do("escape", "tictactoe", gone="you watch")
        assert len(wat.app.pages) == 1


async def test_ctrl_q_in_a_game_asks_and_a_second_one_leaves(game: Game) -> None:
    async with game(moves=[0, 4]) as (ana, bo, code):
        await ana.do("ctrl+q", "Leave and lose this game?   Enter leave   Esc play on")
        await ana.do("escape", "Your move, X.", gone="Leave and lose")
        await ana.press("ctrl+q", "ctrl+q")
        assert (await bo.state(status="over"))["result"]["winner"] == "O"
        await ana.until_it_ends()
    assert ana.app.return_code == 0
    assert ana.app.last_words == f"Room {code}: you left; bo wins."


async def test_ctrl_q_and_ctrl_c_with_the_help_open_ask_at_the_board(game: Game) -> None:
    async with game() as (ana, *_):
        for key in ("ctrl+q", "ctrl+c"):
            await ana.do("?", "Help")
            await ana.do(key, "Leave and abort this game?", "Your move, X.", gone="Help")
            await ana.press("escape")


async def test_the_end_of_a_game_is_printed_after_quitting(game: Game) -> None:
    async with game(gives_up=True) as (ana, _, code):
        await ana.press("ctrl+q")
        await ana.until_it_ends()
    assert ana.app.last_words == f"Room {code}: You win! bo resigns."


@pytest.mark.parametrize("keys", ["escape", "ctrl+c", "tab h ctrl+q", ": r e s i g n enter"])
async def test_while_something_is_asked_the_last_line_names_the_keys_of_the_answer_alone(game: Game, keys: str) -> None:
    async with game() as (ana, *_):
        await ana.press(*keys.split())
        await ana.until("Esc play on")
        assert ana.text.splitlines()[-1].strip() == "Enter yes  Esc play on"
        await ana.do("escape", "help" if "tab" not in keys else "say: h_", gone="Esc play on")
