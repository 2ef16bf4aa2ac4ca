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
