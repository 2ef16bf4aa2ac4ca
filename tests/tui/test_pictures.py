"""The pictures in `docs/playing.md` are what the screen shows in a window of 80x24.

With UPDATE_PICTURES=1 the page is rewritten. Those of `docs/screens.md` are made by ``python -m tools.pictures``.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.client.tournaments import EVENT, event, with_events
from tests.end_to_end.test_past_games import finish_a_game
from tests.faults.hostile_server import hostile_server
from tests.kept import leave_seat
from tests.peer import open_peer, play_out
from tests.proxy import Proxy
from tests.tui.conftest import AtHome, OpenScreen, ScreenUser
from tictactoe_client import connect
from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.session import Session
from tictactoe_client.tui import FirstPage
from tictactoe_engine.records import parse_record
from tictactoe_protocol.emblems import SIGNS
from tictactoe_server.server import Server

DOCS = Path(__file__).parents[2] / "docs"
GOMOKU = [112, 97, 113, 111, 98, 128, 126, 82, 127, 129]


@dataclass(frozen=True)
class Gallery:
    """A page with pictures, each under its name, all of one size."""

    page: str
    size: tuple[int, int]

    def check(self, name: str, picture: str) -> None:
        """Compare with the page, or write it there; each player has another sign each time."""
        signs = itertools.cycle(SIGNS)
        picture = re.sub(f"[{SIGNS}]", lambda _: next(signs), picture)
        path = DOCS / self.page
        text = path.read_text(encoding="utf-8")
        start = f"<!-- picture: {name} -->\n```text\n"
        before, found, rest = text.partition(start)
        assert found, f"{self.page} has no picture {name}"
        shown, end, after = rest.partition("\n```\n")
        if os.environ.get("UPDATE_PICTURES"):
            path.write_text(f"{before}{start}{picture}{end}{after}", encoding="utf-8")
            return
        assert picture == shown


@pytest.fixture
def gallery() -> Gallery:
    return Gallery("playing.md", (80, 24))


async def take(user: ScreenUser, *codes: str) -> str:
    """Return what is on the screen, with all that differs from run to run made equal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "latency_ms", 1)
        user.app.redraw()
        await user.pilot.pause()
        text = user.text.rstrip()
    for code in codes:
        text = text.replace(code, "K7M4PQ")
    text = re.sub(r"127\.0\.0\.1:\d{5}", "10.0.0.200:8765", text)
    text = re.sub(r"moves, \d:\d\d", "moves, 1:04", text)
    text = re.sub(r"again in \d s|Trying now", "again in 8 s", text)
    text = re.sub(r"held \d:\d\d", "held 0:59", text)
    text = re.sub(r"another player\. \d:\d\d", "another player. 0:41", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2030-12-31 18:05", text)
    return re.sub(r"(none +)\d:\d\d", r"\g<1>0:41", re.sub(r"(no clock +)\d:\d\d", r"\g<1>0:41", text))


async def test_home(server: Server, at_home: AtHome, gallery: Gallery) -> None:
    async with at_home(size=gallery.size) as ana, open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create", rules="gomoku"))["room"]
        await ana.until(code)
        gallery.check("home", await take(ana, code))


async def test_event(open_screen: OpenScreen, gallery: Gallery) -> None:
    page = FirstPage("event", enter=lambda client: client.watch_event(EVENT))
    async with (
        hostile_server() as server,
        open_screen(with_events(server, event()).url, first_page=page, size=gallery.size) as ana,
    ):
        await ana.until("We wait for")
        gallery.check("event", await take(ana))


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [("settings", "s", "Two numbers mean"), ("new room", "down down enter left left left left", "15x15")],
)
async def test_forms(at_home: AtHome, gallery: Gallery, name: str, keys: str, words: str) -> None:
    async with at_home(size=gallery.size) as ana:
        await ana.do(keys, words)
        gallery.check(name, await take(ana))


async def test_waiting(server: Server, open_screen: OpenScreen, gallery: Gallery) -> None:
    async with open_screen(server.url, Choice("create"), size=gallery.size, colour=False) as ana:
        await ana.until("Waiting for another player")
        gallery.check("waiting", await take(ana, ana.code))


async def test_game_and_its_end_and_a_watcher(server: Server, open_screen: OpenScreen, gallery: Gallery) -> None:
    async with open_screen(server.url, Choice("create"), size=gallery.size) as ana, open_peer(server.url, "bo") as bo:
        await ana.until("Waiting for another player")
        code = ana.code
        await bo.ask("join", room=code)
        await ana.until("Your move")
        await ana.press("1")
        await bo.state(ply=1)
        await bo.ask("move", room=code, cell=4, ply=1)
        await bo.ask("chat", room=code, text="hello")
        await ana.until("Your move", "bo: hello")
        await ana.do("right right", "┏")
        gallery.check("game", await take(ana, code))
        async with open_screen(server.url, Choice("watch", code=code), size=gallery.size) as wat:
            await wat.until("you watch")
            await wat.do("left", "move 1 of 2")
            gallery.check("watching", await take(wat, code))
        await ana.press("2")
        await bo.state(ply=3)
        await bo.ask("move", room=code, cell=8, ply=3)
        await ana.until("Your move")
        await ana.do("3", "You win")
        await ana.do("v left", "O to move: ", "O played C3: ")
        gallery.check("review", await take(ana, code))
        await ana.press("v", "end")
        await bo.ask("rematch", room=code)
        await ana.until("bo wants a rematch")
        gallery.check("end", await take(ana, code))


async def test_a_large_board(server: Server, open_screen: OpenScreen, gallery: Gallery) -> None:
    async with open_peer(server.url, "ana") as first, open_peer(server.url, "bo") as second:
        code = (await first.ask("create", rules="gomoku"))["room"]
        await second.ask("join", room=code)
        await play_out({"X": first, "O": second}, code, GOMOKU)
        token = first.welcome["token"]
        await first.socket.close()
        leave_seat(server.url, code, token)
        async with open_screen(server.url, Choice("join", code=code), size=gallery.size) as ana:
            await ana.until("Your move", "5. ")
            await ana.press("down", "down", "down")
            await ana.type("k", "move: k_")
            gallery.check("15x15", await take(ana, code))


async def test_lost_connection(server: Server, proxy: Proxy, open_screen: OpenScreen, gallery: Gallery) -> None:
    backoff = Backoff((8.4,), longest=8.4, jitter=0)
    async with (
        open_screen(proxy.url, Choice("create"), size=gallery.size, backoff=backoff) as ana,
        open_peer(server.url, "bo") as bo,
    ):
        await ana.until("Waiting for another player")
        code = ana.code
        await bo.ask("join", room=code)
        await ana.until("Your move")
        proxy.lose()
        await ana.until("Connection lost")
        gallery.check("lost connection", await take(ana, code))


async def test_history(server: Server, open_screen: OpenScreen, gallery: Gallery) -> None:
    async with connect(server.url, name="ana") as ana, connect(server.url, name="bo") as bo:
        KnownPlayers().keep(KnownPlayer(server.url, "ana", ana.token, pid=os.getpid()))
        await finish_a_game(ana, bo)
        for rules, loser in (("gomoku", ana), ("connect-four", bo)):
            room = await ana.create(rules)
            other = await bo.join(room.code)
            await room.move(35, ply=0)
            await other.move(36, ply=1)
            await (room if loser is ana else other).resign()
            await room.leave()
            await other.leave()
        await finish_a_game(ana, bo)
    async with open_screen(server.url, size=gallery.size, first_page=FirstPage("history")) as user:
        await user.until("4 games", "Connect four")
        await user.press("down")
        gallery.check("history", await take(user))


async def test_replay(open_screen: OpenScreen, gallery: Gallery) -> None:
    record = parse_record(
        '[X "ana"] [O "bo"] [Date "2030-12-31"] [Room "K7M4PQ"] [Game "3"] [Clock "180+2"]\n'
        "1. b2 a1 2. c1 a3 3. a2 {Now there are two threats.} c3 4. c2 X"
    )
    first_page = FirstPage("replay", record=record, ply=5)
    async with open_screen("ws://127.0.0.1:1", size=gallery.size, first_page=first_page) as user:
        await user.until("Move 5 of 7")
        gallery.check("replay", user.text.rstrip())
