"""A whole sitting in plain mode, as both players read and type it: two programs, one server, one lost connection.

The two texts stand in `transcripts/`, each line of them compared; `UPDATE_PICTURES=1` writes them anew. What
`docs/client.md` shows of plain mode is cut from them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.end_to_end.clients import ClientProcess, run_client
from tests.proxy import Proxy
from tictactoe_server.server import Server

HERE = Path(__file__).parent / "transcripts"
PAGE = Path(__file__).parents[2] / "docs" / "client.md"


class Sitting:
    """One player's program, and a transcript of all that was printed and typed."""

    def __init__(self, client: ClientProcess) -> None:
        self.client = client
        self.hear = client.until

    async def ask(self, line: str, *answers: str) -> None:
        """Type a line and read up to the last line of its answer."""
        self.client.lines.append(f"> {line}")
        await self.client.ask(line, *answers)

    def text(self, url: str, code: str) -> str:
        """Return the transcript without what differs from run to run."""
        place = url.removeprefix("ws://")
        text = "\n".join(self.client.lines).replace(place, "localhost:8765").replace(code, "K7M4PQ")
        text = re.sub(r"Connected, \d+ ms", "Connected, 1 ms", text)
        text = re.sub(r"Verbunden, \d+ ms", "Verbunden, 1 ms", text)
        text = re.sub(r"after \d+ seconds?", "after 4 seconds", text)
        text = re.sub(r"Nach \d+ Sekunden?", "Nach 4 Sekunden", text)
        return re.sub(r"\b\d:\d\d\b", "1:00", text) + "\n"


Play = Callable[[Sitting, Sitting, Proxy], Awaitable[None]]


async def play_in_english(ana: Sitting, bo: Sitting, proxy: Proxy) -> None:
    """Play two games with everything that may happen in them."""
    await bo.hear("X's move.")
    await ana.hear("Your move, X.")
    await ana.ask("b2", "You play B2, centre.")
    await bo.hear("Your move, O.")

    await bo.ask("draw", "You offer a draw.")
    await ana.hear("Type yes to accept, no to refuse.")
    await ana.ask("no", "You decline the draw.")
    await bo.hear("ana declines the draw.")
    await bo.ask("b2", "B2 is taken by X.")
    await bo.ask("1", "You play A1, top left.")
    await ana.hear("Your move, X.")
    await ana.ask("draw", "You offer a draw.")
    await bo.hear("Type yes to accept, no to refuse.")
    await ana.ask("draw withdraw", "You withdraw the draw offer.")
    await bo.hear("ana withdraws the draw offer.")
    await bo.ask("yes", "Nothing was asked. It's ana's move.")

    await ana.ask("b1", "You play B1, top centre.")
    await bo.hear("Your move, O.")
    await ana.ask("undo", "You ask to take back B1.")
    await bo.hear("Type yes to let them")
    await bo.ask("yes", "ana takes back B1.", "X's move.")
    await ana.hear("You take back B1.", "Your move, X.")
    await ana.ask("chat thank you", "ana: thank you")
    await bo.hear("ana: thank you")
    await ana.ask("c1", "You play C1, top right.")
    await bo.hear("Your move, O.")

    proxy.lose()
    await ana.hear("Connection lost.")
    await bo.hear("ana has dropped.")
    await bo.ask("a3", "You play A3, bottom left.")
    proxy.is_closed = False
    await ana.hear("Connected again", "bo plays A3", "Your move, X.")
    await bo.hear("ana is back.")

    await ana.ask("s 2", "Row 2: A empty, B X, C empty.")
    await ana.ask("4", "You play A2, middle left.")
    await bo.hear("Your move, O.")
    await bo.ask("l", "Last: ana played A2, middle left.")
    await bo.ask("s A", "Column A: 1 O, 2 X, 3 O.")
    await bo.ask("b3", "You play B3, bottom centre.")
    await ana.hear("Your move, X.")
    await ana.ask("c2", "You play C2. X has three in row 2. You win.", "Rematch?")
    await bo.hear("ana plays C2. X has three in row 2. You lose.", "Rematch?")

    await bo.ask("value 6", "O played B3:")
    await ana.ask("rematch", "You ask for a rematch.")
    await bo.hear("Type rematch or yes to accept.")
    await bo.ask("yes", "Game 2. You are X. ana is O.", "Your move, X.")
    await ana.hear("Game 2. You are O. bo is X.", "X's move.")
    await bo.ask("5", "You play B2, centre.")
    await ana.hear("Your move, O.")
    await ana.ask("1", "You play A1, top left.")
    await bo.hear("Your move, X.")
    await ana.ask("resign", "Resign? Type resign again")
    await ana.ask("resign", "You resign. You lose.", "Rematch?")
    await bo.hear("ana resigns. You win.", "Rematch?")
    await ana.ask("leave", "You left room")
    assert await ana.client.end() == 0
    await bo.hear("No rematch, then.")
    await bo.ask("leave", "You left room")
    assert await bo.client.end() == 0


async def play_in_german(ana: Sitting, bo: Sitting, proxy: Proxy) -> None:
    """Play two games by German words, and by a few English ones, which are understood as well."""
    await bo.hear("X ist am Zug.")
    await ana.hear("Du bist am Zug, X.")
    await ana.ask("hilfe", "Eine leere Zeile")
    await ana.ask("b2", "Du spielst B2, Mitte.")
    await bo.hear("Du bist am Zug, O.")
    await bo.ask("remis", "Du bietest Remis an.")
    await ana.hear("Tippe ja, um anzunehmen")
    await ana.ask("nein", "Du lehnst das Remis ab.")
    await bo.hear("ana lehnt das Remis ab.")
    await bo.ask("b2", "B2 ")
    await bo.ask("z9", "Z9 ")
    await bo.ask("aufgebn", "„aufgebn“ kenne ich nicht.")
    await bo.ask("1", "Du spielst A1, oben links.")
    await ana.hear("Du bist am Zug, X.")
    await ana.ask("remis", "Du bietest Remis an.")
    await bo.hear("Tippe ja, um anzunehmen")
    await ana.ask("remis zurückziehen", "Du ziehst dein Remisangebot zurück.")
    await bo.hear("ana zieht das Remisangebot zurück.")
    await bo.ask("ja", "Es wurde nichts gefragt.")
    await ana.ask("b1", "Du spielst B1, oben Mitte.")
    await bo.hear("Du bist am Zug, O.")
    await ana.ask("zurück", "Du bittest darum")
    await bo.hear("Tippe ja, um es zu erlauben")
    await bo.ask("yes", "ana nimmt B1 zurück.", "X ist am Zug.")
    await ana.hear("Du nimmst B1 zurück.", "Du bist am Zug, X.")
    await ana.ask("sag danke", "ana: danke")
    await bo.hear("ana: danke")
    await ana.ask("c1", "Du spielst C1, oben rechts.")
    await bo.hear("Du bist am Zug, O.")

    proxy.lose()
    await ana.hear("Verbindung verloren.")
    await bo.hear("Die Verbindung zu ana ist abgebrochen.")
    await ana.ask("remis", "Es gibt keine Verbindung: Tippe remis noch einmal")
    await bo.ask("a3", "Du spielst A3, unten links.")
    proxy.is_closed = False
    await ana.hear("Nach", "bo spielt A3", "Du bist am Zug, X.")
    await bo.hear("ana ist wieder da.")

    await ana.ask("lies 2", "Zeile 2: ")
    await ana.ask("brett", "3  O . .")
    await ana.ask("frei", "Frei: ")
    await ana.ask("wer", "Du bist X.")
    await ana.ask("4", "Du spielst A2, Mitte links.")
    await bo.hear("Du bist am Zug, O.")
    await bo.ask("letzter", "Zuletzt: ana hat A2, Mitte links gespielt.")
    await bo.ask("b3", "Du spielst B3, unten Mitte.")
    await ana.hear("Du bist am Zug, X.")
    await ana.ask("c2", "Du spielst C2. X hat drei in Zeile 2. Du gewinnst.", "Revanche?")
    await bo.hear("ana spielt C2. X hat drei in Zeile 2. Du verlierst.", "Revanche?")
    await bo.ask("wert 6", "O spielte B3")
    await bo.ask("fehler", "Zug 6")
    await ana.ask("revanche", "Du bittest um eine Revanche.")
    await bo.hear("Tippe revanche oder ja")
    await bo.ask("ja", "Partie 2. Du bist X. ana ist O.", "Du bist am Zug, X.")
    await ana.hear("Partie 2. Du bist O. bo ist X.", "X ist am Zug.")
    await bo.ask("5", "Du spielst B2, Mitte.")
    await ana.hear("Du bist am Zug, O.")
    await ana.ask("1", "Du spielst A1, oben links.")
    await bo.hear("Du bist am Zug, X.")
    await ana.ask("aufgeben", "Aufgeben?")
    await ana.ask("ja", "Du gibst auf. Du verlierst.", "Revanche?")
    await bo.hear("ana gibt auf. Du gewinnst.", "Revanche?")
    await ana.ask("gehen", "Du hast Raum")
    assert await ana.client.end() == 0
    await bo.hear("Also keine Revanche.")
    await bo.ask("gehen", "Du hast Raum")
    assert await bo.client.end() == 0


@pytest.mark.parametrize(
    ("play", "waiting", "suffix", "options"),
    [
        (play_in_english, "Waiting for another player.", "", []),
        (play_in_german, "Es fehlt noch jemand", "-de", ["--language", "de"]),
    ],
)
async def test_a_whole_sitting_reads_as_it_is_written_down(
    play: Play, waiting: str, suffix: str, options: list[str], server: Server, proxy: Proxy
) -> None:
    async with run_client("new", "-n", "ana", "-s", proxy.url, *options) as ana_client:
        code = (await ana_client.until("Code")).split()[1]
        await ana_client.until(waiting)
        async with run_client("join", code, "-n", "bo", "-s", server.url, *options) as bo_client:
            ana, bo = Sitting(ana_client), Sitting(bo_client)
            await play(ana, bo, proxy)
            compare(f"ana{suffix}", ana.text(proxy.url, code))
            compare(f"bo{suffix}", bo.text(server.url, code))


def compare(name: str, text: str) -> None:
    path = HERE / f"{name}.txt"
    if os.environ.get("UPDATE_PICTURES"):
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["ana", "bo", "home", "opening"])
def test_the_page_shows_parts_of_the_sitting_in_their_order(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition(f"<!-- transcript: {name};")[2].partition("```text\n")[2].partition("```")[0]
    assert shown
    real = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    for part in shown.split("...\n"):
        before, found, real = real.partition(part)
        assert found, part
        assert not before or before.endswith("\n")
