import json
import re
import shutil
import subprocess
from pathlib import Path

from playwright.async_api import Page, expect

import tictactoe_words
from tests.environment import environment
from tests.faults.harness import COMMAND, Harness
from tests.page.conftest import SERVER_GOES, Visit
from tests.page.test_play import address
from tests.page.test_wall import CLOCK
from tests.peer import Peer, open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_words.catalogue import open_catalogue
from tools.catalogue import find_faults

GERMAN, ENGLISH = open_catalogue("de"), open_catalogue("en")
FRENCH = {
    "language": "Français",
    "count move": {"one": "{n} coup", "other": "{n} coups"},
    "page home title": "On joue à quoi ?",
    "setting language": "Langue",
    "usage": "Usage :",
}
LETTERS = re.compile(r"[^\W\d_]{2,}")
PARTS = re.compile(r"\{\w+\}")


def forms(sentence: str | dict[str, str]) -> list[str]:
    return [sentence] if isinstance(sentence, str) else list(sentence.values())


def spoken(text: str) -> str:
    """Return a text without names, codes, numbers and addresses, which are the same in every language."""
    return re.sub(r"https?://\S+|[2-9A-Z]{6}\b|\bguest-\w+|[\d.:]+", " ", text)


async def all_words(page: Page) -> list[str]:
    """Return every text of a page, including texts for screen readers."""
    found: list[str] = await page.evaluate("""() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const found = [document.title];
        while (walker.nextNode()) found.push(walker.currentNode.data);
        for (const one of document.querySelectorAll('[aria-label], [placeholder], [title], [alt]'))
            for (const name of ['aria-label', 'placeholder', 'title', 'alt']) found.push(one.getAttribute(name) ?? '');
        return found;
    }""")
    return [text.strip() for text in found if LETTERS.search(text)]


def english_in(texts: list[str]) -> list[str]:
    """Return the English sentences among these texts that have a German translation, and texts in no catalogue."""
    known = {form for sentence in GERMAN.sentences.values() for form in forms(sentence)}
    german = {word.lower() for form in known for word in LETTERS.findall(PARTS.sub(" ", form))}
    same = german | {"tictactoe", "client", "join", "deutsch", "english", "ana", "bo", "eve", "xo"}
    return [text for text in texts if set(map(str.lower, LETTERS.findall(spoken(text)))) - same]


async def test_a_german_browser_sees_no_english_outside_a_room(server: Server, visit: Visit) -> None:
    own_game = {"rows": 5, "columns": 6, "line": 4, "blocked": [3]}
    async with (
        two_playing(server, rules="gomoku", clock=CLOCK) as (ana, bo, room),
        two_playing(server, rules=own_game, clock=CLOCK),
        open_peer(server.url, "eve") as eve,
    ):
        await play_out({"X": ana, "O": bo}, room, [0, 1])
        await eve.ask("create", rules="connect-four", analysis="open", chat="players", clock={"move_ms": 9000})
        hans = await visit(address(server), language="de-DE", may_fail="404")
        page = hans.page
        await expect(page.locator(".live-boards li")).to_have_count(2)
        await expect(page.locator(".rooms li")).to_have_count(3)
        await expect(page.locator("html")).to_have_attribute("lang", "de")
        found = {"home": english_in(await all_words(page))}
        await hans.open_dialog("Regeln")
        found["rules"] = english_in(await all_words(page))
        await hans.close_dialog()
        for path in ("/", "/#games", "/wall", "/spieler"):
            await page.goto("about:blank")
            await page.goto(address(server, path))
            await hans.connects()
            await expect(page.locator("h1")).to_have_count(1)
            if path == "/wall":
                await expect(page.locator(".live-boards li")).to_have_count(2)
            found[path] = english_in(await all_words(page))
        assert {path: texts for path, texts in found.items() if texts} == {}


async def test_a_language_is_chosen_and_remembered(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await expect(ana.page.locator("html")).to_have_attribute("lang", "en")
    await ana.page.get_by_role("combobox", name="Language").select_option("de")
    await expect(ana.button("Gegner finden")).to_be_visible()
    await ana.page.goto(address(server, "/wall"))
    await expect(ana.page.locator("html")).to_have_attribute("lang", "de")
    await expect(ana.page).to_have_title("Alle Partien")
    await ana.page.get_by_role("combobox", name="Sprache").select_option("en")
    await expect(ana.page).to_have_title("Watch wall")


async def test_a_further_language_is_one_file_for_terminal_and_page(tmp_path: Path, visit: Visit) -> None:
    package = shutil.copytree(Path(tictactoe_words.__file__).parent, tmp_path / "tictactoe_words")
    assert find_faults("fr", package / "catalogue")
    (package / "catalogue" / "fr.json").write_text(json.dumps(ENGLISH.sentences | FRENCH), encoding="utf-8")
    assert find_faults("fr", package / "catalogue") == []
    copy = ("env", f"PYTHONPATH={tmp_path}")

    def read(words: str, **variables: str) -> str:
        command = (*copy, "tictactoe-client", *words.split())
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment(**variables)).stdout

    assert read("rooms --help", LANG="fr_FR.UTF-8").startswith("Usage : tictactoe-client rooms")
    told = read("--language fr --help")
    assert told.startswith("Usage : tictactoe-client")
    assert "en, de, fr" in told
    typed = {"_TICTACTOE_CLIENT_COMPLETE": "fish_complete", "COMP_WORDS": "tictactoe-client rooms --language"}
    assert read("", **typed, COMP_CWORD="f") == "plain,fr\n"
    async with Harness(tmp_path / "data", command=(*copy, *COMMAND)) as server:
        marie = await visit(
            server.url.replace("ws", "http", 1), language="fr-CA", may_fail=SERVER_GOES
        )  # as the server ends
        await expect(marie.page.locator("html")).to_have_attribute("lang", "fr")
        await expect(marie.page.locator("h1")).to_have_text("On joue à quoi ?")
        choice = marie.page.get_by_role("combobox", name="Langue")
        await expect(choice.locator("option")).to_have_text(["English", "Deutsch", "Français"])
        await choice.select_option("de")
        await expect(marie.page.get_by_role("combobox", name="Sprache")).to_have_value("de")
        await marie.page.wait_for_load_state("networkidle")  # before the server ends


async def test_a_german_browser_sees_no_english_in_a_room(server: Server, visit: Visit, bo: Peer) -> None:
    room = (await bo.ask("create", seat="O", clock=CLOCK))["room"]
    hans = await visit(address(server, f"/{room}"), language="de-DE")
    seen: dict[str, list[str]] = {}

    async def look(moment: str) -> None:
        seen[moment] = english_in(await all_words(hans.page))

    await expect(hans.page.locator(".door")).to_be_visible()
    await look("door")
    await hans.page.get_by_label("Dein Name").fill("ana")
    await hans.button("Als X mitspielen").click()
    await hans.play(0)
    await bo.ask("move", room=room, cell=3, ply=1)
    await bo.ask("draw", room=room, action="offer")
    await expect(hans.button("Annehmen")).to_be_visible()
    await look("draw offered")
    await hans.button("Ablehnen").click()
    assert await hans.confirm(hans.button("Aufgeben"), agrees=False) == "Aufgeben?"
    await hans.play(1)
    await hans.cell(0).click()
    await expect(hans.page.locator(".bubble")).not_to_be_empty()
    await look("refusal")
    await bo.ask("move", room=room, cell=4, ply=3)
    await hans.play(2)
    await expect(hans.page.locator("p.turn")).to_have_text("Du gewinnst! X hat drei in Zeile 1.")
    await look("end")
    await hans.choose("Analyse")
    await expect(hans.page.locator(".turned")).to_be_visible()
    await hans.button("Nächster Fehler").click()
    await look("review")
    await hans.page.keyboard.press("?")
    await expect(hans.page.get_by_role("dialog", name="Tasten")).to_be_visible()
    await look("keys")
    await hans.button("Schließen").click()
    await hans.button("Noch einmal").click()
    await hans.hears("Revanche")
    await look("rematch asked")
    assert {moment: texts for moment, texts in seen.items() if texts} == {}
