from __future__ import annotations

from msgspec.structs import replace

from tests.fakes import TroubledStore
from tests.server.stored import until_rooms
from tests.server.tables import ANA, Table
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import StoreUnavailable


async def test_rooms_that_the_store_refuses_at_start_are_loaded_once_it_answers() -> None:
    store = TroubledStore()
    for code in ("K7M4P2", "K7M4P3", "K7M4P4"):
        store.rooms.put(replace(Table(ANA).room, code=code))
    store.trouble.fail("load_all", StoreUnavailable())
    async with Server(Settings(host="127.0.0.1", port=0), store) as server:
        await until_rooms(server, 3)
