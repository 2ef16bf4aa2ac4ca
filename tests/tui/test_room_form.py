"""The lines of a new room's form, and the room that they describe, without any screen."""

from __future__ import annotations

import pytest

from tictactoe_client.settings import Misuse
from tictactoe_client.tui.room_form import RoomForm
from tictactoe_engine import PRESETS


def go_to(form: RoomForm, name: str) -> None:
    """Choose a line by its name."""
    form.choose([field.name for field in form.fields].index(name))


def value_of(form: RoomForm, name: str) -> str:
    """Return what stands on a line."""
    return next(field.value for field in form.fields if field.name == name)


@pytest.mark.parametrize("name", PRESETS)
def test_a_game_with_a_name_fills_in_the_lines_and_is_what_they_say(name: str) -> None:
    form = RoomForm(alone=False)
    while value_of(form, "game") != name:
        form.change(1)
    assert form.read().rules == PRESETS[name]


def test_a_game_whose_lines_are_changed_is_a_custom_one_until_they_are_put_back() -> None:
    form = RoomForm(alone=False)
    go_to(form, "board")
    form.press("4")
    assert value_of(form, "game") == "custom"
    assert form.is_edited
    form.put_back()
    assert (value_of(form, "board"), value_of(form, "game"), form.is_edited) == ("3x3", "classic", False)


def test_a_line_that_makes_no_sense_is_refused_in_the_words_of_the_form() -> None:
    form = RoomForm(alone=False)
    go_to(form, "win")
    form.press("9")
    with pytest.raises(Misuse, match=r"^In a row: 9"):
        form.read()


def test_a_room_for_lessons_and_one_in_which_watchers_only_read_are_chosen() -> None:
    form = RoomForm(alone=False)
    for name in ("analysis", "chat"):
        go_to(form, name)
        form.change(1)
    choice = form.read()
    assert (choice.analysis, choice.chat) == ("open", "players")
    assert form.describe(choice)[0].endswith("The room is public, analysis open, chat for players.")


def test_a_room_of_one_who_is_alone_is_private_and_has_the_computer_in_it() -> None:
    form = RoomForm(alone=True)
    choice = form.read()
    assert (choice.private, choice.bots) == (True, ("medium",))
    assert form.describe(choice) == ("3 by 3, 3 in a row; no clock.", "3 by 3, 3 in a row.")
