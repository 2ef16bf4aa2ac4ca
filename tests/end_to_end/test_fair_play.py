from tests.end_to_end.clients import run_client
from tests.end_to_end.test_client_plain import open_room
from tests.peer import open_peer
from tictactoe_server.server import Server


async def test_a_lesson_is_shown_in_the_room_and_in_the_list_and_its_game_is_analysed(server: Server) -> None:
    options = ("--analysis", "open", "--chat", "players")
    async with run_client("new", *options, "-n", "ana", "-s", server.url) as ana, open_peer(server.url, "bo") as bo:
        told = await ana.until("Connected")
        assert told.endswith("3 by 3, 3 in a row, no clock, analysis open, players-only chat.")
        code = await open_room(ana)
        async with run_client("rooms", "-s", server.url) as rooms:
            assert "analysis open" in await rooms.until(code)
        await bo.ask("join", room=code)
        await ana.until("Your move, X.")
        await ana.ask("value", "At the start: X to move: a draw with best play.")
        async with run_client("watch", code, "-n", "eve", "-s", server.url) as eve:
            await eve.until("X's move.")
            await eve.ask("chat take the corner", "In this room only players may chat.")
