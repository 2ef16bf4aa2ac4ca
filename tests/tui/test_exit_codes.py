from tests.peer import open_peer
from tests.proxy import Proxy
from tests.tui.conftest import NEVER, Game, OpenScreen, ScreenUser
from tictactoe_client.input.ways import against_computer
from tictactoe_server.server import Server

WON, CONNECTION_LOST = 0, 7


async def quit_with(user: ScreenUser, *keys: str) -> int | None:
    await user.press(*keys)
    await user.until_it_ends()
    return user.app.return_code


async def test_the_last_of_several_games_counts(bots: Server, open_screen: OpenScreen) -> None:
    async with open_screen(bots.url, against_computer("easy"), result_code=True) as ana:
        await ana.until("Your move")
        await ana.press("1")
        await ana.until("Your move", "O ")
        await ana.enter(":resign")
        await ana.do("enter", "You lose")
        await ana.do("escape", "Playing as")
        async with open_peer(bots.url, "bo") as bo:
            code = (await bo.ask("create", visibility="private"))["room"]
            await ana.do("j", "> Join")
            await ana.enter(code, "It's bo's move")
            await bo.ask("move", room=code, cell=0, ply=0)
            await ana.until("Your move")
            await ana.press("5")
            await bo.state(ply=2)
            await bo.ask("resign", room=code)
            await ana.until("You win")
            assert await quit_with(ana, "ctrl+q") == WON


async def test_a_question_answered_after_the_connection_was_lost_ends_with_seven(proxy: Proxy, game: Game) -> None:
    async with game(url=proxy.url, backoff=NEVER) as (ana, *_):
        await ana.do("ctrl+q", "Leave and abort this game?")
        proxy.cut()
        await ana.until("offline")
        assert await quit_with(ana, "enter") == CONNECTION_LOST
