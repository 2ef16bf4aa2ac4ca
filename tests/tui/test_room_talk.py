"""Chat in a room: no line is lost or unseen, and no refusal covers the game's end."""

import pytest

from tests.named_keys import last_line
from tests.peer import Peer
from tests.proxy import Proxy
from tests.tui.conftest import NEVER, Game
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
async def test_pasted_lines_are_joined_with_spaces(game: Game, end: str) -> None:
    async with game() as (ana, bo, _):
        await ana.press("tab")
        await ana.paste(f"one{end}two\tthree{end}")
        await ana.press("enter")
        assert (await bo.next_of("chat"))["text"] == "one two three"


async def test_a_line_that_was_refused_comes_back(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.core.session.CHAT_LINES", 1)
    monkeypatch.setattr("tictactoe_server.core.session.CHAT_MS", 600_000)
    async with game() as (ana, *_):
        await ana.press("tab")
        await ana.enter("line 0")
        await ana.until("ana: line 0")
        await ana.press("tab")
        await ana.enter("line 1")
        assert "ana: line 0" in await ana.until("You are chatting too fast.", "say: line 1")


async def test_a_line_may_be_left_for_the_board_and_taken_up_again(game: Game) -> None:
    async with game() as (ana, bo, _):
        await ana.press("tab", "h", "i", "tab", "5")
        assert (await bo.state(ply=1))["last"] == 4
        await ana.do("tab", "say: hi_")
        await ana.do("escape tab", "say: _")


async def say(peer: Peer, code: str, *lines: str) -> None:
    for line in lines:
        await peer.ask("chat", room=code, text=line)


async def test_a_line_that_is_open_while_the_connection_is_lost_has_its_own_keys(proxy: Proxy, game: Game) -> None:
    async with game(url=proxy.url, backoff=NEVER) as (ana, bo, _):
        await ana.press("tab", "h")
        proxy.cut()
        text = await ana.until("Connection lost", "say: h_")
        assert last_line(text).strip() == "Enter say it  Esc back"
        text = await ana.do("r enter", "Connection lost", gone="say:")
        assert last_line(text).strip() == "r retry  Esc leave"
        await ana.press(":")
        assert "Enter ok  Esc back" in await ana.until(":_")
        await ana.do("escape r", "Back after")
        assert (await bo.next_of("chat"))["text"] == "hr"


async def test_the_return_notice_is_visible_above_an_open_line(proxy: Proxy, game: Game) -> None:
    async with game(url=proxy.url, backoff=NEVER, moves=[4]) as (ana, bo, code):
        proxy.cut()
        await ana.until("Connection lost")
        await bo.ask("move", room=code, cell=0, ply=1)
        await ana.do("r tab h", "Back after ", " s. bo played A1.", "say: h_")
        await ana.do("i", "Back after ", " s. bo played A1.", "say: hi_")
        page = ana.app.pages[-1]
        page.model.news.back_until = 0.001
        page.tick()
        await ana.do("!", "Back after ", " s. bo played A1.", "say: hi!_")
        await ana.press("enter")
        page.tick()
        await ana.until("Your move", gone="Back after")


async def test_several_lines_wait_for_their_turn_in_a_narrow_window(game: Game) -> None:
    async with game(size=(40, 12)) as (ana, bo, code):
        await say(bo, code, *(f"line {number} of a talk that is long enough" for number in range(4)))
        seen = ""
        for _ in range(4):
            seen += await ana.until("bo: line")
            await ana.press("f9")
        await ana.until("Your move", gone="bo: line")
        assert all(f"line {number} of" in seen for number in range(4))


@pytest.mark.parametrize("size", [(80, 24), (30, 8)])
async def test_no_refusal_covers_the_end(game: Game, size: tuple[int, int]) -> None:
    async with game(moves=[0, 4]) as (ana, bo, code):
        await ana.pilot.resize_terminal(*size)
        await bo.ask("resign", room=code)
        await ana.until("You win")
        keys = last_line(ana.text)
        text = await ana.do("5", "You win! bo resigns", "The game is over.")
        assert last_line(text) == keys
        await bo.ask("rematch", room=code)
        text = await ana.do("5", "You win", "The game is over.")
        await ana.do("f9", "You win", "wants a rematch", gone="The game is over")


async def test_the_chat_line_offers_only_what_the_server_allows(game: Game) -> None:
    async with (
        Server(Settings(host="127.0.0.1", port=0, chat="off", features=(BotOptions(demo=False),))) as server,
        game(at=server) as (ana, *_),
    ):
        await ana.do("tab", "Chat is off on this server.", gone="say:")
        assert "Tab chat" not in ana.text
        await ana.type(":chat hello")
        await ana.do("enter", "Chat is off on this server.", gone="say:")
    async with (
        Server(Settings(host="127.0.0.1", port=0, chat="sentences", features=(BotOptions(demo=False),))) as server,
        game(at=server) as (ana, *_),
    ):
        await ana.do("tab", "say: _", "1 Hello! 2 Good luck!")
        await ana.enter("well", "Say one of these", "say: well")
        await ana.press(*["backspace"] * 4)
        await ana.enter("4", "ana: Well played!")
