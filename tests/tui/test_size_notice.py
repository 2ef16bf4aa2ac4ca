"""What a window that is too small still says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.conftest import Game
from tictactoe_client.tui.picture import measure, notice_size

QUESTION = "Leave and lose this game?   Enter yes   Esc play on"


@pytest.mark.parametrize(
    ("window", "lines"),
    [
        ((30, 8), ["needs at least 24x9, now 30x8"]),
        ((20, 8), ["needs at least 24x9,", "now 20x8"]),
        ((10, 4), ["needs at", "least", "24x9, now", "10x4"]),
        ((10, 3), ["needs at", "least 24x9"]),
        ((10, 1), ["needs 24x9"]),
        ((5, 2), ["needs", "24x9"]),
        ((8, 1), ["needs at"]),
        ((1, 1), ["n"]),
    ],
)
def test_the_notice_keeps_its_first_words(window: tuple[int, int], lines: list[str]) -> None:
    assert notice_size((24, 9), window, "") == lines


def test_a_question_has_its_place_below_the_notice() -> None:
    assert notice_size((24, 9), (60, 4), QUESTION) == ["needs at least 24x9, now 60x4", QUESTION]
    assert notice_size((24, 9), (23, 5), QUESTION) == [
        "needs at least 24x9,",
        "now 23x5",
        "Leave and lose this",
        "game?   Enter yes   Esc",
        "play on",
    ]
    assert notice_size((24, 9), (20, 3), QUESTION) == [
        "needs at least 24x9",
        "Leave and lose this",
        "game?   Enter yes",
    ]


@given(st.integers(1, 40), st.integers(1, 12), st.sampled_from(["", QUESTION]))
def test_it_fits_any_window_and_begins_with_its_first_word(width: int, height: int, question: str) -> None:
    lines = notice_size((24, 9), (width, height), question)
    assert 1 <= len(lines) <= height
    assert all(measure(line) <= width for line in lines)
    assert "needs".startswith(lines[0][:5])


async def test_it_stands_on_the_screen(game: Game) -> None:
    async with game() as (ana, *_):
        await ana.pilot.resize_terminal(10, 4)
        assert ana.text.split("\n") == ["needs at", "least", "24x8, now", "10x4"]
        await ana.click(5, 3)
        await ana.do("5 ctrl+q", "needs", "Leave and")
        await ana.pilot.resize_terminal(80, 16)
        await ana.do("escape", "YOUR MOVE (X)", "│  5  │")
