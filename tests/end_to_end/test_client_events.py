import json
import re
from pathlib import Path

import pytest

from tests.end_to_end.clients import complaint, outcome, run_client
from tests.events import begin_event, open_event
from tests.peer import open_peer
from tictactoe_server.server import Server


async def run(*arguments: str, **variables: str) -> str:
    """Return the output of a command that succeeds."""
    return (await outcome(*arguments, code=0, **variables)).output


@pytest.mark.parametrize("language", ["en", "de"])
async def test_the_command_opens_an_event_and_prints_its_cards(server: Server, tmp_path: Path, language: str) -> None:
    roster = tmp_path / "class.txt"
    roster.write_text("Vorname;Name\n\nAna;X\nBo ;Y\nZoë;Z\n", encoding="cp1252")
    there = ("--server", server.url, "--language", language)
    said = await run("event", "new", "--title", "Class 5b", "--roster", str(roster), *there)
    code = re.findall(r"\b[A-Z0-9]{6}\b", said)[0]
    cards = dict(re.findall(rf"^(Ana|Bo|Zoë): http://\S+/e/{code}#(\S+)$", said, re.MULTILINE))
    assert list(cards) == ["Ana", "Bo", "Zoë"]
    assert await run("event", code, "cards", *there) == "\n".join(said.splitlines()[2:5])
    assert "/e/" in await run("event", code, "add", "Cy", *there)
    card, phone = f"{server.url}/e/{code}#{cards['Zoë']}", str(tmp_path)
    async with run_client("event", card, "--plain", "--language", language, XDG_STATE_HOME=phone) as zoe:
        await zoe.until("Class 5b: ")
        await zoe.ask("table" if language == "en" else "tabelle", "    ", "1.  Zoë")
        await zoe.ask("away", "You are taking a break" if language == "en" else "Du pausierst")
        await zoe.ask("ready", "You are in as Zoë" if language == "en" else "Du bist als Zoë dabei")
        unknown = 'I don\'t know "begn". Type table,' if language == "en" else "„begn“ kenne ich nicht. Tippe tabelle,"
        assert not re.search("begin|beginnen", await zoe.ask("begn", unknown))
        await zoe.ask("quit" if language == "en" else "ende", "Goodbye" if language == "en" else "Bis bald")


async def test_the_code_of_an_event_leads_there_by_every_command(server: Server) -> None:
    page = server.url.replace("ws", "http")
    async with open_peer(server.url, "org") as org:
        code = await open_event(org)
        for command in ("join", "watch"):
            for named in (code, f"{page}/e/{code}"):
                async with run_client(command, named, "--plain", "-s", server.url) as ana:
                    await ana.until("Friday: round robin")
                    await ana.ask("quit", "Goodbye.")
            async with run_client(command, code, "--json", "-s", server.url) as script:
                assert (await script.message(type="event"))["event"] == code
        for named, card in ((code, ""), (f"{page}/e/{code}#ana-1", "#ana-1")):
            assert await run("open", named, "-s", server.url, BROWSER="true") == f"{page}/e/{code}{card}"
        assert "There is no room ZZZZZZ" in await complaint("join", "ZZZZZZ", "--plain", "-s", server.url, code=5)


async def test_json_mode_passes_messages_on_and_fills_in_defaults(server: Server) -> None:
    async with run_client("event", "new", "--bot", "random", "--json", "--server", server.url) as org:
        code = (await org.message(type="ok"))["event"]
        assert await org.end() == 0
    async with (
        open_peer(server.url, "org") as organiser,
        run_client("event", await open_event(organiser, bots=["random"]), "--json", "--server", server.url) as ana,
    ):
        assert (await ana.message(type="welcome"))["token"] == "…"
        assert (await ana.message(type="event"))["status"] == "open"
        ana.send(type="event_join", name="Ana")
        await ana.message(type="ok", id="line-1")
        event = (await ana.message(type="event"))["event"]
        await begin_event(organiser, event, 2)
        call = await ana.message(type="call")
        ana.send(type="join", room=call["room"])
        await ana.message(type="room", status="playing")
        ana.send(type="resign")
        assert (await ana.message(type="room", status="over"))["event"] == event
        ana.end_input()
        assert await ana.end() == 0
        assert json.loads(ana.lines[-1]) == {"from": "client", "type": "closed", "exit": 0}
        assert code != event
