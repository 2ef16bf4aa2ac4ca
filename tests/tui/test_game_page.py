import pytest

from tests.tui.conftest import Game, OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_engine import PRESETS
from tictactoe_server.server import Server

SMALL = PRESETS["classic"]
GOMOKU = PRESETS["gomoku"]
LOOKS = [{"colour": True}, {"colour": False, "ascii": True}]


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
