from typing import Any

import pytest

from tests.peer import play_out, two_playing
from tests.tui.conftest import Game, OpenScreen
from tests.tui.test_game_page import LOOKS
from tictactoe_client.input.ways import Choice
from tictactoe_server.server import Server


@pytest.mark.parametrize("look", LOOKS)
async def test_a_review_of_a_finished_game_shows_values(game: Game, look: dict[str, Any]) -> None:
    async with game(**look, moves=[4, 0, 2, 1]) as (ana, *_):
        await ana.do("7", "You win", "v review")
        text = await ana.do("v", "X wins at once. Best: A3.", "X played A3, as good as any:", "hide values")
        assert "*+1" in text.splitlines()[8]
        await ana.do("left", "O to move: a draw with best play. Best: A3.", "B1 gives the draw away")
        assert any(cell[1] == "bad" for row in ana.canvas.picture.rows for cell in row)
        await ana.do("v", "Move 3 of ", "End to the end", gone="to move")
        await ana.do("end", "You win")
        assert ana.text.isascii() is look.get("ascii", False)


@pytest.mark.parametrize("look", LOOKS)
async def test_watchers_see_the_move_and_the_keys_to_step(
    server: Server, open_screen: OpenScreen, look: dict[str, Any]
) -> None:
    back = "[< back]" if look.get("ascii") else "[◂ back]"
    async with (
        two_playing(server, analysis="open") as (ana, bo, code),
        open_screen(server.url, Choice("watch", code=code), name="wat", **look) as wat,
    ):
        await play_out({"X": ana, "O": bo}, code, [0, 4, 8])
        text = await wat.until(f"1 watcher   move 3 of 3   {back}")
        at = text.splitlines()[0].index(back)
        await wat.click(at + 1, 0)
        await wat.until("move 2 of 3", "Move 2 of ")
        await wat.click(at + len(back) - 1, 0)
        await wat.until("move 1 of 3")
        await wat.click(at - 2, 0)
        await bo.ask("move", room=code, cell=1, ply=3)
        await wat.until("move 1 of 4", "(1 new move)")
        await wat.do("left", "move 0 of 4", gone=back)
        await wat.pilot.resize_terminal(36, 14)
        await wat.until("you watch  ana v bo", "move 0 of 4", gone="watching   move")
        await wat.pilot.resize_terminal(24, 14)
        await wat.until("move 0 of 4")


async def test_esc_hides_the_values_and_leads_to_the_end_before_it_leaves(game: Game) -> None:
    async with game(gives_up=True) as (ana, *_):
        await ana.until("You win", "v review")
        await ana.do("v", "hide values  m next mistake  End to the end  Esc back")
        await ana.do("right end escape", "You win", "r play again  v review", gone="hide values")
        await ana.do("v left escape", "You win", "r play again  v review", gone="hide values")
        await ana.do("escape", "Playing as")
