"""Forgotten players: no stored byte names them, while they play and after a restart."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.events import open_event
from tests.peer import Peer, open_peer, play_out, until
from tests.server.nats_node import STREAMS, empty_store, node_in
from tictactoe_server.features.backups.files import back_up, database_in, restore_backup
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.features.privacy.service import ForgetOrder, forget_again
from tictactoe_server.operator.people import BanOrder
from tictactoe_server.records.tables import FORGOTTEN, Forgotten
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.specs import TableSpec, hash_id
from tictactoe_server.storage.store import MISSING, save, values_of

pytestmark = pytest.mark.features

NAME = "Xylophon-Wolken"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0, data=tmp_path / "data")) as server:
        yield server


def traces(folder: Path, *texts: str) -> list[str]:
    files = [(path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    return [name for name, content in files if any(text.encode() in content for text in texts)]


async def live(ana: Peer, bo: Peer) -> str:
    """Claim a name, open an event, win and share a game, and begin the next, as ana; return the code of its room.

    Each of the two has challenged and blocked the other.
    """
    await ana.ask("claim_name", name=NAME)
    for request in ("challenge", "block"):
        for peer, other in ((ana, bo), (bo, ana)):
            assert (await peer.ask(request, player=other.welcome["player"]))["type"] == "ok"
    await open_event(ana, ana, kind="swiss", title="Cup")
    room: str = (await ana.ask("create"))["room"]
    await bo.ask("join", room=room)
    await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
    game = (await ana.ask("history"))["games"][0]["game_id"]
    assert "replay" in await ana.ask("share", game_id=game)
    for peer in (ana, bo):
        await peer.send("rematch", room=room)
    await bo.state(game=2)
    return room


async def is_done(server: Server, player: str) -> bool:
    found = await server.core.store.table(FORGOTTEN).load(hash_id(player))
    return found is not None and found[0].is_done


async def until_done(server: Server, player: str) -> None:
    await until(lambda: is_done(server, player))


async def test_a_player_is_forgotten_in_a_game(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_peer(server.url, "bo") as bo:
        async with open_peer(server.url, NAME) as ana:
            id, token, room = ana.welcome["player"], ana.welcome["token"], await live(ana, bo)
            assert traces(tmp_path, NAME, id), "what is looked for is there"
            assert (await ana.ask("forget"))["type"] == "ok"
            error = await ana.next_of("error")
            assert (error["code"], "has been deleted here" in error["message"]) == ("kicked", True)
        state = await bo.until(lambda told: told["type"] == "room" and "player-1" in str(told))
        (seat,) = (seat for seat in state["seats"].values() if seat["name"] != "bo")
        assert (seat["name"], seat["player"], seat["online"]) == ("player-1", "player-1", False)
        await until_done(server, id)
        back_up(database_in(tmp_path / "data"), tmp_path / "later")
        assert traces(tmp_path, NAME, id) == []
        (game,) = (await bo.ask("history"))["games"]
        assert game["players"]["X"] == {"player": "player-1", "name": "player-1"}
        assert room == game["room"]
        assert [told["how"] for told in bo.seen if told["type"] == "challenge_over"] == ["expired"] * 2
        async with open_peer(server.url, token=token) as late:
            assert late.welcome["code"] == "bad_token"
    async with open_peer(server.url, NAME) as other:
        for name in (NAME, NAME.upper()):
            refused = await other.ask("claim_name", name=name)
            assert (refused["code"], refused["data"]["why"]) == ("bad_name", "deleted")
        monkeypatch.setattr("tictactoe_server.clock.wall", lambda: time.time() + 30.1 * 86_400)
        assert (await other.ask("claim_name", name=NAME))["type"] == "ok", "the name is free"


async def test_no_token_and_no_code_lets_a_forgotten_player_in(server: Server) -> None:
    async with open_peer(server.url, NAME) as ana:
        codes = (await ana.ask("claim_name", name=NAME))["rescue"]
        link = (await ana.ask("link"))["link_code"]
        async with open_peer(server.url, link=link) as phone:
            token = phone.welcome["token"]
            await ana.ask("forget")
            for way in ({"token": token}, {"rescue": codes[0]}, {"token": ana.welcome["token"]}):
                async with open_peer(server.url, **way) as late:
                    assert late.welcome["type"] == "error", way


async def test_forgetting_outlives_a_death_and_a_backup_that_is_restored_and_a_ban_stays(tmp_path: Path) -> None:
    data = tmp_path / "data"
    settings = Settings(host="127.0.0.1", port=0, data=data)
    async with Server(settings) as server, open_peer(server.url, "bo") as bo:
        async with open_peer(server.url, NAME) as ana:
            id = ana.welcome["player"]
            await live(ana, bo)
        await server.carry_out(BanOrder(id))
        back_up(database_in(data), tmp_path / "before")
        said = await server.carry_out(ForgetOrder(NAME))
        assert said == {"player": id, "stand_in": "player-1"}
    assert traces(data, NAME) == []
    aside, *_ = restore_backup(data, tmp_path / "before")
    assert await forget_again(data, kept_by(), aside) > 0
    aside.unlink()
    assert traces(data, NAME) == []
    async with Server(settings) as server:
        assert id in str([ban.subject for ban in server.parts.bans])
        await server.core.store.table(FORGOTTEN).load(hash_id(id))


async def test_an_interrupted_deletion_is_completed_at_the_next_start(tmp_path: Path) -> None:
    settings = Settings(host="127.0.0.1", port=0, data=tmp_path / "data")
    async with Server(settings) as server, open_peer(server.url, "bo") as bo:
        async with open_peer(server.url, NAME) as ana:
            id = ana.welcome["player"]
            await live(ana, bo)
        kept = server.core.store.table(FORGOTTEN)
        await save(kept, hash_id(id), Forgotten("player-1"), MISSING)
    async with Server(settings) as server:
        await until_done(server, id)
    assert traces(tmp_path, NAME, id) == []


async def test_the_opponent_of_a_player_whose_erasure_a_crash_interrupted_can_claim(tmp_path: Path) -> None:
    settings = Settings(host="127.0.0.1", port=0, data=tmp_path / "data", hold_seconds=0)
    async with Server(settings) as server, open_peer(server.url, "bo") as bo, open_peer(server.url, NAME) as ana:
        id, room = ana.welcome["player"], await live(ana, bo)
        await save(server.core.store.table(FORGOTTEN), hash_id(id), Forgotten("player-1"), MISSING)
        back_up(database_in(tmp_path / "data"), tmp_path / "crashed")
    restore_backup(tmp_path / "again", tmp_path / "crashed")
    async with Server(replace(settings, data=tmp_path / "again")) as server:
        await until_done(server, id)
        async with open_peer(server.url, token=bo.welcome["token"]) as bo:
            await bo.ask("join", room=room)
            assert (await bo.ask("claim", room=room, **{"as": "win"}))["type"] == "ok"


async def test_an_export_has_all_data_in_pages(server: Server) -> None:
    async with open_peer(server.url, "bo") as bo, open_peer(server.url, NAME) as ana:
        room = await live(ana, bo)
        first = await ana.ask("export")
        found, games = first["export"], first["export"]["games"]
        assert [game["room"] for game in games] == [room]
        tables = ["rooms", "players", "claims", "accounts", "shares", "events", "blocks", "challenges"]
        assert {*found} == {"player", "games", *tables}
        ids = [peer.welcome["player"] for peer in (ana, bo)]
        assert found["blocks"] == [{"player": ids[0], "blocked": ids[1:]}]
        assert [challenge["player"] for challenge in found["challenges"]] == ids[:1]
        assert {"until", "how", "answer", "room"}.isdisjoint(found["challenges"][0])
        assert found["accounts"][0]["claimed"] == NAME
        assert "salt" not in str(found)
        assert (await ana.ask("export", before=first["before"]))["export"] == {"games": []}


async def test_erasures_are_answered_at_once_and_done_together(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    scrubs, may_end = [], asyncio.Event()

    async def scrub() -> None:
        scrubs.append(1)
        await may_end.wait()

    monkeypatch.setattr(server.core.store, "scrub", scrub)
    async with AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url)) for _ in range(6)]
        for peer in peers:
            assert (await peer.ask("forget"))["type"] == "ok"
        may_end.set()
        for peer in peers:
            await until_done(server, peer.welcome["player"])
    assert len(scrubs) <= 2
    known = [kept async for _, kept, _ in values_of(server.core.store.table(FORGOTTEN))]
    assert sorted(kept.number for kept in known) == [1, 2, 3, 4, 5, 6]


async def names_in_history(peer: Peer) -> list[str]:
    """Return the names of the first players in a player's history."""
    return [game["players"]["X"]["name"] for game in (await peer.ask("history"))["games"]]


@pytest.mark.parametrize("spec", kept_by().tables, ids=lambda spec: spec.name)
def test_tables_with_player_ids_declare_the_persons(spec: TableSpec[Any]) -> None:
    assert spec.persons is not None, "say NOBODY, or whom"


async def test_no_file_of_a_cluster_names_a_forgotten_player(tmp_path: Path) -> None:
    (tmp_path / "node").mkdir()
    with node_in(tmp_path / "node") as node:
        await (await empty_store(node, specs=kept_by())).close()
        terms = Settings(host="127.0.0.1", port=0, features=(ClusterOptions(store=node.url, store_unsafe=True),))
        one, two = (replace(terms, data=tmp_path / name) for name in ("one", "two"))
        async with Server(one) as first, Server(two) as second, open_peer(second.url, "bo") as bo:
            async with open_peer(second.url, NAME) as ana:
                id = ana.welcome["player"]
                await live(ana, bo)
                for _ in range(STREAMS):  # rooms take turns, so that each stream has one of these
                    room = (await ana.ask("create"))["room"]
                    await bo.ask("join", room=room)
                    await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
                assert len((await ana.ask("export"))["export"]["games"]) == 1 + STREAMS
            async with open_peer(first.url, token=bo.welcome["token"]) as elsewhere:
                assert await names_in_history(elsewhere) == [NAME] * (1 + STREAMS)
                await first.carry_out(ForgetOrder(id))
                await bo.until(lambda told: told["type"] == "room" and "player-1" in str(told))
                assert await names_in_history(elsewhere) == ["player-1"] * (1 + STREAMS)
            assert await names_in_history(bo) == ["player-1"] * (1 + STREAMS)
        assert traces(tmp_path, NAME, id) == []
