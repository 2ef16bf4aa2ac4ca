import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.peer import Message, Peer, open_peer
from tests.tui.conftest import AtHome, OpenScreen, ScreenUser
from tictactoe_client.input.rule_options import describe_room, read_room, values_of
from tictactoe_client.input.ways import Choice
from tictactoe_client.settings import Misuse
from tictactoe_client.tui.new_room import list_lines
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server


@contextlib.asynccontextmanager
async def at_form(at_home: AtHome, line: str, **options: Any) -> AsyncIterator[ScreenUser]:
    async with at_home(**options) as ana:
        await ana.do("down down enter", "> Game")
        await ana.do("end right", "> More", "yes")
        while f"> {line}" not in ana.text:
            await ana.press("down")
        yield ana


async def test_space_lists_the_values_of_a_line(at_home: AtHome) -> None:
    async with at_form(at_home, "Game") as ana:
        await ana.do("space", "│> Tic-tac-toe", "Connect four")
        await ana.do("end up up up enter", "> Game               Gomoku", "15 by 15, 5 in a row")
        await ana.do("?", "Rows x columns, up to 32x32.")
        await ana.do("escape", "> Game               Gomoku", "15 by 15, 5 in a row")


async def test_clock_and_visibility_are_described(at_home: AtHome) -> None:
    async with at_form(at_home, "Clock") as ana:
        await ana.until("3 by 3, 3 in a row; no clock. The room is private.", "and days in reserve).")
        await ana.type("3+2", "3 by 3, 3 in a row; 3 min each + 2 s a move. The room is private.")
        await ana.do("enter", "Waiting for another player", "3 min each + 2 s a move; private.", "Code   ")


@pytest.mark.parametrize("line", ["Game", "Board"])
async def test_every_line_of_the_form_has_help_and_takes_no_question_mark(at_home: AtHome, line: str) -> None:
    async with at_form(at_home, line) as ana:
        before = await ana.until("? help")
        for key in ("?", "f1"):
            await ana.do(key, "Rows x columns, up to 32x32.")
            await ana.do("escape", f"> {line}")
            assert ana.text == before


async def test_the_computer_sits_in_at_the_same_game(bots: Server, open_screen: OpenScreen) -> None:
    clock = ClockFields(initial_ms=180_000, increment_ms=2_000)
    choice = Choice("create", Rules(5, 5, 4, "XOA"), clock, private=True, seat="O")
    async with open_screen(bots.url, choice) as ana, open_peer(bots.url) as wat:
        await ana.until("Waiting for")
        before = ana.code
        old = await look_at(wat, before)
        text = await ana.do("b", "You now play the computer", "medium-bot", "3:0", gone=before)
        (code,) = re.findall(r"You now play the computer in room (\w{6})", text)
        new = await look_at(wat, code)
        for field in ("rules", "visibility", "time_control"):
            assert new[field] == old[field]
        assert [new["seats"][mark]["name"] for mark in old["seats"] if old["seats"][mark]] == ["ana"]
        assert code != before


async def look_at(peer: Peer, code: str) -> Message:
    await peer.send("watch", room=code)
    return await peer.state(room=code)


FORM = {name: line.value for name, line in list_lines(alone=False).items()}


@pytest.mark.parametrize("name", PRESETS)
def test_a_named_game_fills_in_the_form(name: str) -> None:
    assert read_room({**FORM, **values_of(PRESETS[name])}).rules == PRESETS[name]


def test_a_line_that_makes_no_sense_is_refused_in_the_words_of_the_form() -> None:
    for line, value, told in (("win", "9", "A line of 9"), ("win", "x", '"x" is not a number of marks')):
        with pytest.raises(Misuse, match=f"^{told}"):
            read_room({**FORM, line: value})


def test_a_room_for_lessons_and_one_in_which_watchers_only_read_are_chosen() -> None:
    wish = read_room({**FORM, "analysis": True, "chat": True})
    assert (wish.analysis, wish.chat) == ("open", "players")
    assert describe_room(wish, alone=False).endswith("The room is private, analysis open, players-only chat.")


def test_a_room_on_a_local_server_is_private_with_a_bot() -> None:
    wish = read_room({name: line.value for name, line in list_lines(alone=True).items()})
    assert (wish.private, wish.bots) == (True, ("medium",))
    assert describe_room(wish, alone=True) == "3 by 3, 3 in a row; no clock."
