import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Trouble, TroubledStore
from tests.limits import uncounted
from tests.peer import open_peer, play_out, two_playing, until
from tests.server.nats_node import Node
from tests.server.ratings.served import HERE, RATED, RULES, a_server, people, play_each, play_rated
from tests.server.test_cluster import cluster_of
from tictactoe_protocol.ratings.glicko import Number
from tictactoe_protocol.ratings.ladder import Ladder, Player, State
from tictactoe_server.features.privacy.service import ForgetOrder
from tictactoe_server.features.ratings import folding
from tictactoe_server.features.ratings.feature import ExportRatings, UndoVerdict, VerifyRatings, VoidGame, VoidPlayer
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.features.ratings.tables import LADDERS, key_of
from tictactoe_server.operator.order import OrderRefused
from tictactoe_server.operator.people import Merge, Release
from tictactoe_server.server import Server
from tictactoe_server.storage.store import StoreUnavailable

pytestmark = pytest.mark.features


async def rated(server: Server, games: int) -> State:
    """Return the server's state once `games` games are rated."""
    kept = server.service(Ladders).folding
    await until(lambda: kept.is_loaded and kept.games == games and kept.state.entries == len(kept._log))
    return kept.state


async def snapshots(server: Server) -> list[Any]:
    return [row async for some in server.core.store.table(LADDERS).load_all() for row in some]


async def test_undoing_a_verdict_restores_the_digest() -> None:
    async with a_server() as server, people(server, names=("ana", "bo", "cy")) as (ana, bo, cy):
        await play_rated(ana, bo)
        without = (await rated(server, 1)).digest
        over = await play_rated(bo, cy)
        both = (await rated(server, 2)).digest
        await server.carry_out(VoidGame(over["game_id"], "Both were at one machine."))
        assert server.service(Ladders).folding.state.digest == without != both
        await server.carry_out(UndoVerdict(1, "They were not."))
        assert server.service(Ladders).folding.state.digest == both
        assert (await server.carry_out(VoidPlayer("cy", "A program played.")))["of"] == cy.welcome["player"]
        assert server.service(Ladders).folding.state.digest == without
        await server.carry_out(UndoVerdict(3, "It did not."))
        assert (await server.carry_out(VerifyRatings()))["digest"] == both
        for order in (VoidGame("K7M4PQ-1-1795208400000", "None."), UndoVerdict(9, "None.")):
            with pytest.raises(OrderRefused, match="There is no"):
                await server.carry_out(order)
        with pytest.raises(OrderRefused, match="dee has played no rated game"):
            await server.carry_out(VoidPlayer("dee", "None."))


async def test_ratings_are_unavailable_until_the_stored_games_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_server(data=tmp_path) as server, people(server) as (ana, bo):
        await play_rated(ana, bo)

    async def read_games(self: folding.Folding) -> None:
        raise StoreUnavailable("The disk does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(folding.Folding, "_read_games", read_games)
        async with a_server(data=tmp_path) as server, open_peer(server.url, token=ana.welcome["token"]) as ana:
            player = ana.welcome["player"]
            for question in ({"type": "profile", "player": player}, {"type": "ratings", "rules": RULES}):
                assert (await ana.ask(**question))["code"] == "unavailable"
            assert (await ana.ask("create", **RATED))["code"] == "unavailable"
            patch.undo()
            (standing,) = (await ana.ask("profile", player=player))["profile"]["ladders"]
            assert standing["wins"] == 1


async def test_games_before_the_first_rated_one_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "UNRATED_GAMES", 1)
    async with a_server(data=tmp_path) as server, two_playing(server) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        await server.service(Ladders).folding.step()
    async with a_server(data=tmp_path) as server, people(server) as (ana, bo):
        await play_rated(ana, bo)
        before = await rated(server, 1)
    async with a_server(data=tmp_path) as server:
        assert (await rated(server, 1)).digest == before.digest
        found = await server.core.store.table(LADDERS).load(key_of(0))
        assert found is not None
        assert found[0].cursor


async def test_merging_players_merges_their_games_even_if_the_server_crashes_meanwhile(store: TroubledStore) -> None:
    async with Server(HERE, store, uncounted()) as server, people(server, names=("ana", "bo", "cy")) as (ana, bo, cy):
        await play_rated(ana, bo)
        await play_rated(cy, bo)
        for room in server.core.rooms.by_code:
            await cy.ask("leave", room=room)
        await server.carry_out(Release("cy"))
        merge = Merge(cy.welcome["player"], "ana")
        store.players.trouble.hold()
        merging = asyncio.ensure_future(server.carry_out(merge))
        await store.players.trouble.until_held(1)
    merging.cancel()
    store.players.trouble = Trouble()
    async with Server(HERE, store, uncounted()) as server:
        (ladder,) = (await rated(server, 2)).ladders.values()
        assert ladder.players[ana.welcome["player"]].wins == 2
        assert cy.welcome["player"] not in ladder.players
        await server.carry_out(merge)
        async with open_peer(server.url, token=cy.welcome["token"]) as cy:
            assert cy.welcome["player"] == ana.welcome["player"]
        with pytest.raises(OrderRefused, match="There is no player"):
            await server.carry_out(merge)


@pytest.mark.parametrize("players_per_part", [1, 500])
async def test_snapshots_and_exports_forget_players(
    players_per_part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ratings.jsonl"
    monkeypatch.setattr(folding, "SNAPSHOT_GAMES", 1)
    monkeypatch.setattr("tictactoe_server.features.ratings.tables.PLAYERS_PER_PART", players_per_part)
    async with a_server(data=tmp_path) as server, people(server) as (ana, bo):
        await play_rated(ana, bo)
        await rated(server, 1)
        await server.service(Ladders).folding.step()  # waits for the step that stores the snapshot
        digest = server.service(Ladders).folding.state.digest
        answer = await server.carry_out(ForgetOrder(bo.welcome["player"]))
    async with a_server(data=tmp_path) as server:
        rows = await snapshots(server)
        assert len(rows) == 2 // min(2, players_per_part)
        assert bo.welcome["player"] not in str(rows)
        (ladder,) = (await rated(server, 1)).ladders.values()
        assert set(ladder.players) == {ana.welcome["player"], answer["stand_in"]}
        assert (await server.carry_out(VerifyRatings()))["digest"] == digest
        await server.carry_out(ExportRatings(str(file)))
        with pytest.raises(OrderRefused, match="Cannot write"):
            await server.carry_out(ExportRatings(str(file)))
    assert digest in file.read_text()
    assert bo.welcome["player"] not in file.read_text()


async def test_a_large_snapshot_is_stored_in_parts_and_loaded_again(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "SNAPSHOT_GAMES", 1)
    async with cluster_of(node, 1) as (server,), people(server) as (ana, bo):
        kept = server.service(Ladders).folding
        await until(lambda: kept.is_loaded)
        kept.state = State(ladders={RULES: Ladder({f"p{number:010}": busy_player(number) for number in range(20_000)})})
        await play_rated(ana, bo)
        await until(lambda: kept.state.entries == 1)
        await kept.step()  # waits for the step that stores the snapshot
        before = dict(kept.state.ladders[RULES].players)
        stand_in = (await server.carry_out(ForgetOrder("p0000019999")))["stand_in"]
        await until(lambda: kept.is_loaded and kept.state.entries == 1)
        after = kept.state.ladders[RULES].players
        assert len(after) == 20_002
        assert after.pop(stand_in) == before.pop("p0000019999")
        assert after == before


async def test_of_old_snapshots_every_sixteenth_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "SNAPSHOT_GAMES", 1)
    monkeypatch.setattr(folding, "KEPT_SNAPSHOTS", 4)
    monkeypatch.setattr("tictactoe_server.features.ratings.tables.PLAYERS_PER_PART", 1)
    async with a_server(data=tmp_path) as server, people(server) as (ana, bo):
        overs = await play_each(server, ana, bo, 8)
        state, kept = await rated(server, 8), server.service(Ladders).folding
        await kept.step()  # waits for the step that stores the snapshot
        keys = sorted(row.key for row in await snapshots(server))
        assert [key[:8] for key in keys] == [key_of(number) for number in (4, 4, 6, 6, 7, 7, 8, 8)], "in two parts"
        for over, undone in ((overs[6], 1), (overs[5], 3), (overs[0], 5)):
            await server.carry_out(VoidGame(over["game_id"], "Nobody was there."))
            assert (await server.carry_out(VerifyRatings()))["digest"] == kept.state.digest != state.digest
            await server.carry_out(UndoVerdict(undone, "They were."))
            assert kept.state.digest == state.digest
        times = [int(over["game_id"].rpartition("-")[2]) for over in overs]
        await server.carry_out(VoidGame(overs[5]["game_id"], "All is folded again from the fourth snapshot on."))
        assert await server.service(Ladders).folding.needed_from() == times[4]
        await play_rated(ana, bo)
        state = await rated(server, 9)
        assert await server.service(Ladders).folding.needed_from() > times[4]
    async with a_server(data=tmp_path) as server:  # with all games in the database
        await rated(server, 9)
        while await server.core.store.games.forget_before(times[5]):
            pass
        player = ana.welcome["player"]
        for order in (*(VoidGame(overs[place]["game_id"], "Late.") for place in (0, 6)), VoidPlayer(player, "Late.")):
            with pytest.raises(OrderRefused, match="no longer stored"):
                await server.carry_out(order)
    async with a_server(data=tmp_path) as server:
        assert (await rated(server, 9)).digest == state.digest


def busy_player(number: int) -> Player:
    """Return a player with every optional value, in figures as long as possible."""
    met = tuple(f"q{one:010}" for one in range(number, number + 4))
    return Player(Number(1500 + number / 7, 61 / 7, 0.06), 1795208400000, 100, 100, 100, met, (1500 / 7,) * 10)
