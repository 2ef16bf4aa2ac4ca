import contextlib
from collections.abc import AsyncIterator

from tests.peer import Peer, open_peer
from tests.proxy import Proxy
from tests.tui.conftest import OpenScreen, ScreenUser
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui import FirstPage
from tictactoe_engine import PRESETS
from tictactoe_engine.records import parse_record
from tictactoe_server.server import Server

RECORD = """
[Rules "gomoku-standard"] [X "bo"] [O "ana"]
1. h8 h9 2. i10 {swap2 O more} g8 3. k3 {swap2 X O} g2 *
"""


@contextlib.asynccontextmanager
async def opened(
    open_screen: OpenScreen, server: Server, cells: str = "", url: str = ""
) -> AsyncIterator[tuple[ScreenUser, Peer, str]]:
    """Open a room on the screen as ana, join it as bo, and place ana's first marks."""
    first = Choice("create", PRESETS["gomoku-standard"], private=True)
    async with open_screen(url or server.url, first) as ana, open_peer(server.url, "bo") as bo:
        await ana.until("Code   ")
        await bo.ask("join", room=ana.code)
        await ana.until("Place X: 3 to go, then bo chooses a side.")
        for ply, cell in enumerate(cells.split(), 1):
            await ana.type(cell)
            await ana.press("enter")
            await bo.state(ply=ply)
            while len(ana.app.pages[-1].room.moves) < ply:
                await ana.pilot.pause()
        yield ana, bo, ana.app.pages[-1].room.code


async def test_the_opener_sees_next_mark_and_count(server: Server, open_screen: OpenScreen, proxy: Proxy) -> None:
    async with opened(open_screen, server, url=proxy.url) as (ana, bo, _):
        await ana.until("Place X: 3 to go, then bo chooses a side.", "type a cell (h8)")
        await ana.enter("h8", "Place O: 2 to go, then bo chooses a side.", "(X)")
        await bo.state(ply=1)
        proxy.down.is_swallowing = True
        await ana.enter("h9", "o?", "on its way")
        await bo.state(ply=2)
        proxy.down.is_swallowing = False
        proxy.cut()
        await ana.until("(O)", "You missed nothing.", gone="o?")
        await ana.do("down", "Place X: 1 to go, then bo")


async def test_a_replay_shows_the_choices_between_the_moves(open_screen: OpenScreen) -> None:
    first_page = FirstPage("replay", record=parse_record(RECORD), ply=3, note="")
    async with open_screen("ws://127.0.0.1:1", None, (80, 24), first_page) as ana:
        text = await ana.until("Move 3 of 6: ana places X on I10.", "bo places two more, then ana chooses.")
        rows = [line[40:].rstrip() for line in text.splitlines()]
        first = rows.index(" 1. X H8   O H9")
        assert rows[first : first + 6] == [
            " 1. X H8   O H9",
            ">2. X I10",
            "    bo places two more, then ana choos…",
            "           O G8",
            " 3. X K3",
            "    ana takes O: bo is X now.",
        ]
        await ana.press("right", "right")
        await ana.until("Move 5 of 6: bo places X on K3.", "ana takes O: bo is X now.")


async def test_a_cell_typed_while_a_side_is_to_choose_takes_no_side(server: Server, open_screen: OpenScreen) -> None:
    async with opened(open_screen, server, "h8 h9 i10") as (ana, bo, code):
        await ana.type("c1", "move: c1_")
        await bo.ask("choose", room=code, take="more", ply=3)
        for ply, cell in ((3, 0), (4, 1)):
            await bo.ask("move", room=code, cell=cell, ply=ply)
        await ana.until("1 play O, and move", "2 stay X, O moves", gone="c1_")
        await ana.type("c1", "move: c1_")
        await ana.do("enter", "Choose your side.", "2 stay X", gone="c1_")
        await ana.do("1", "You take O: bo is X now.")
