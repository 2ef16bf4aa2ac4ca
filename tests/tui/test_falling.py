"""Where marks fall, any cell of a column names the move."""

import pytest

from tests.peer import Peer, until
from tests.tui.conftest import Game
from tictactoe_engine import PRESETS, Rules

FOUR = PRESETS["connect-four"]
D6, D5, E6 = 38, 31, 39


def row(text: str, number: int) -> str:
    """Return the line of the screen that has this row of the board."""
    return next(line for line in text.splitlines()[2:] if line.strip().startswith(f"{number} "))


async def answer(bo: Peer, code: str, cell: int, ply: int) -> None:
    await bo.ask("move", room=code, cell=cell, ply=ply)


async def test_with_gravity_the_cursor_is_on_the_landing_cell(game: Game) -> None:
    async with game(FOUR, size=(80, 22)) as (ana, bo, code):
        text = await ana.do("right", "[4]")
        assert "[4]" in row(text, 1)
        await ana.press("up", "up")
        assert "[4]" in row(ana.text, 1)
        await ana.press("enter")
        assert (await bo.state(ply=1))["last"] == D6
        await answer(bo, code, D5, 1)
        await ana.until("Your move")
        assert "[4]" in row(ana.text, 3)
        await ana.press("right", "space")
        assert (await bo.state(ply=3))["last"] == E6


async def test_a_second_click_anywhere_in_a_column_drops(game: Game) -> None:
    async with game(FOUR, size=(80, 22)) as (ana, bo, _):
        lines = ana.text.splitlines()
        x = next(line for line in lines if " A   B   C" in line).index("D")
        rows = [y for y, line in enumerate(lines) if line.strip()[:1] in ("1", "2", "3", "4", "5", "6") and "│" in line]
        await ana.click(x, rows[0])
        await ana.until("[4]", "Your move")
        await ana.click(x, rows[2])
        assert (await bo.state(ply=1))["last"] == D6


@pytest.mark.parametrize("rules", [FOUR, Rules(3, 3, 3, gravity=True)])
async def test_a_digit_drops_into_its_column_at_once(game: Game, rules: Rules) -> None:
    async with game(rules, size=(80, 22)) as (ana, bo, _):
        assert all(f" {column + 1} " in ana.text for column in range(rules.columns))
        await ana.press("3")
        assert (await bo.state(ply=1))["last"] == (rules.rows - 1) * rules.columns + 2


async def test_beyond_nine_columns_a_number_needs_enter(game: Game) -> None:
    rules = Rules(6, 12, 4, gravity=True)
    async with game(rules, size=(80, 22)) as (ana, bo, _):
        await ana.do("1", "Your move, X.", "move: 1_")
        await ana.press("2", "enter")
        assert (await bo.state(ply=1))["last"] == 71


@pytest.mark.parametrize("motion", [True, False])
async def test_marks_fall_if_motion_is_enabled(game: Game, monkeypatch: pytest.MonkeyPatch, *, motion: bool) -> None:
    for name in ("_FRAME_SECONDS", "_SLOW_MS"):  # a starved server is as slow as a distant one
        monkeypatch.setattr(f"tictactoe_client.tui.room.screen.{name}", 60_000.0)
    async with game(FOUR, size=(80, 22), motion=motion) as (ana, *_):
        await ana.do("4", "It's bo's move")  # which is shown before the answer is here
        await until(lambda: ana.app.pages[-1].room.moves)
        text = await ana.until("It's bo's move")
        assert [number for number in range(1, 7) if "X" in row(text, number)[4:34]] == ([6] if motion else [1])
