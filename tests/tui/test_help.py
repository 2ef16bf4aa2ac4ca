"""The help of home and of a room: of the keys of this board, by one's own names, and of nothing that is not there."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.tui.conftest import AtHome, Game
from tictactoe_client.settings import Settings
from tictactoe_client.text.help import list_room_help
from tictactoe_client.tui.keymap import Keymap
from tictactoe_engine import PRESETS, Keys, Rules
from tictactoe_protocol.catalogue import speak


def rows_of(
    rules: Rules = PRESETS["classic"], keymap: Keymap | None = None, *, plays: bool = True, **options: Any
) -> dict[str, str]:
    """Return what does what, whatever it is about."""
    settings, show = Settings(**options), (keymap or Keymap()).show
    return {does: keys for _, rows in list_room_help(rules, settings, show, plays=plays) for keys, does in rows}


def test_it_has_none_of_the_letters_that_would_place() -> None:
    assert rows_of()["the cell, at once"] == "1-9 (1 2 3 on top)"
    assert rows_of(keys=Keys.PAD)["the cell, at once"] == "1-9 (7 8 9 on top)"
    assert "qwe" not in " ".join(rows_of().values())
    letters = rows_of(keys=Keys.LETTERS)
    assert letters["the cell, at once"] == "q w e / a s d / z x c"
    assert letters["column B, row 2, and Enter"] == ":b2"


def test_it_names_ones_own_keys() -> None:
    told = rows_of(keymap=Keymap({"chat": ("f2",), "command": ("!",), "accept": ("f3",)}))
    assert (told["says it to all"], told["accepts"], told["gives up"]) == ("F2", "F3", "!resign")


async def test_in_a_room_it_lists_what_counts_at_the_moment(game: Game) -> None:
    async with game(size=(80, 50)) as (ana, *_):
        assert "plays again" not in await ana.do("?", "gives up", "offers a draw")
    async with game(size=(80, 50), moves=(0, 3), gives_up=True) as (ana, *_):
        assert "gives up" not in await ana.do("?", "plays again")


def test_larger_boards_take_a_cell_or_a_column() -> None:
    assert rows_of(PRESETS["gomoku"])["column B, row 2, and Enter"] == "b2"
    falling = rows_of(PRESETS["connect-four"])
    assert falling["drops into that column at once"] == "1-7"
    assert falling["the column, and Enter; the mark falls"] == "A to G"


def test_whoever_watches_is_told_of_no_moves_and_no_offers() -> None:
    told = rows_of(plays=False)
    assert not {"the cell, at once", "accepts", "gives up"} & told.keys()
    assert told["a move back"] == "←"


def test_without_other_signs_than_ascii_the_arrows_are_told_in_words() -> None:
    speak(in_ascii=True)
    assert rows_of(ascii=True)["a move back"] == "<-"


async def test_a_letter_that_places_nothing_says_how_names_are_typed(game: Game) -> None:
    async with game(keys=Keys.LETTERS) as (ana, bo, _):
        await ana.do("b", "Here a letter places: qwe/asd/zxc. For a name such as b3: :b3")
        await ana.do("?", "q w e / a s d / z x c", ":b2")
        await ana.press("escape")
        await ana.press(":", "b", "3", "enter")
        assert (await bo.state(ply=1))["last"] == 7


@pytest.mark.parametrize("width", [30, 80])
async def test_no_line_of_it_is_cut_and_what_a_key_does_stands_beside_it(at_home: AtHome, width: int) -> None:
    async with at_home(size=(width, 40)) as ana:
        text = await ana.do("?", "Everywhere")
        while "--help" not in ana.text:
            await ana.press("pagedown")
            text += ana.text
    assert "…" not in text
    assert re.search(r"  Ctrl\+Q +ends the program", text)


@pytest.mark.parametrize("size", [(36, 10), (80, 24)])
async def test_it_scrolls_and_goes_back(at_home: AtHome, size: tuple[int, int]) -> None:
    async with at_home(size=size) as ana:
        await ana.do("?", "Help", "Everywhere", "Esc back")
        while "--help" not in ana.text:
            await ana.press("pagedown")
        await ana.do("?", "Playing as")
