import os
import re
from pathlib import Path

from tests.end_to_end.test_past_games import played
from tests.proxy import Proxy
from tests.server.test_pages import get
from tests.tui.conftest import NEVER, OpenScreen
from tictactoe_client.files.players import KnownPlayers
from tictactoe_client.tui import FirstPage
from tictactoe_client.tui.history import PAGE_GAMES
from tictactoe_server.server import Server

HISTORY = FirstPage("history")


async def test_the_list_of_games_replays_and_saves_them(server: Server, open_screen: OpenScreen, here: Path) -> None:
    async with played(server, games=2, resigned=1), open_screen(server.url) as ana:
        await ana.until("Your games")
        text = await ana.do("up enter", "3 games", "> 1.")
        rows = [" ".join(line.split()) for line in text.splitlines()[3:6]]
        assert "Gomoku bo lost by resignation 2 20" in rows[0]
        assert "Tic-tac-toe bo won by a line 5 20" in rows[1]
        await ana.do("down enter", "REPLAY  ana v bo", "move 0 of 5", "Esc back")
        await ana.do("end", "━━━▄▀▄━━━")
        await ana.do("escape", "> 2.")
        await ana.do("s", "Saved in tictactoe-")
        await ana.do("escape", "Playing as  ana", "> Your games")


async def test_the_command_lists_one_s_games_and_ends_with_escape(server: Server, open_screen: OpenScreen) -> None:
    async with played(server, pid=os.getppid()):
        before = KnownPlayers().path.read_bytes()
        async with open_screen(server.url, name=None, first_page=HISTORY) as ana:
            await ana.until("1 game", "won by a line", "Esc/Ctrl+Q quit")
            await ana.press("escape")
        assert ana.app.return_code == 0
        assert KnownPlayers().path.read_bytes() == before


async def test_more_games_come_as_one_gets_to_the_end(server: Server, open_screen: OpenScreen) -> None:
    total = PAGE_GAMES + 5
    async with played(server, games=0, resigned=total), open_screen(server.url, first_page=HISTORY) as ana:
        await ana.until(f"{PAGE_GAMES} games, and more", ">  1.")
        await ana.do("up", ">  1.")
        await ana.do("pagedown", "> 20.")
        await ana.do("pageup down up", ">  1.")
        await ana.do("end", f"{total} games", f"> {PAGE_GAMES}.", gone="and more")
        await ana.do("end", f"> {total}.")
        await ana.do("home", ">  1.")


async def test_the_list_stays_when_the_server_disappears(server: Server, proxy: Proxy, open_screen: OpenScreen) -> None:
    async with played(server, games=2, url=proxy.url), open_screen(proxy.url, first_page=HISTORY, backoff=NEVER) as ana:
        await ana.until("2 games")
        proxy.lose()
        await ana.until("Connection lost.", "> 1.")
        await ana.do("enter", "There is no connection. r tries again.")
        await ana.do("down", "> 2.", "Connection lost.")
        proxy.is_closed = False
        await ana.do("r", "> 2.", gone="Connection lost")
        await ana.do("enter", "REPLAY")


async def test_a_game_is_shared_by_its_link_and_taken_back(server: Server, open_screen: OpenScreen) -> None:
    async with played(server), open_screen(server.url, first_page=HISTORY) as ana:
        await ana.until("won by a line", "x share")
        text = await ana.do("x", "Copied: http://", "x stops sharing")
        path = re.search(r"/replay/(\S+)", text)
        assert path
        assert (await get(server, f"{path[0]}.txt")).status == 200
        await ana.do("x", "no longer shared")
        assert (await get(server, f"{path[0]}.txt")).status == 404
