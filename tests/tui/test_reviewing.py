"""Reviewing a game with the values of its moves, with a real server."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.peer import Peer, open_peer, play_out
from tests.tui.conftest import Game, OpenScreen, ScreenUser
from tests.tui.test_game_page import LOOKS
from tictactoe_client.input.ways import Choice
from tictactoe_server.server import Server

WON_BY_X = [4, 0, 2, 1, 6]


@contextlib.asynccontextmanager
async def watched(
    open_screen: OpenScreen, server: Server, moves: list[int], rules: str = "classic", **options: Any
) -> AsyncIterator[tuple[ScreenUser, Peer, Peer, str]]:
    """Open a screen that watches ana and bo after the given moves."""
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        code = (await ana.ask("create", rules=rules, analysis="open"))["room"]
        await bo.ask("join", room=code)
        await ana.state(status="playing")
        await play_out({"X": ana, "O": bo}, code, moves)
        async with open_screen(server.url, Choice("watch", code=code), name="wat", **options) as wat:
            await wat.until("you watch")
            yield wat, ana, bo, code


async def wake_worker(server: Server) -> None:
    """Start the server's search process now: under a screen, standard error is no file."""
    async with open_peer(server.url) as eve:
        code = (await eve.ask("create", rules="gomoku"))["room"]
        await eve.ask("analyse", room=code)


@pytest.mark.parametrize("look", LOOKS)
async def test_a_finished_game_shows_what_each_move_was_worth(game: Game, look: dict[str, Any]) -> None:
    async with game(**look) as (ana, bo, code):
        for ply, cell in enumerate(WON_BY_X):
            if ply % 2:
                await bo.state(ply=ply)
                await bo.ask("move", room=code, cell=cell, ply=ply)
            else:
                await ana.until("Your move", *(f"{ply // 2}. X" for _ in range(ply // 2)))
                await ana.press(str(cell + 1))
        await ana.until("You win", "v review")
        text = await ana.do("v", "X wins at once. Best: A3.", "X played A3, the best: wins at once.", "hide values")
        assert "*+1" in text.splitlines()[8]
        await ana.do("left", "O to move: a draw with best play. Best: A3.", "O played B1: loses in 2; best A3: a draw.")
        assert "Worth " in ana.text
        assert ana.has_role("bad") is True
        await ana.do("v", "Move 3 of ", "End or Esc to the end", gone="to move")
        await ana.do("end", "You win")
        assert ana.text.isascii() is look.get("ascii", False)


async def test_a_watcher_sees_values_of_the_game_that_goes_on(server: Server, open_screen: OpenScreen) -> None:
    async with watched(open_screen, server, [0, 4]) as (wat, ana, bo, code):
        assert "*=" not in wat.text
        await wat.do("v", "X to move: a draw with best play.", "*=", "It's ana's move.")
        await ana.ask("move", room=code, cell=8, ply=2)
        await wat.until("O to move: a draw with best play. Best: B1, A2, C2, B3.", "-4")
        await wat.do("left", "X to move: a draw", "Move 2 of ", "X played C3", "move 2 of 3")
        await bo.ask("move", room=code, cell=2, ply=3)
        await wat.until("move 2 of 4", "1 new move", "X played C3")
        await wat.do("end", "X wins in 3. Best: A3.", "It's ana's move.")
        await wat.do("v", "It's ana's move.", gone="X wins")


async def test_cells_are_compared_pointed_at_and_named(server: Server, open_screen: OpenScreen) -> None:
    async with watched(open_screen, server, [0, 4, 8]) as (wat, *_):
        await wat.do("v", "Best: B1, A2, C2, B3.")
        await wat.do("down", "*=", "B1: a draw.")
        await wat.do("down down down down", "C1 loses in 4.")
        await wat.do("7", "A3 loses in 4.")
        await wat.do(": c 2 enter", "C2: a draw.")
        await wat.click(7, 4)
        await wat.until("A1 is no move.")


async def test_a_large_board_names_its_best_cells_beside_it(bots: Server, open_screen: OpenScreen) -> None:
    open_four = [112, 0, 113, 1, 114, 28, 115]
    await wake_worker(bots)
    async with watched(open_screen, bots, open_four, "gomoku") as (wat, *_):
        await wat.press("v")
        await wat.press_until_seen("left", "Move 6 of ", "Worth: …")
        text = await wat.until("X wins within 3. Best: ", "X played K8, one of the best", "wins within 3")
        row = next(line for line in text.splitlines() if line.startswith("   8"))
        assert "*" in row
        await wat.do(": a 8 enter", "   A8: unclear")


async def test_a_rematch_ends_the_review(game: Game) -> None:
    async with game(gives_up=True) as (ana, bo, code):
        await ana.do("v", "O to move: a draw", "*=")
        await bo.ask("rematch", room=code)
        await ana.until("bo wants a rematch.", "O to move: a draw")
        await ana.do("r", "It's bo's move.", gone="*=")


@pytest.mark.parametrize("look", LOOKS)
async def test_a_watcher_always_sees_at_which_move_and_how_to_step_back(
    server: Server, open_screen: OpenScreen, look: dict[str, Any]
) -> None:
    back = "[< back]" if look.get("ascii") else "[◂ back]"
    async with watched(open_screen, server, [0, 4, 8], **look) as (wat, _, bo, code):
        text = await wat.until(f"1 watching   move 3 of 3   {back}")
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
        await ana.do("v", "hide values  m next mistake  End end  Esc back")
        await ana.do("right end escape", "You win", "r play again  v review", gone="hide values")
        await ana.do("v left escape", "You win", "r play again  v review", gone="hide values")
        await ana.do("escape", "Playing as")
