"""The text pictures in `pictures/` are what the screen shows in a window of 80x24.

UPDATE_PICTURES=1 rewrites them. `python -m tools.pictures` makes the pictures of `docs/reference/screens.md`.
"""

import itertools
import os
import re
from pathlib import Path

import pytest

from tests.client.tournaments import EVENT, event, with_events
from tests.faults.hostile_server import hostile_server
from tests.peer import open_peer
from tests.tui.conftest import OpenScreen, ScreenUser
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.session import Session
from tictactoe_client.tui import FirstPage
from tictactoe_server.server import Server
from tictactoe_words.emblems import SIGNS

PICTURES = Path(__file__).parent / "pictures"
SIZE = (80, 24)


def check(name: str, picture: str) -> None:
    """Compare with the kept picture, or update it; signs differ from run to run."""
    signs = itertools.cycle(SIGNS)
    picture = re.sub(f"[{SIGNS}]", lambda _: next(signs), picture)
    kept = PICTURES / f"{name}.txt"
    if os.environ.get("UPDATE_PICTURES"):
        kept.write_text(f"{picture}\n", encoding="utf-8")
        return
    assert f"{picture}\n" == kept.read_text(encoding="utf-8")


async def take(user: ScreenUser, *codes: str) -> str:
    """Return the screen's text with values that differ from run to run made equal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "latency_ms", 1)
        user.app.redraw()
        await user.pilot.pause()
        text = user.text.rstrip()
    for code in codes:
        text = text.replace(code, "K7M4PQ")
    return text


async def test_event(open_screen: OpenScreen) -> None:
    page = FirstPage("event", enter=EventWay(EVENT, watches=True))
    async with (
        hostile_server() as server,
        open_screen(with_events(server, event()).url, first_page=page, size=SIZE) as ana,
    ):
        await ana.until("Waiting for")
        check("event", await take(ana))


async def test_a_game_and_its_review(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, Choice("create"), size=SIZE) as ana, open_peer(server.url, "bo") as bo:
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
        check("game", await take(ana, code))
        await ana.press("2")
        await bo.state(ply=3)
        await bo.ask("move", room=code, cell=8, ply=3)
        await ana.until("Your move")
        await ana.do("3", "You win")
        await ana.do("v left", "O to move: ", "C3 gives the draw away: ")
        check("review", await take(ana, code))
