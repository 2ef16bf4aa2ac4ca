"""A server that is killed and started again: every room is back, and nobody is where they are not."""

from __future__ import annotations

from dataclasses import replace as replace_fields

from msgspec.structs import replace

from tests.fakes import TroubledStore
from tests.peer import open_peer
from tests.server.stored import rooms_in, until_rooms
from tests.server.tables import ANA, Table
from tictactoe_server.records.tables import PLAYERS
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import StoreUnavailable

SETTINGS = Settings(host="127.0.0.1", port=0)


async def left_by_a_kill(store: TroubledStore) -> TroubledStore:
    """Return a store with what this one has now."""
    copy = TroubledStore()
    for room in (await rooms_in(store)).values():
        copy.rooms.put(room)
    copy.tables[PLAYERS.name] = store.players
    return copy


async def test_rooms_that_the_store_refuses_at_first_come_back_once_it_gives_them() -> None:
    store = TroubledStore()
    for code in ("K7M4P2", "K7M4P3", "K7M4P4"):
        store.rooms.put(replace(Table(ANA).room, code=code))
    store.trouble.fail("load_all", StoreUnavailable())
    async with Server(SETTINGS, store) as server:
        await until_rooms(server, 3)


async def test_a_return_that_cannot_be_stored_brings_back_nobody_else_and_no_older_state() -> None:
    store = TroubledStore()
    async with (
        Server(SETTINGS, store) as server,
        open_peer(server.url, "ana") as ana,
        open_peer(server.url, "bo") as bo,
    ):
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        store = await left_by_a_kill(store)
    async with Server(SETTINGS, store) as server, open_peer(server.url, "eve") as eve:
        await eve.ask("watch", room=room)
        seen = [await eve.state()]
        assert [seat["online"] for seat in seen[0]["seats"].values()] == [False, False]
        async with open_peer(server.url, token=ana.welcome["token"]) as ana:
            store.trouble.fail("save", StoreUnavailable())
            assert await ana.refusal("join", room=room) == "unavailable"
            assert (await ana.ask("join", room=room))["type"] == "ok"
            state = await ana.state()
            assert {mark: seat["online"] for mark, seat in state["seats"].items()} == {"X": True, "O": False}
        await eve.state(seq=state["seq"] + 1)
        numbers = [message["seq"] for message in eve.seen if message["type"] == "room"]
        assert numbers == sorted(numbers)


async def test_a_game_against_a_bot_goes_on_after_a_kill_whoevers_move_it_was() -> None:
    settings = replace_fields(SETTINGS, bot_pause_seconds=0, bot_workers=1)
    slow = replace_fields(SETTINGS, bot_pause_seconds=60, bot_workers=1)
    store = TroubledStore()
    async with Server(slow, store) as server, open_peer(server.url, "ana") as ana:
        waits_for_bot = (await ana.ask("create", bots=["rules"]))["room"]
        waits_for_ana = (await ana.ask("create", bots=["rules"]))["room"]
        await ana.ask("move", room=waits_for_bot, cell=4, ply=0)
        store = await left_by_a_kill(store)
    async with Server(settings, store) as server, open_peer(server.url, token=ana.welcome["token"]) as ana:
        assert {entry["room"] for entry in ana.welcome["rooms"]} == {waits_for_bot, waits_for_ana}
        for room, cell, ply in ((waits_for_bot, None, 2), (waits_for_ana, 0, 2)):
            await ana.ask("join", room=room)
            if cell is not None:
                await ana.ask("move", room=room, cell=cell, ply=0)
            state = await ana.state(room=room, ply=ply)
            assert state["turn"] == "X"
            assert (state["seats"]["O"]["bot"], state["seats"]["O"]["online"]) == ("rules", True)
