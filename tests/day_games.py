"""Games over days for tests of the clients."""

from tests.peer import open_peer
from tictactoe_server.server import Server

DAYS = {"days": 3, "bank_days": 2}


async def begin(server: Server, token: str, count: int = 1) -> list[str]:
    """Begin games over days in which the player with this token is to move, and return the rooms."""
    rooms = list[str]()
    async with open_peer(server.url, token=token) as ana, open_peer(server.url, "bo") as bo:
        for _ in range(count):
            room = (await ana.ask("create", clock=DAYS, seat="X"))["room"]
            rooms.append(room)
            await bo.ask("join", room=room)
            await ana.state(room=room, status="playing")
    return rooms
