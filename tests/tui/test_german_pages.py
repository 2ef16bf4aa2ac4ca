"""In German no page shows an English sentence that has a translation, no matter when the sentence was looked up."""

import re

import pytest

from tests.end_to_end.test_past_games import played
from tests.peer import open_peer, play_out, two_playing
from tests.tui.conftest import AtHome, OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.keymap import Keymap
from tictactoe_server.server import Server
from tictactoe_words.catalogue import open_catalogue

pytestmark = pytest.mark.usefixtures("in_german")
LEAST_LETTERS = 4
"""Shorter sentences may be parts of other words."""


def english_on(text: str) -> list[str]:
    """Return the English sentences in a text, except German ones with the same words."""
    german = [said for said in open_catalogue("de").sentences.values() if isinstance(said, str)]
    words = " ".join(text.split())
    found = []
    for said in open_catalogue("en").sentences.values():
        if isinstance(said, str) and "{" not in said and len(said) >= LEAST_LETTERS:
            is_there = re.search(rf"(?<![\w-]){re.escape(said)}(?![\w-])", words) is not None
            if is_there and not any(said in other for other in german):
                found.append(said)
    return found


async def test_pages_outside_rooms_are_fully_translated(server: Server, at_home: AtHome) -> None:
    async with played(server, games=2), open_peer(server.url, "zoe") as zoe, at_home(size=(120, 40)) as ana:
        code = (await zoe.ask("create", rules="connect-four"))["room"]
        assert english_on(await ana.until(code, "Wartende Räume (1)", "ohne Uhr")) == []
        for keys, title in (
            ("n", "Wie heißt du?"),
            ("escape ?", "Hilfe"),
            ("escape t", "Farbschema: Nacht"),
            ("s", "Einstellungen"),
            ("escape escape", "Das ist die erste Seite."),
            ("d enter", "2 gewonnen, 0 verloren"),
            ("escape z z enter", "Private Partien stehen nicht hier"),
            ("escape up up enter", "Code oder Link"),
        ):
            assert english_on(await ana.do(keys, title)) == [], keys


async def test_rooms_are_fully_translated(server: Server, open_screen: OpenScreen) -> None:
    async with (
        two_playing(server, analysis="open") as (ana, bo, code),
        open_screen(server.url, Choice("watch", code=code)) as wat,
    ):
        assert english_on(await wat.until("du schaust zu", "ana ist am Zug.")) == []
        assert english_on(await wat.do("v", "Remis bei bestem Spiel")) == []
        await play_out({"X": ana, "O": bo}, code, [0, 4])
        await ana.ask("resign", room=code)
        await bo.ask("rematch", room=code)
        assert english_on(await wat.until("bo gewinnt", "möchte eine Revanche")) == []


async def test_settings_show_their_values_in_german(open_screen: OpenScreen) -> None:
    async with open_screen("ws://127.0.0.1:1", theme="paper") as ana:
        assert english_on(await ana.until("Läuft der Server?", "versucht es noch einmal")) == []
        await ana.do("s", "Papier ", "abwesend ", "Telefon ", "Zeile, Spalte ", gone="…")


async def test_german_is_written_in_ascii_as_soon_as_that_is_asked_for(open_screen: OpenScreen) -> None:
    async with open_screen("ws://127.0.0.1:1", language="de") as ana:
        await ana.until("Läuft der Server?")
        await ana.do("s down down", "Klicks bestätigen")
        assert (await ana.do("right", "Klicks bestaetigen", "Nur ASCII          ja", gone="›")).isascii()
        assert (await ana.do("escape", "Laeuft der Server?")).isascii()


def test_a_yes_has_the_letter_of_the_language() -> None:
    assert Keymap().find("j", "j", ["confirm"]) == "confirm"
    assert Keymap().find("y", "y", ["confirm"]) == ""
    assert Keymap({"confirm": ("f3",)}).find("j", "j", ["confirm"]) == ""
