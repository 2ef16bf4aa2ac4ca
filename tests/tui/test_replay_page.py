from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from tests.tui.conftest import OpenScreen, ScreenUser
from tictactoe_client.tui import FirstPage
from tictactoe_engine import Rules
from tictactoe_engine.records import GameRecord, GameResult, parse_record

NOWHERE = "ws://127.0.0.1:1"
CLASSIC = """
[X "ana"] [O "bo"] [Date "2030-12-31"] [Room "K7M4PQ"] [Game "3"] [Clock "180+2"]
1. b2 a1 {A corner.} 2. c1 a3 3. a2 c3 4. c2 X
"""
LAST = "Move 7 of 7: ana plays C2, middle right."

Watch = Callable[..., AbstractAsyncContextManager[ScreenUser]]


def diagonal(size: int) -> GameRecord:
    """Return a game on a large board: X goes down one diagonal, O stays in the first row."""
    cells = [cell for step in range(8) for cell in (step * 4 * (size + 1), 2 * step + 1)]
    return GameRecord(rules=Rules(size, size, 5), moves=tuple(cells), result=GameResult("agreed", None))


@pytest.fixture
def watch(open_screen: OpenScreen) -> Watch:
    @asynccontextmanager
    async def run(
        record: GameRecord | str = CLASSIC,
        ply: int = 0,
        size: tuple[int, int] = (80, 16),
        note: str = "",
        **options: Any,
    ) -> AsyncIterator[ScreenUser]:
        record = parse_record(record) if isinstance(record, str) else record
        first_page = FirstPage("replay", record=record, ply=ply, note=note)
        async with open_screen(NOWHERE, None, size, first_page, **options) as ana:
            yield ana

    return run


async def test_a_replay_shows_players_game_date_and_result(watch: Watch) -> None:
    async with watch() as ana:
        text = await ana.until("REPLAY  ana v bo · Tic-tac-toe", "move 0 of 7", "The start.")
        assert "X  ana" in text
        assert "O  bo" in text
        assert "3+2, 2030-12-31, room K7M4PQ, game 3" in text
        assert "ana wins. Row 2 is X X X." in text
        assert " 1. X B2  O A1" in text


async def test_a_typed_number_goes_to_a_move_and_escape_drops_it_before_leaving(watch: Watch) -> None:
    async with watch() as ana:
        await ana.until("Esc leave")
        await ana.do("1 2 enter", "There is no move 12, only 0 to 7.")
        await ana.do("1 2 backspace enter", "Move 1 of 7: ana plays B2, centre.", ">1. X B2")
        await ana.do("5", "go to move: 5_")
        await ana.do("escape", "Move 1 of 7", gone="go to move")
        await ana.press("escape")
    assert ana.app.return_code == 0


async def test_the_wheel_steps_and_a_click_goes_to_the_move_of_a_mark(watch: Watch) -> None:
    async with watch(ply=7) as ana:
        text = (await ana.until(LAST)).splitlines()
        row = next(number for number, line in enumerate(text) if line.startswith("  1 │"))
        await ana.click(text[row].index("O"), row)
        await ana.until("Move 2 of 7: bo plays A1, top left.")
        ana.app.pages[-1].commands.scroll(1)
        ana.app.redraw()
        await ana.until("Move 3 of 7")
        await ana.click(1, 14)
        await ana.until("Move 3 of 7")


@pytest.mark.parametrize("size", [(36, 10), (120, 40)])
async def test_every_window_shows_the_board_and_the_comment(watch: Watch, size: tuple[int, int]) -> None:
    async with watch(ply=2, size=size) as ana:
        text = await ana.until("{A corner.}", "Move 2 of 7")
        assert "step" in text.rstrip().splitlines()[-1]
