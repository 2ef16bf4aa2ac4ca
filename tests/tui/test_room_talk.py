"""What is said in a room: nothing is lost in the line, and nothing arrives unseen in a narrow window."""

from __future__ import annotations

import asyncio

import pytest

from tests.peer import open_peer
from tests.tui.conftest import Game, OpenScreen
from tictactoe_client.online.client import Choice
from tictactoe_server.server import Server

pytestmark = pytest.mark.usefixtures("as_in_1_0")


async def test_a_line_that_is_too_long_stays_with_a_count(game: Game) -> None:
    async with game() as (ana, bo, _):
        await ana.press("tab")
        await ana.paste("a" * 187)
        await ana.do("b", "188/200")
        await ana.paste("c" * 13)
        await ana.do("enter", "Too long: 201 of 200 characters.", "201/200", "ccc_")
        await ana.press("backspace", "enter")
        assert (await bo.next_of("chat"))["text"] == "a" * 187 + "b" + "c" * 12


async def test_a_line_after_a_command_that_is_too_long_stays_too(game: Game) -> None:
    async with game() as (ana, *_):
        await ana.type(":chat ")
        await ana.paste("a" * 201)
        await ana.do("enter", "Too long: 201 of 200 characters.", "201/200")


async def test_a_line_that_was_refused_comes_back(game: Game) -> None:
    async with game() as (ana, *_):
        for number in range(30):
            if "say: line" in ana.text:
                break
            await ana.press("tab")
            await ana.enter(f"line {number}")
            async with asyncio.timeout(10):
                while f"ana: line {number}" not in ana.text and "You say too much" not in ana.text:
                    await ana.pilot.pause()
        text = await ana.until("You say too much at once.", "say: line")
        assert "ana: line 0" in text


async def test_a_line_may_be_left_for_the_board_and_taken_up_again(game: Game) -> None:
    async with game() as (ana, bo, _):
        await ana.press("tab", "h", "i", "tab", "5")
        assert (await bo.state(ply=1))["last"] == 4
        await ana.do("tab", "say: hi_")
        await ana.do("escape tab", "say: _")


async def test_in_a_narrow_window_a_line_is_shown_until_the_next_key(game: Game) -> None:
    async with game(size=(40, 12)) as (ana, bo, code):
        await bo.ask("chat", room=code, text="hello there")
        await ana.until("bo: hello there", gone="YOUR MOVE")
        await ana.do("left", "YOUR MOVE", gone="hello there")
        await bo.ask("chat", room=code, text="well then")
        await ana.until("bo: well then", gone="YOUR MOVE")
        await ana.do("ctrl+c", "Leave and lose this game?", gone="well then")


async def test_a_rematch_is_not_offered_to_an_empty_seat_and_n_says_what_it_opens(game: Game) -> None:
    async with game() as (ana, bo, code):
        await bo.ask("resign", room=code)
        await ana.until("r rematch  v review  n new private room  s save")
        await bo.ask("leave", room=code)
        await ana.until("v review  n new private room", "bo left.   n new private room", gone="r rematch")
        await ana.do("5", "The game is over. n new private room or Esc.")


async def test_a_quick_match_goes_on_to_a_new_opponent(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, Choice("match")) as ana, open_peer(server.url, "bo") as bo:
        await ana.until("Waiting for someone")
        code = (await bo.ask("match", rules="classic"))["room"]
        await ana.until("YOUR MOVE")
        await bo.ask("resign", room=code)
        await ana.until("n new opponent")


async def test_no_time_that_has_passed_stays_in_the_talk(game: Game) -> None:
    async with game() as (ana, bo, _):
        await bo.socket.close()
        text = await ana.until("bo has dropped. Waiting for them: ", "(away)")
        assert text.count("Waiting for them") == 1
        assert text.count("bo has dropped.") == 2


async def test_a_key_with_alt_places_nothing(game: Game) -> None:
    from textual import events

    async with game() as (ana, bo, _):
        ana.app.screen.post_message(events.Key("alt+x", "x"))
        await ana.press("5")
        assert (await bo.state(ply=1))["last"] == 4
