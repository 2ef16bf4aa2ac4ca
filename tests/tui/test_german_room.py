"""A room of the full screen in German, from the invitation to the review of the game: nothing there is English."""

from __future__ import annotations

import pytest

from tests.peer import open_peer, two_playing
from tests.proxy import Proxy
from tests.tui.conftest import NEVER, OpenScreen, ScreenUser
from tests.tui.test_german_pages import english_on
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.keymap import Keymap
from tictactoe_server.server import Server

pytestmark = [pytest.mark.usefixtures("in_german", "as_in_1_0")]


async def see(user: ScreenUser, keys: str, *words: str) -> None:
    """Press keys, named with spaces between, see these words, and nothing in English."""
    text = await (user.do(keys, *words) if keys else user.until(*words))
    assert english_on(text.replace("tictactoe-client join", "")) == []


async def test_a_game_is_opened_played_looked_through_and_left(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, Choice("create")) as ana, open_peer(server.url, "bo") as bo:
        await see(ana, "", "Du wartest in deinem Raum", "Es fehlt noch jemand", "Esc abbrechen")
        code = ana.code
        await bo.ask("join", room=code)
        await see(ana, "", "ana – bo · Tic-Tac-Toe", "Du bist am Zug, X.", "1-9 setzen  Pfeile+Enter  Tab Chat", "(du)")
        await see(ana, "?", "Jede Seite setzt", "Spalte B, Zeile 2")
        await see(ana, "escape tab", "sag: _", "Enter sagen  Esc zurück zum Brett")
        await see(ana, "escape : z u", "Tab zurück")
        await see(ana, "escape ctrl+y", "Niemand hat dir Remis angeboten.")
        await bo.ask("draw", room=code, action="offer")
        await see(ana, "", "bo bietet Remis an.   Strg+Y annehmen   Strg+N ablehnen")
        await see(ana, "ctrl+n", "Du lehnst das Remis ab.")
        ana.app.pages[-1].model.quiet_until = 0.0
        for ply, cell in enumerate((0, 3, 1, 8, 2)):
            if ply % 2:
                await see(ana, "", "bo ist am Zug.")
                await bo.ask("move", room=code, cell=cell, ply=ply)
            else:
                await see(ana, "", "Du bist am Zug")
                await ana.press(str(cell + 1))
                await bo.state(ply=ply + 1)
        await see(ana, "", "Du gewinnst. X hat drei in Zeile 1. (5 Züge", "r noch einmal  v Analyse", "Esc Startseite")
        await see(ana, "", "Wert ▅▅████", "Zug 2: O spielte A2")
        await see(ana, "enter", "Die Partie ist zu Ende.")
        await see(
            ana,
            "v left left left",
            "am besten B2",
            "Besser so: B2, ",
            "v Werte verbergen",
            "Zug 1 von 5",
        )
        await see(ana, "escape", "Du gewinnst.")
        await bo.ask("rematch", room=code)
        await see(ana, "", "bo möchte eine Revanche.   r Revanche annehmen")
        await see(ana, "r", "Partie 2. bo 0, ana 1")
        await see(ana, "escape", "verlieren?   Enter verlassen   Esc weiterspielen")
        await see(ana, "j", "Du spielst als")


async def test_a_lost_connection_and_those_who_look_on_are_told_of(
    proxy: Proxy, server: Server, open_screen: OpenScreen
) -> None:
    async with two_playing(server) as (*_, code), open_screen(proxy.url, Choice("watch", code=code)) as wat:
        await see(wat, "", "du schaust zu  ana – bo · Tic-Tac-Toe", "1 Zuschauer   Zug 0 von 0", "ana ist am Zug.")
        await see(wat, "5", "Du schaust zu")
        await see(wat, "v", "Was Züge wert sind")
    async with open_screen(proxy.url, Choice("create"), backoff=NEVER) as ana:
        await ana.until("Es fehlt noch jemand")
        proxy.cut()
        await see(ana, "", "Keine Verbindung.", "r jetzt versuchen  Esc verlassen", "offline")


def test_a_yes_has_the_letter_of_the_language() -> None:
    assert Keymap().find("j", "j", ["confirm"]) == "confirm"
    assert Keymap().find("y", "y", ["confirm"]) == ""
    assert Keymap({"confirm": ("f3",)}).find("j", "j", ["confirm"]) == ""
