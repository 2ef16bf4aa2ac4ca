"""Requests while the store is down, slow or wrong: a clear answer, a live connection, nothing unstored is shown."""

import pytest

from tests.fakes import TroubledStore
from tests.peer import open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import CannotOpenStore, Conflict, StoreUnavailable, Unreadable

ALWAYS = 1_000_000


@pytest.mark.parametrize(
    ("error", "code"),
    [(Conflict(), "busy"), (StoreUnavailable(), "unavailable"), (RuntimeError("a bug"), "internal")],
)
async def test_an_unsaved_move_is_refused(troubled: Server, store: TroubledStore, error: Exception, code: str) -> None:
    """Once the store has recovered, the move is accepted."""
    async with two_playing(troubled) as (ana, bo, room):
        store.trouble.fail("save", error, times=ALWAYS)
        refused = await ana.ask("move", room=room, cell=4, ply=0)
        assert (refused["type"], refused["code"], refused["room"]) == ("error", code, room)
        assert (refused.get("retry_ms", 0) > 0) == (code != "internal")
        assert "a bug" not in refused["message"]
        store.trouble.heal()
        await bo.ask("sync", room=room)
        assert (await bo.state())["ply"] == 0
        assert (await ana.ask("move", room=room, cell=4, ply=0))["type"] == "ok"
        assert (await bo.state(ply=1))["seq"] == 3


async def test_a_start_fails_with_its_reason_although_the_store_does_not_close(
    store: TroubledStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse() -> None:
        raise StoreUnavailable("The disk does not answer.")

    monkeypatch.setattr(store, "noted_time", refuse)
    monkeypatch.setattr(store, "close", refuse)
    with pytest.raises(CannotOpenStore, match="The disk does not answer"):
        async with Server(Settings(host="127.0.0.1", port=0), store):
            pass


async def test_watching_and_reading_go_on_while_the_store_is_away(troubled: Server, store: TroubledStore) -> None:
    async with two_playing(troubled) as (_, _, room), open_peer(troubled.url) as eve:
        for operation in ("load", "save", "delete"):
            store.trouble.fail(operation, StoreUnavailable(), times=ALWAYS)
        assert (await eve.ask("watch", room=room))["type"] == "ok"
        assert (await eve.ask("rooms"))["rooms"][0]["room"] == room
        assert (await eve.ask("sync", room=room))["type"] == "ok"
        assert await eve.refusal("create") == "unavailable"
        assert await eve.refusal("match") == "unavailable"
        assert await eve.refusal("join", room="ZZZZZZ") == "no_such_room", "all that there are are here"
        store.trouble.heal()


async def test_a_hello_while_the_store_is_away_can_be_said_again(troubled: Server, store: TroubledStore) -> None:
    store.players.trouble.fail("save", StoreUnavailable())
    async with open_peer(troubled.url, "ana") as ana:
        assert (ana.welcome["type"], ana.welcome["code"]) == ("error", "unavailable")
        assert (await ana.ask("hello", name="ana"))["type"] == "welcome"


async def test_a_room_whose_document_is_damaged_harms_no_other(troubled: Server, store: TroubledStore) -> None:
    async with two_playing(troubled) as (ana, bo, room), two_playing(troubled) as (cy, di, other):
        store.trouble.before_next_save(lambda: store.rooms.put(store.rooms.now(room)))
        store.trouble.fail("load", Unreadable("damaged"), key=room, times=ALWAYS)
        assert await ana.refusal("move", room=room, cell=4, ply=0) == "internal"
        assert await bo.refusal("resign", room=room) == "internal"
        await play_out({"X": cy, "O": di}, other, [4, 0])


@pytest.mark.parametrize("type", ["leave", "resign"])
async def test_a_replaced_connection_does_nothing_more(troubled: Server, store: TroubledStore, type: str) -> None:
    async with (
        two_playing(troubled) as (ana, bo, room),
        open_peer(troubled.url) as eve,
        open_peer(troubled.url, token=ana.welcome["token"]) as newer,
    ):
        await play_out({"X": ana, "O": bo}, room, [4])
        store.trouble.hold()
        await bo.send("move", room=room, cell=0, ply=1)
        await store.trouble.until_held(1)
        await newer.send("join", id="join", room=room)
        for _ in range(2):  # an answer to a later request shows that the join is waiting for its turn
            await eve.ask("ping")
        await ana.send(type, id="late", room=room)
        for _ in range(2):
            await eve.ask("ping")
        store.trouble.release()
        assert (await newer.until(lambda message: message.get("id") == "join"))["seat"] == "X"
        late = await ana.until(lambda message: message.get("id") == "late")
        assert (late["type"], late.get("code")) == ("error", "not_in_room")
        assert (await newer.ask("move", room=room, cell=1, ply=2))["type"] == "ok"
        assert (await bo.state(ply=3))["status"] == "playing"
