from __future__ import annotations

import pytest

from tictactoe_client.settings import Misuse
from tictactoe_client.tui.new_room import describe_room, list_lines, read_room, values_of
from tictactoe_engine import PRESETS

FORM = {name: line.value for name, line in list_lines(alone=False).items()}


@pytest.mark.parametrize("name", PRESETS)
def test_a_game_with_a_name_fills_in_the_lines_and_is_what_they_say(name: str) -> None:
    assert read_room({**FORM, **values_of(PRESETS[name])}).rules == PRESETS[name]


def test_a_line_that_makes_no_sense_is_refused_in_the_words_of_the_form() -> None:
    for line, value, told in (
        ("win", "9", "A line of 9"),
        ("blocked", "z9", "Blocked: "),
        ("seat", "Q", "Your mark Q"),
    ):
        with pytest.raises(Misuse, match=f"^{told}"):
            read_room({**FORM, line: value})


def test_a_room_for_lessons_and_one_in_which_watchers_only_read_are_chosen() -> None:
    wish = read_room({**FORM, "analysis": "open", "chat": "players"})
    assert (wish.analysis, wish.chat) == ("open", "players")
    assert describe_room(wish, alone=False).endswith("The room is public, analysis open, chat for players.")


def test_a_room_of_one_who_is_alone_is_private_and_has_the_computer_in_it() -> None:
    wish = read_room({name: line.value for name, line in list_lines(alone=True).items()})
    assert (wish.private, wish.bots) == (True, ("medium",))
    assert describe_room(wish, alone=True) == "3 by 3, 3 in a row; no clock."
