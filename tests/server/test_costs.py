"""What a request reads depends on what it is about, not on how many players the server knows."""

from functools import partial
from typing import Any, get_args

import msgspec
import pytest

from tests.peer import Peer, open_peer, play_out
from tests.server.test_forgetting import until_done
from tictactoe_protocol.names import Export, Forget
from tictactoe_protocol.requests import Hello, Request
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.challenges.blocks import BLOCKS
from tictactoe_server.people.accounts import hash_secret
from tictactoe_server.people.confusables import keys_of
from tictactoe_server.records.tables import ACCOUNTS, CLAIMS, PLAYERS, Account, Claim, KnownPlayer, today
from tictactoe_server.rooms.room import Player
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.schema import index_persons
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tools.examples import REQUEST_EXAMPLES

FEW, MANY = 100, 20_000


async def fill(store: SqliteStore, count: int) -> None:
    """Add players with a claimed name and an account each."""

    def write(numbers: range, cursor: Any, journal: Any) -> None:
        for number in numbers:
            player = Player(f"pZ{number:09}", f"Nr {number}")
            key = hash_secret(player.id)
            rows: list[tuple[TableSpec[Any], str, object]] = [
                (PLAYERS, key, KnownPlayer(player, today(), True)),
                (ACCOUNTS, player.id, Account(player, player.name)),
                (CLAIMS, keys_of(player.name)[0], Claim(player.name, player.id, today())),
            ]
            for spec, place, value in rows:
                cursor.execute(f"INSERT INTO {spec.name} VALUES (?, ?, ?)", (place, number, spec.encode(value)))
                index_persons(cursor, spec.name, place, (player.id,))

    for first in range(0, count, 500):
        await store._writer.ask(partial(write, range(first, min(first + 500, count))))


async def ask_everything(server: Server, ana: Peer) -> dict[str, int]:
    """Let a player with a name, a game and a block say one request of each kind; return SQLite's steps for each."""
    store = server.core.store
    assert isinstance(store, SqliteStore)
    steps, costs = 0, dict[str, int]()

    def count() -> None:
        nonlocal steps
        steps += 1

    store._writer._database.connection.set_progress_handler(count, 1)
    last = (Export, Forget)
    for kind in (*(kind for kind in get_args(Request) if kind not in (Hello, *last)), *last):
        steps = 0
        for request in REQUEST_EXAMPLES[kind]:
            told = msgspec.to_builtins(request) | {"id": None}
            answer = await ana.ask(told.pop("type"), **{name: value for name, value in told.items() if name != "id"})
            assert answer["type"] in ("ok", "error"), answer
        if kind is Forget:
            assert answer["type"] == "ok", answer
            await until_done(server, ana.welcome["player"])
        costs[kind.__name__] = steps
    return costs


async def costs_among(count: int) -> dict[str, int]:
    store = SqliteStore.open(None, kept_by())
    await fill(store, count)
    async with (
        Server(Settings(host="127.0.0.1", port=0, features=(BotOptions(demo=False),)), store) as server,
        open_peer(server.url, "Xylophon") as ana,
        open_peer(server.url, "bo") as bo,
    ):
        await ana.ask("claim_name", name="Xylophon")
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        await ana.ask("block", player=bo.welcome["player"], on=True)
        exported = (await ana.ask("export"))["export"]
        assert exported.keys() >= {"players", "claims", "accounts", BLOCKS.name, "rooms"}
        assert len(exported["games"]) == 1
        return await ask_everything(server, ana)


@pytest.mark.features
async def test_requests_read_no_more_with_more_players(monkeypatch: pytest.MonkeyPatch) -> None:
    async def rest(*_: object) -> None:
        """Walk no tables in the background."""

    monkeypatch.setattr("tictactoe_server.server.hourly", rest)
    monkeypatch.setattr("tictactoe_server.features.privacy.service.hourly", rest)
    few, many = await costs_among(FEW), await costs_among(MANY)
    assert few.keys() == {kind.__name__ for kind in get_args(Request)} - {"Hello"}
    assert few["Export"] > 0
    assert {kind: (few[kind], cost) for kind, cost in many.items() if cost > 1.5 * few[kind] + 300} == {}
