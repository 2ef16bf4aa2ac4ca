"""Games over days on the full screen: a day's routine, and leaving without giving up."""

from tests.day_games import begin
from tests.peer import open_peer
from tests.tui.conftest import AtHome
from tictactoe_server.server import Server


async def test_three_games_take_seven_keys(server: Server, at_home: AtHome) -> None:
    async with at_home() as ana:
        rooms = await begin(server, ana.client.token, 3)
        await ana.until("3 games await your move.")
    async with at_home() as ana:
        await ana.until("> 3 games await your move.")
        keys = 0
        for room, left in zip(
            rooms, ("2 games await your move. Ctrl+G: go.", "1 game awaits", "It's bo's move"), strict=True
        ):
            await ana.do("ctrl+g" if keys else "enter", room, "Your move", "5 d 0 h")
            await ana.do("5", left)
            keys += 2
        await ana.press("ctrl+q")
        await ana.until_it_ends()
        assert keys + 1 == 7
        assert "is kept for another day" in ana.app.last_words
    async with open_peer(server.url, "eve") as eve:
        for room in rooms:
            await eve.ask("watch", room=room)
            assert (await eve.state(room=room))["status"] == "playing"


async def test_going_home_keeps_the_seat(server: Server, at_home: AtHome) -> None:
    async with at_home() as ana:
        (room,) = await begin(server, ana.client.token)
        await ana.until("1 game awaits your move.")
        await ana.do("ctrl+g", room, "Your move")
        await ana.do("escape", "> 1 game awaits your move.", "Playing as")
        await ana.do("enter", room, "Your move")
