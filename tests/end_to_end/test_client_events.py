import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.client.tournaments import EVENT, event, with_card_in_use
from tests.end_to_end.clients import COMMAND, ClientProcess, complaint, run_client
from tests.faults.hostile_server import hostile_server
from tests.peer import Peer, open_peer
from tests.terminal import run_screen
from tictactoe_protocol.events import EventJoin
from tictactoe_server.server import Server

CLOCK = {"initial_ms": 60_000, "increment_ms": 0}


def at(home: Path | None) -> dict[str, Any]:
    return {} if home is None else {"XDG_STATE_HOME": str(home)}


async def run(*arguments: str, code: int = 0, home: Path | None = None, **more: Any) -> str:
    """Return the output of a command with this exit code and home folder."""
    async with run_client(*arguments, **at(home), **more) as client:
        assert await client.end() == code, await client.errors()
        return "\n".join(client.lines)


async def open_event(organiser: Peer, *bots: str, **more: object) -> str:
    terms = {"kind": "round_robin", "title": "Friday", "clock": CLOCK, "bots": bots} | more
    return str((await organiser.ask("event_open", **terms))["event"])


async def begin(organiser: Peer, event: str, players: int) -> None:
    await organiser.ask("event_watch", event=event, on=True)
    told = await organiser.next_of("event")
    while len(told["table"]) < players:
        told = await organiser.next_of("event")
    assert (await organiser.ask("event_run", event=event, seq=told["seq"], action="begin"))["type"] == "ok"


async def opponents(organiser: Peer, event: str, name: str, rounds: int) -> AsyncIterator[str | None]:
    """Yield a player's opponent in each round, None for a bye; then begin the next round when this one is over."""
    for number in range(1, rounds + 1):
        await organiser.ask("event_watch", event=event, on=True)
        state = await organiser.until(lambda told: told["type"] == "event" and told["round"] == number)  # noqa: B023
        names = [{*pairing["names"].values()} for pairing in state["pairings"]]
        yield next((other for pair in names if name in pair for other in pair - {name}), None)
        if number < rounds:
            while state.get("due_ms") is None:
                state = await organiser.until(lambda told: told["type"] in ("event", "event_rows"))
            await organiser.ask("event_run", event=event, seq=state["seq"], action="next")


async def play(client: ClientProcess) -> None:
    """Play a game in plain mode from the call to its end, on any board."""
    said = await client.until("You are called")
    assert re.fullmatch(r"You are called: [XO] against .* in [A-Z0-9]{6}\. Come within [01]:\d\d\.", said)
    await client.until("Your move")
    client.type("resign", "resign")
    await client.until("You lose. You resign.")


@pytest.mark.parametrize("language", ["en", "de"])
async def test_the_command_opens_an_event_and_prints_its_cards(server: Server, tmp_path: Path, language: str) -> None:
    roster = tmp_path / "class.txt"
    roster.write_text("Vorname;Name\n\nAna;X\nBo ;Y\nZoë;Z\n", encoding="cp1252")
    there = ("--server", server.url, "--language", language)
    said = await run("event", "new", "--title", "Class 5b", "--roster", str(roster), *there, home=tmp_path)
    code = re.findall(r"\b[A-Z0-9]{6}\b", said)[0]
    cards = dict(re.findall(rf"^(Ana|Bo|Zoë): http://\S+/e/{code}#(\S+)$", said, re.MULTILINE))
    assert list(cards) == ["Ana", "Bo", "Zoë"]
    assert await run("event", code, "cards", *there, home=tmp_path) == "\n".join(said.splitlines()[2:5])
    assert "/e/" in await run("event", code, "add", "Cy", *there, home=tmp_path)
    async with run_client("event", f"{server.url}/e/{code}#{cards['Zoë']}", "--plain", "--language", language) as zoe:
        await zoe.until("Class 5b: ")
        await zoe.ask("table" if language == "en" else "tabelle", "    ", "1.  Zoë")
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


async def test_only_the_organiser_runs_an_event(server: Server, tmp_path: Path) -> None:
    async with open_peer(server.url, "org") as org:
        code = await open_event(org, "easy")
        assert f"{code}  Friday  round robin  open    -      1" in await run("event", "--plain", "-s", server.url)
        assert await run("event", code, "begin", "--plain", "-s", server.url, code=6) == ""
        assert await run("event", "ZZZZZZ", "--plain", "-s", server.url, code=5) == f"Connecting to {server.url} ..."


async def test_the_organiser_runs_an_event_while_another_client_is_open(server: Server, tmp_path: Path) -> None:
    there = ("--plain", "--server", server.url)
    said = await run("event", "new", "--bot", "easy", "--bot", "easy", *there, home=tmp_path)
    assert "2 players, 1 round, about 2 minutes." in said
    code = re.findall(r"\b[A-Z0-9]{6}\b", said)[0]
    async with run_client("event", code, *there, **at(tmp_path)) as watching:
        await watching.until("Not begun yet")
        assert "done" in (await run("event", code, "begin", *there, home=tmp_path)).lower()
        await watching.until("Round 1")


async def test_plain_mode_enters_each_board_and_ends_with_the_table(bots: Server, tmp_path: Path) -> None:
    async with open_peer(bots.url, "org") as org:
        code = await open_event(org, "random", "random", advance="hand")
        there = ("--plain", "--server", bots.url)
        async with run_client("event", code, "join", "--name", "ana", *there) as ana:
            await ana.until(
                "Friday: round robin, 3x3, 1+0.", "You are in as ana.", "Not begun yet, open; 3 of 3 players are here."
            )
            await begin(org, code, 3)
            async for against in opponents(org, code, "ana", rounds=3):
                if against is None:
                    continue
                await play(ana)
                if not (tmp_path / "game").exists():
                    while not re.search(r"ana \([XO]\).*[01]-[01]$", line := await ana.read_line() or "end"):
                        assert not line.startswith(("Waiting for", "end")), ana.lines
                    await ana.ask(f"save {tmp_path / 'game'}", "Saved in")
            assert f'[Event "{code}"]' in (tmp_path / "game").read_text()
            last = await ana.until("3.  ana (you)")
            assert "Round 3 of 3, over; 3 of 3 players are here." in ana.lines
            assert last.split()[3] == "0"
            assert await ana.end() == 0


async def test_taking_over_a_card_needs_a_confirmation(tmp_path: Path) -> None:
    async with hostile_server() as server:
        entering = ("event", EVENT, "--ticket", "ana-1", "-s", with_card_in_use(server, event()).url)
        async with run_screen(*COMMAND, *entering, "--plain") as ana:
            await ana.until("Play here instead? Type yes to do that; anything else means no.")
            await ana.ask("yes\n", "You are in as ana.")
            await ana.ask("quit\n", "Goodbye.")
            assert await ana.end() == 0
        for options in (("--plain", "--no-input"), ("--json",)):
            async with run_client(*entering, *options, **at(tmp_path)) as script:
                assert await script.end() == 6
                assert "is already here with this card" in await script.errors()
        assert [one.here for one in server.heard if isinstance(one, EventJoin)] == [False, True, False, False]


async def test_json_mode_passes_messages_on_and_fills_in_defaults(server: Server) -> None:
    async with run_client("event", "new", "--bot", "random", "--json", "--server", server.url) as org:
        code = (await org.message(type="ok"))["event"]
        assert await org.end() == 0
    async with (
        open_peer(server.url, "org") as organiser,
        run_client("event", await open_event(organiser, "random"), "--json", "--server", server.url) as ana,
    ):
        assert (await ana.message(type="welcome"))["token"] == "…"
        assert (await ana.message(type="event"))["status"] == "open"
        ana.send(type="event_join", name="Ana")
        await ana.message(type="ok", id="line-1")
        event = (await ana.message(type="event"))["event"]
        await begin(organiser, event, 2)
        call = await ana.message(type="call")
        ana.send(type="join", room=call["room"])
        await ana.message(type="room", status="playing")
        ana.send(type="resign")
        assert (await ana.message(type="room", status="over"))["event"] == event
        ana.end_input()
        assert await ana.end() == 0
        assert json.loads(ana.lines[-1]) == {"from": "client", "type": "closed", "exit": 0}
        assert code != event
