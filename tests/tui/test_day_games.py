"""Games over days on the full screen: a day's routine, and leaving without giving up."""

from tests.day_games import DAYS, begin
from tests.peer import open_peer, until
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
        assert "is kept. To come back" in ana.app.last_words
    async with open_peer(server.url, "eve") as eve:
        for room in rooms:
            await eve.ask("watch", room=room)
            assert (await eve.state(room=room))["status"] == "playing"


async def test_leaving_keeps_the_seat_unless_one_resigns(server: Server, at_home: AtHome) -> None:
    async with at_home(changed_keys={"command": (";",)}) as ana, open_peer(server.url, "eve") as eve:
        (room,) = await begin(server, ana.client.token)
        await ana.until("1 game awaits your move.")
        await ana.do("ctrl+g", room, "Your move")
        await ana.do("? end", "Plan a reply", ";plan", "Write ;plan b2 c3")
        await ana.do("escape", room, "Your move")
        await ana.do("; p l a n enter", "Write ;plan b2 c3")
        await eve.ask("watch", room=room)
        await ana.do("escape", "Your seat is kept", "Enter come back later", "r resign")
        await ana.do("escape", "Your move", gone="Your seat is kept")
        await ana.do("escape enter", "> 1 game awaits your move.", "Playing as")
        away = await eve.until(lambda push: push["type"] == "room" and not push["seats"]["X"]["online"])
        assert away["status"] == "playing"
        await until(lambda: ana.app.session.phase == "online")
        await ana.do("enter", room, "Your move")
        await ana.do("escape r", "Playing as")
        ended = await eve.state(room=room, status="over")
        assert ended["result"]["reason"] == "resigned"


async def test_a_waiting_room_stays_open_unless_it_is_closed(server: Server, at_home: AtHome) -> None:
    async with at_home() as ana, open_peer(server.url, token=ana.client.token) as hosting:
        room = (await hosting.ask("create", clock=DAYS))["room"]
    async with at_home() as ana, open_peer(server.url, "bo") as bo:
        await ana.do("enter", room, "Waiting for another player")
        await ana.do("escape", "r close the room")
        await ana.do("enter", f"> Resume {room}")
        await ana.do("enter", room, "Waiting for another player")
        await ana.do("escape r", "> Find an opponent")
        assert await bo.refusal("join", room=room) == "no_such_room"
