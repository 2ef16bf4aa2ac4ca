import pytest
from textual import events

from tests.tui.conftest import Game


@pytest.mark.parametrize(
    ("typed", "keys", "said"),
    [
        ("helo", "left l", "hello"),
        ("ello", "home h", "hello"),
        ("hellxo", "left left delete", "hello"),
        ("good dax luck", "ctrl+left left backspace y", "good day luck"),
        ("good luck", "ctrl+w", "good"),
        ("good luck", "ctrl+backspace", "good"),
        ("bad luck", "ctrl+u w e l l", "well"),
        ("one two", "shift+home x", "x"),
        ("was it", "home ctrl+right ctrl+k", "was"),
    ],
)
async def test_chat_lines_can_be_edited_anywhere(game: Game, typed: str, keys: str, said: str) -> None:
    async with game() as (ana, bo, _):
        await ana.press("tab")
        await ana.type(typed)
        await ana.press(*keys.split(), "enter")
        assert (await bo.next_of("chat"))["text"] == said


async def test_a_line_longer_than_the_window_follows_the_caret(game: Game) -> None:
    async with game(size=(40, 12)) as (ana, *_):
        await ana.press("tab")
        await ana.type("one two three four five six seven eight", "seven eight_", gone="say:")
        await ana.do("home", "say: one two three", gone="eight")
        await ana.do("end", "seven eight_", gone="say:")


async def test_up_and_down_go_through_earlier_commands(game: Game) -> None:
    async with game() as (ana, *_):
        for words in ("who", "clock", "last"):
            await ana.enter(f":{words}")
        await ana.press(":")
        await ana.do("up", ":last_")
        await ana.do("up up up", ":who_")
        await ana.do("down", ":clock_")
        await ana.do("down down down", ":_")
        await ana.press("escape")
        await ana.do("tab up", "say: _")


async def test_tab_completes_a_command_previewed_on_the_bottom_line(game: Game) -> None:
    async with game(moves=[0, 4]) as (ana, *_):
        await ana.do(": r e s", "Tab resign  Enter ok")
        await ana.do("tab", ":resign_", gone="Tab resign")
        await ana.do("enter", "Resign?   Enter resign")
        await ana.do("escape", "Your move")
        await ana.do(": d", "Tab draw")
        await ana.do("escape : x y tab", ":xy_")


async def test_keys_that_come_at_once_are_taken_one_after_the_other(game: Game) -> None:
    async with game() as (ana, bo, _):
        for key, character in (("colon", ":"), ("b", "b"), ("3", "3"), ("enter", None)):
            ana.app.post_message(events.Key(key, character))
        assert (await bo.state(ply=1))["last"] == 7
    async with game() as (ana, *_):
        for key, character in (("escape", None), ("n", "n"), ("1", "1"), ("2", "2")):
            ana.app.post_message(events.Key(key, character))
        await ana.until("The game goes on.")
        await ana.do("f9", "Your move, X.", "│  1  │  2  │", gone="The game goes on.")


async def test_a_question_is_answered_in_a_window_that_is_too_small_for_the_board(game: Game) -> None:
    async with game() as (ana, bo, _):
        await ana.pilot.resize_terminal(20, 7)
        await ana.press("5")
        await ana.do("ctrl+q", "needed, now", "Leave and", "Enter leave")
        await ana.press("enter")
        await ana.until_it_ends()
        assert (await bo.state(status="over"))["ply"] == 0


async def test_a_question_closes_with_its_game(game: Game) -> None:
    async with game(moves=[0, 4]) as (ana, bo, code):
        await ana.do("escape", "Leave and lose this game?")
        await bo.ask("resign", room=code)
        await ana.until("You win", "r play again", gone="Leave and lose")
