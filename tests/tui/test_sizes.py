from time import monotonic, sleep

import pytest

from tests.tui.conftest import AtHome, Game, ScreenUser
from tictactoe_client.session import Session
from tictactoe_client.tui.picture import notice_size

LARGE = (200, 50)


def find(user: ScreenUser, words: str) -> tuple[int, int]:
    return next((line.index(words), y) for y, line in enumerate(user.text.splitlines()) if words in line)


async def test_a_click_is_found_on_the_stage(at_home: AtHome) -> None:
    async with at_home(size=LARGE) as ana:
        x, y = find(ana, "Invite a friend")
        await ana.click(3, y)
        assert len(ana.app.pages) == 1
        await ana.click(x, y)
        await ana.until("friends come by code or link")
        x, y = find(ana, "With")
        await ana.click(x, y)
        await ana.until("> With               computer, easy")


async def test_a_window_is_changed_again_and_again_during_a_game(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "latency_ms", 1)
    async with game(size=(80, 24)) as (ana, bo, _):
        await ana.do("right", "┃    5    ┃")
        before = ana.text.splitlines()[1:]
        for size, words in (
            (LARGE, ["│         5         │", "│┏                 ┓│"]),
            ((100, 30), ["│┃    5    ┃│"]),
            ((80, 22), ["│┃  5  ┃│", "│┏     ┓│"]),
            ((60, 16), ["│ [5] │", "O  bo"]),
            ((40, 12), ["│ [5] │", "X ana  O bo", "? help"]),
            ((24, 8), ["[.]", "X ana  O bo", "? help"]),
            ((23, 8), ["24x8 needed, now 23x8"]),
            ((80, 7), ["24x8 needed, now 80x7"]),
            ((24, 8), ["[.]", "X ana  O bo", "? help"]),
            (LARGE, ["│┏                 ┓│"]),
        ):
            await ana.pilot.resize_terminal(*size)
            text = await ana.until(*words)
            assert [len(row) for row in ana.canvas.picture.rows] == [size[0]] * size[1], text
        await ana.pilot.resize_terminal(80, 24)
        await ana.until("┃    5    ┃")
        assert ana.text.splitlines()[1:] == before
        await ana.press("enter")
        assert (await bo.state(ply=1))["last"] == 4


async def test_a_resize_is_handled_although_the_timer_starts_late(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_and_stand_still() -> float:
        now = monotonic()
        sleep(0.01)  # longer than that timer has to run
        return now

    async with game() as (ana, *_):
        monkeypatch.setattr("textual._time.get_time", look_and_stand_still)
        await ana.pilot.resize_terminal(*LARGE)
        await ana.until("│         5         │")


QUESTION = "Leave and lose this game?   Enter leave   Esc play on"


@pytest.mark.parametrize(
    ("window", "lines"),
    [
        ((30, 8), ["24x9 needed, now 30x8"]),
        ((20, 8), ["24x9 needed, now", "20x8"]),
        ((10, 4), ["24x9", "needed,", "now 10x4"]),
        ((10, 3), ["24x9", "needed,", "now 10x3"]),
        ((10, 1), ["24x9"]),
        ((5, 2), ["24x9", "neede"]),
        ((8, 1), ["24x9"]),
        ((1, 1), ["2"]),
    ],
)
def test_the_notice_keeps_its_first_words(window: tuple[int, int], lines: list[str]) -> None:
    assert notice_size((24, 9), window, "") == lines


def test_a_question_has_its_place_below_the_notice() -> None:
    assert notice_size((24, 9), (60, 4), QUESTION) == ["24x9 needed, now 60x4", QUESTION]
    assert notice_size((24, 9), (23, 5), QUESTION) == [
        "24x9 needed, now 23x5",
        "Leave and lose this",
        "game?   Enter leave",
        "Esc play on",
    ]
    assert notice_size((24, 9), (20, 3), QUESTION) == [
        "24x9 needed, now",
        "Leave and lose this",
        "game?   Enter leave",
    ]


async def test_the_smallest_window_still_shows_the_key_to_leave(at_home: AtHome) -> None:
    async with at_home(size=(40, 12)) as ana:
        assert "Ctrl+Q quit" in ana.text.splitlines()[-1]
        for key, words in (
            ("?", "Everywhere"),
            ("s", "> Theme"),
            ("N", "Make this"),
            ("w enter", "Private games"),
        ):
            text = await ana.do(key, words, "Esc back")
            assert "Esc back" in text.splitlines()[-1]
            await ana.do("escape", "Playing as")
        await ana.do("n", "Esc no")
        await ana.do("escape f enter", "Waiting for another player", "Esc cancel")
        assert "Esc cancel" in ana.text.splitlines()[-1]
