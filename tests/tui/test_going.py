"""Esc leaves every wait at once, even if the server does not answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.kept import rooms_left
from tests.peer import PATIENCE_SECONDS, Peer, open_peer, two_playing
from tests.proxy import Proxy
from tests.tui.conftest import NEVER, QUICK, Game, OpenScreen, ScreenUser
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.backoff import Backoff
from tictactoe_engine import PRESETS
from tictactoe_server.server import Server


@contextlib.asynccontextmanager
async def far_game(
    game: Game, server: Server, backoff: Backoff = QUICK
) -> AsyncIterator[tuple[ScreenUser, Peer, str, Proxy]]:
    """Start a game of ana, behind a proxy, against bo."""
    async with Proxy(server.port) as proxy, game(url=proxy.url, backoff=backoff) as (ana, bo, code):
        try:
            yield ana, bo, code, proxy
        finally:
            proxy.down.go_on()


async def until_rooms_wait(peer: Peer, count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sum(room["status"] == "waiting" for room in (await peer.ask("rooms"))["rooms"]) != count:
            pass


async def test_waiting_is_left_though_the_server_is_silent(proxy: Proxy, open_screen: OpenScreen) -> None:
    async with open_screen(proxy.url, Choice("create")) as ana:
        await ana.until("Waiting for another player")
        proxy.down.is_swallowing = True
        await ana.do("escape", "Playing as")


async def test_looking_for_an_opponent_is_left_at_once(server: Server, proxy: Proxy, open_screen: OpenScreen) -> None:
    async with open_peer(server.url, "bo") as bo, open_screen(proxy.url, Choice("match")) as ana:
        await ana.until("Waiting for another player")
        code = (await bo.ask("match", rules="classic"))["room"]
        await ana.until("Your move")
        await ana.do("1", "It's bo's move")
        await bo.ask("move", room=code, cell=4, ply=1)
        await bo.ask("resign", room=code)
        await ana.until("You win")
        proxy.down.hold_up()
        await ana.do("n n", "Looking for an opponent…   Esc home")
        await ana.do("escape", "Playing as")
        await until_rooms_wait(bo, 1)
        proxy.down.go_on()
        await until_rooms_wait(bo, 0)
        await ana.until("Playing as", gone="Waiting for")


async def test_a_game_that_began_while_the_computer_is_fetched_is_played(bots: Server, open_screen: OpenScreen) -> None:
    async with (
        Proxy(bots.port) as proxy,
        open_screen(proxy.url, Choice("create")) as ana,
        open_peer(bots.url, "bo") as bo,
    ):
        await ana.until("Waiting for another player")
        code = ana.code
        proxy.down.hold_up()
        await ana.do("b", "Starting a game with the computer…   Esc home")
        await bo.ask("join", room=code)
        proxy.down.go_on()
        await ana.until("Somebody came in the meantime: the game is on.", "O  bo", code)
        await ana.press("5")
        await bo.state(ply=1, status="playing")


async def test_a_lost_connection_is_left_at_once_and_the_seat_is_kept(game: Game, server: Server) -> None:
    async with far_game(game, server, NEVER) as (ana, _, code, proxy):
        proxy.cut()
        await ana.until("Connection lost", "Seat held", "Esc leave")
        await ana.press("escape")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while ana.app.is_running:
                await ana.pilot.pause()
        saved = rooms_left(ana.app.session.address.url)
    assert ana.app.return_code == 7
    assert "tictactoe-client join" in ana.app.last_words
    assert saved == [code]


async def test_a_disconnected_watcher_reads_nothing_about_a_seat(
    server: Server, proxy: Proxy, open_screen: OpenScreen
) -> None:
    async with (
        two_playing(server) as (*_, code),
        open_screen(proxy.url, Choice("watch", code=code), backoff=NEVER) as wat,
    ):
        await wat.until("you watch")
        proxy.cut()
        await wat.until("Connection lost. Trying again in 99", gone="Seat held")
        await wat.do("escape", "tictactoe", gone="you watch")
        assert len(wat.app.pages) == 1


async def test_ctrl_q_in_a_game_asks_and_a_second_one_leaves(game: Game) -> None:
    async with game(moves=[0, 4]) as (ana, bo, code):
        await ana.do("ctrl+q", "Leave and lose this game?   Enter leave   Esc play on")
        await ana.do("escape", "Your move, X.", gone="Leave and lose")
        await ana.press("ctrl+q", "ctrl+q")
        assert (await bo.state(status="over"))["result"]["winner"] == "O"
        await ana.until_it_ends()
    assert ana.app.return_code == 0
    assert ana.app.last_words == f"Room {code}: you left; bo wins."


@pytest.mark.parametrize("keys", [("escape",), ("ctrl+q",)], ids=str)
async def test_whatever_else_is_typed_at_a_question_plays_on(game: Game, keys: tuple[str, ...]) -> None:
    async with game(PRESETS["four"]) as (ana, bo, code):
        await ana.press(*keys)
        await ana.until("Leave and abort this game?")
        await ana.do("b", "The game goes on.", gone="Leave and abort this game?")
        ana.app.pages[-1].model.quiet_until = 0.0
        await ana.press("b", "2", "enter")
        assert (await bo.state(room=code, ply=1))["status"] == "playing"


async def test_ctrl_q_and_ctrl_c_with_the_help_open_ask_at_the_board(game: Game) -> None:
    async with game() as (ana, *_):
        for key in ("ctrl+q", "ctrl+c"):
            await ana.do("?", "Help")
            await ana.do(key, "Leave and abort this game?", "Your move, X.", gone="Help")
            await ana.press("escape")


async def test_the_end_of_a_game_is_printed_after_quitting(game: Game) -> None:
    async with game(gives_up=True) as (ana, _, code):
        await ana.press("ctrl+q")
        await ana.until_it_ends()
    assert ana.app.last_words == f"Room {code}: You win! bo resigns."


@pytest.mark.parametrize("keys", ["escape", "ctrl+c", "tab h ctrl+q", ": r e s i g n enter"])
async def test_while_something_is_asked_the_last_line_names_the_keys_of_the_answer_alone(game: Game, keys: str) -> None:
    async with game() as (ana, *_):
        await ana.press(*keys.split())
        await ana.until("Esc play on")
        assert ana.text.splitlines()[-1].strip() == "Enter yes  Esc play on"
        await ana.do("escape", "help" if "tab" not in keys else "say: h_", gone="Esc play on")
