"""Each page outside the room in German: none of the English sentences stands there that German says otherwise."""

from __future__ import annotations

import re

import pytest

from tests.peer import open_peer, two_playing
from tests.tui.conftest import AtHome, OpenScreen
from tests.tui.test_history_page import played
from tictactoe_protocol.catalogue import open_catalogue
from tictactoe_server.server import Server

pytestmark = [pytest.mark.usefixtures("in_german", "as_in_1_0")]
LEAST_LETTERS = 4
"""Shorter sentences may be parts of other words."""


def english_on(text: str) -> list[str]:
    """Return the sentences without places of the English catalogue that stand in a text and not in the German one."""
    german = [said for said in open_catalogue("de").sentences.values() if isinstance(said, str)]
    words = " ".join(text.split())
    found = []
    for said in open_catalogue("en").sentences.values():
        if isinstance(said, str) and "{" not in said and len(said) >= LEAST_LETTERS:
            is_there = re.search(rf"(?<![\w-]){re.escape(said)}(?![\w-])", words) is not None
            if is_there and not any(said in other for other in german):
                found.append(said)
    return found


@pytest.mark.parametrize(
    ("keys", "title"),
    [
        ("", "Schnelle Partie"),
        ("down", "Gegen den Computer"),
        ("down down", "Neuer Raum"),
        ("down down enter", "Neuer Raum"),
        ("down down enter end right", "Sperrfelder"),
        ("down down enter end right down x", "ist kein Brett"),
        ("down down enter ?", "Die Zeilen"),
        ("down down enter space", "Vier gewinnt"),
        ("down down down enter", "Code oder Link des Raums"),
        ("down down down down enter", "Private Partien stehen nicht hier"),
        ("up enter", "noch keine Partie beendet"),
        ("s", "Einstellungen"),
        ("n", "Dein Name:"),
        ("?", "Hilfe"),
        ("t", "Farbschema: Nacht"),
        ("escape", "Das ist die erste Seite."),
    ],
)
async def test_a_page_says_nothing_in_english(at_home: AtHome, keys: str, title: str) -> None:
    async with at_home(size=(120, 40)) as ana:
        text = await ana.do(keys, title) if keys else await ana.until(title)
    assert english_on(text) == []


async def test_the_lists_say_nothing_in_english(server: Server, at_home: AtHome) -> None:
    async with two_playing(server), open_peer(server.url, "zoe") as zoe, played(server, games=2), at_home() as ana:
        code = (await zoe.ask("create", rules="connect-four"))["room"]
        assert english_on(await ana.until(code, "Wartende Räume (1)", "ohne Uhr")) == []
        assert english_on(await ana.do("z enter", "1 live", "Züge")) == []
        await ana.press("escape", "d")
        assert english_on(await ana.do("enter", "2 gewonnen, 0 verloren")) == []


async def test_without_a_server_nothing_is_said_in_english(open_screen: OpenScreen) -> None:
    async with open_screen("ws://127.0.0.1:1") as ana:
        assert english_on(await ana.until("Läuft der Server?", "versucht es noch einmal")) == []


async def test_settings_show_their_values_in_german(open_screen: OpenScreen) -> None:
    async with open_screen("ws://127.0.0.1:1", theme="paper") as ana:
        await ana.until("Läuft der Server?")
        await ana.do("s", "Papier ", "abwesend ", "Telefon ", "Zeile, Spalte ", gone="…")


async def test_german_is_written_in_ascii_as_soon_as_that_is_asked_for(open_screen: OpenScreen) -> None:
    async with open_screen("ws://127.0.0.1:1", language="de") as ana:
        await ana.until("Läuft der Server?")
        await ana.do("s down down", "bestätigen")
        assert (await ana.do("right", "bestaetigen", "Nur ASCII          ja", gone="›")).isascii()
        assert (await ana.do("escape", "Laeuft der Server?")).isascii()
