"""The programs and examples of `library.md` and `write-a-bot.md`, run unchanged, and the names in its tables."""

import asyncio
import re
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

import pytest

import tictactoe_client
from tests.environment import environment
from tests.peer import PATIENCE_SECONDS, open_peer, until
from tests.programs import Process, start_program
from tests.server.ratings.served import CLOCK, RULES, claimed, rating
from tictactoe_client import Client, Room, Tournament, connect, events
from tictactoe_client.online.challenges import Challenges
from tictactoe_client.online.rooms import Games, Rooms
from tictactoe_client.online.tournament import Tournaments
from tictactoe_protocol.events import EventOpen
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.server import Server

__all__ = ["rating"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorials" / "write-a-bot.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"<!-- program: (\w+) -->\n```python\n(.*?)```", PAGE + TUTORIAL, re.DOTALL))
IMPORT, CHOOSE = re.findall(r"<!-- part: choose -->\n```python\n(.*?)\n\n\n(.*?)```", TUTORIAL, re.DOTALL)[0]
PROGRAMS["better bot"] = f"{IMPORT}\n" + re.sub(
    r"def choose.*?\n\n\n", f"{CHOOSE}\n\n", PROGRAMS["bot"], flags=re.DOTALL
)
EXAMPLES = dict(re.findall(r"<!-- example: (\w+) -->\n```python\n(.*?)```", PAGE, re.DOTALL))
IMPORTS = EXAMPLES.pop("imports")


def wrap_example(name: str) -> str:
    """Return an example of the page as a program with a function for its two clients."""
    return f"{IMPORTS}\nasync def example(client: Client, other: Client) -> None:\n" + indent(EXAMPLES[name], "    ")


PARTS = {"rooms": Rooms, "tournaments": Tournaments, "challenges": Challenges, "games": Games}

PATIENT = (
    "import inspect, tictactoe_client\n"
    f"inspect.unwrap(tictactoe_client.connect).__kwdefaults__['timeout_seconds'] = {PATIENCE_SECONDS}\n"
)
"""Lets a program wait for the server of a busy machine."""


async def start(name: str, *arguments: str) -> Process:
    program = PATIENT + PROGRAMS[name]
    return await start_program(sys.executable, "-c", program, *arguments, stdout=PIPE, env=environment())


async def output_of(process: Process) -> str:
    """Return the output of a process that ends without an error."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode()


def test_the_programs_pass_strict_type_checks(tmp_path: Path) -> None:
    for name, program in PROGRAMS.items():
        (tmp_path / f"{name.replace(' ', '_')}.py").write_text(program, encoding="utf-8")
    for name in EXAMPLES:
        (tmp_path / f"example_{name}.py").write_text(wrap_example(name), encoding="utf-8")
    options = ("--strict", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'programs'}")
    command = (sys.executable, "-m", "mypy", *options, *sorted(path.name for path in tmp_path.iterdir()))
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment())
    assert checked.stdout == f"Success: no issues found in {len(PROGRAMS) + len(EXAMPLES)} source files\n"


@pytest.mark.parametrize("name", ["bot", "better bot"])
async def test_two_bots_play_a_whole_game(server: Server, name: str) -> None:
    bots = [await start(name, server.url) for _ in range(2)]
    told = [await output_of(bot) for bot in bots]
    assert sorted(line.partition(" ")[0] for line in told) in (["It's", "It's"], ["You", "You"])


async def test_two_who_know_openings_play_a_whole_game_that_begins_with_one(server: Server) -> None:
    openers = [await start("opener", server.url, "four-pie") for _ in range(2)]
    one, other = [await output_of(opener) for opener in openers]
    assert one == other
    assert one.startswith("('")


async def test_the_logger_prints_games_moves_and_results(server: Server) -> None:
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        connect(server.url, name="ana") as ana,
        open_peer(server.url, "bo") as bo,
    ):
        room = await ana.rooms.create("classic")
        logger = await start("logger", server.url, room.code)
        async for state in room:
            if state.watchers:
                break
        said = list[str]()

        async def hear(lines: int) -> None:
            assert logger.stdout is not None
            said.extend([(await logger.stdout.readline()).decode().strip() for _ in range(lines)])

        await bo.ask("join", room=room.code)
        async for state in room:
            if state.status == "playing":
                break
        await hear(1)
        await room.move("b2")
        await hear(1)
        await bo.ask("move", room=room.code, cell=0, ply=1)
        await hear(1)
        await room.resign()
        await hear(1)
    assert said == ["game 1", "X B2", "O A1", "O by resigned"]
    logger.terminate()
    await logger.wait()


@pytest.mark.parametrize(("kind", "rules"), [("round_robin", "classic"), ("knock_out", "four-pie")])
async def test_contestants_play_events(server: Server, kind: Literal["round_robin", "knock_out"], rules: str) -> None:
    clock = ClockFields(initial_ms=60_000, increment_ms=0)
    async with asyncio.timeout(PATIENCE_SECONDS), connect(server.url, name="ana") as ana:
        event = await ana.tournaments.open(EventOpen(kind=kind, title="Friday", clock=clock, rules=rules))
        contestants = [await start("contestant", server.url, event.code) for _ in range(2)]
        async for state in event:
            if state.status == "open" and len(state.table) == 2:
                await event.run("begin")
        for contestant in contestants:
            table = (await output_of(contestant)).splitlines()
            assert [line.split()[1:2] for line in table] == [[row.name] for row in event.state.table]
    assert {pairing.by for pairing in event.state.pairings} == {"game"}, "nothing was forfeited"


async def test_the_organiser_runs_an_event_to_its_end(server: Server) -> None:
    organiser = await start("organiser", server.url)
    assert organiser.stdout is not None
    code = (await organiser.stdout.readline()).decode().strip()
    contestants = [await start("contestant", server.url, code) for _ in range(2)]
    printed = await output_of(organiser)
    heads = [line for line in printed.splitlines() if not line.startswith("  ")]
    rounds = ["round 1:", "round 2:", "round 3:", "over:"]
    assert heads == [head for head in rounds if head in heads], "each once, in order; the newest state wins"
    assert heads[-1] == "over:"
    for contestant in contestants:
        await output_of(contestant)


@pytest.fixture
async def two_clients(rating: Server) -> AsyncIterator[tuple[Client, Client]]:
    """Two clients with claimed names who have finished a rated game."""
    async with asyncio.timeout(PATIENCE_SECONDS), claimed(rating, "cleo") as one, claimed(rating, "dan") as other:
        own = await one.rooms.create(RULES, clock=ClockFields(**CLOCK), rated=True)
        theirs = await other.rooms.join(own.code)
        for room in (own, theirs):
            async for _ in room:
                if room.is_my_turn:
                    break
            await room.move(room.position.legal_cells[0])
        await theirs.resign()
        for room in (own, theirs):
            await room.leave()
        await until(lambda: rating.service(Ladders).folding.games == 1)
        yield one, other


@pytest.mark.parametrize("name", EXAMPLES)
async def test_an_example_runs(name: str, two_clients: tuple[Client, Client]) -> None:
    program: dict[str, Any] = {}
    exec(wrap_example(name), program)
    await program["example"](*two_clients)


@pytest.mark.parametrize("part", PARTS)
def test_every_public_name_of_a_part_is_documented_with_an_example(part: str) -> None:
    names = {name for name in dir(PARTS[part]) if not name.startswith("_")}
    examples = "".join(EXAMPLES.values())
    assert {name for name in names if not re.search(rf"\b{part}\.{name}\b", examples)} == set()
    rows = PAGE.partition(f"`client.{part}` has\n\n")[2].partition("\n\n")[0]
    assert {name for name in names if not re.search(rf"`{name}\b", rows)} == set()


@pytest.mark.parametrize("kind", [Client, Room, Tournament])
def test_every_public_name_of_a_client_and_a_room_stands_on_the_page_and_in_a_program(kind: type) -> None:
    names = {name for name in dir(kind) if not name.startswith("_")}
    assert {name for name in names if not re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE)} == set()
    code = "".join((*PROGRAMS.values(), *EXAMPLES.values()))
    assert {name for name in names if not re.search(rf"\.{name}\b", code)} == set()


def test_every_public_name_and_event_of_the_package_is_documented() -> None:
    told = {
        name
        for name, value in vars(events).items()
        if getattr(value, "__module__", "") == events.__name__ and name[0] != "_"
    }
    names = {*tictactoe_client.__all__, *told} - {"Messages", "Change", "ConnectionEvent", "RoomEvent"}
    assert {name for name in names if not re.search(rf"\b{name}\b", PAGE)} == set()
