import asyncio
from typing import Any

import pytest

from tests.peer import PATIENCE_SECONDS
from tests.proxy import Proxy
from tests.tui.conftest import BRIEF, Game, OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_engine import PRESETS
from tictactoe_server.server import Server

SMALL = PRESETS["classic"]
GOMOKU = PRESETS["gomoku"]
LOOKS = [{"colour": True}, {"colour": False, "ascii": True}]


@pytest.mark.parametrize("look", LOOKS)
async def test_a_whole_game_by_digits(game: Game, look: dict[str, Any]) -> None:
    async with game(**look) as (ana, bo, code):
        await ana.do("1", "It's bo's move.", "(X)")
        await bo.ask("move", room=code, cell=4, ply=1)
        await ana.until("Your move, X.", "(O)")
        await ana.do("2", "It's bo's move.")
        await bo.ask("move", room=code, cell=8, ply=3)
        await ana.until("Your move, X.")
        text = await ana.do("3", "You win! Row 1 is X X X. (5 moves", "r play again")
        assert "<X>" in text.splitlines()[4]
        assert text.isascii() is look.get("ascii", False)


async def test_two_at_one_keyboard_are_not_shown_how_to_chat(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, Choice("create", SMALL, private=True, seat="X", guests=("bo",))) as ana:
        text = await ana.until("X  ana", "O  bo", "1-9 place")
        assert "Tab" not in text
        await ana.do("5", "It's bo's move.")
        await ana.do("1", "It's ana's move.")


async def test_a_click_places_on_small_boards_and_selects_on_large_ones(game: Game) -> None:
    async with game() as (ana, bo, _):
        await ana.click(7, 4)
        assert (await bo.state(ply=1))["last"] == 0
    async with game(GOMOKU) as (ana, bo, _):
        await ana.click(6, 3)
        await ana.until("[.]")
        assert "Your move" in ana.text
        await ana.click(6, 3)
        assert (await bo.state(ply=1))["ply"] == 1


async def test_a_player_who_cannot_reconnect_is_told_what_to_do(proxy: Proxy, game: Game) -> None:
    async with game(url=proxy.url, backoff=BRIEF) as (ana, _, code):
        proxy.lose()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while ana.app.is_running and not ana.app.last_words:
                await ana.pilot.pause()
    assert ana.app.last_words.startswith(
        "Could not get back: the connection was lost for too long. bo may claim the game. Try again:"
    )
    assert code in ana.app.last_words
    assert ana.app.return_code == 7


async def test_the_bell_rings_on_turn_without_focus(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[bool] = []
    monkeypatch.setattr("tictactoe_client.tui.app.TicTacToe.bell", lambda _: rung.append(True))
    async with game() as (ana, bo, code):
        from textual.events import AppBlur, AppFocus

        for focused, expected in ((True, 0), (False, 1)):
            rung.clear()
            ana.app.post_message(AppFocus() if focused else AppBlur())
            await ana.pilot.pause()
            ply = len(ana.app.pages[-1].room.moves)
            await ana.press("159"[ply // 2])
            await bo.state(ply=ply + 1)
            await bo.ask("move", room=code, cell=(1, 2)[ply // 2], ply=ply + 1)
            await ana.until("Your move", f"{ply // 2 + 1}. X ", "O B1" if ply == 0 else "O C1")
            assert len(rung) == expected
