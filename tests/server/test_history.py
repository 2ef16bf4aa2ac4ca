from pathlib import Path

from tests.peer import Peer, open_peer, play_out, two_playing
from tests.server.test_limits import serving
from tictactoe_engine.records import parse_record
from tictactoe_server.server import Server

LINE_FOR_X = [0, 3, 1, 4, 2]


async def test_a_game_that_does_not_exist_is_refused(eve: Peer) -> None:
    for id in ("K7M4PQ-1-1795208400000", "999", "0", "-1", "x", "١"):
        refused = await eve.ask("record", game_id=id)
        assert (refused["code"], refused["path"]) == ("not_allowed", "game_id")
    assert (await eve.ask("history", before="x"))["code"] == "not_allowed"


async def test_a_finished_state_has_the_id_of_its_game_which_is_public_if_the_room_is(tmp_path: Path) -> None:
    async with serving(data=tmp_path) as server, two_playing(server) as (ana, bo, room):
        async with open_peer(server.url, "eve") as eve:
            await eve.ask("watch", room=room)
            over = await play_out({"X": ana, "O": bo}, room, LINE_FOR_X)
            id = (await eve.state(status="over"))["game_id"]
            assert (over["game_id"], id.startswith(f"{room}-1-")) == (id, True)
            told = await eve.ask("record", game_id=id)
            assert parse_record(told["record"]).moves == tuple(LINE_FOR_X)
            assert (await eve.ask("share", game_id=id))["code"] == "not_allowed"
            for wrong in (f"{room}-1-1", f"{room}-2-{id.rpartition('-')[2]}", f"{room}-0-0"):
                assert (await eve.ask("record", game_id=wrong))["code"] == "not_allowed"
        await ana.ask("rematch", room=room)
        await bo.ask("rematch", room=room)
        assert "game_id" not in await ana.state(game=2)
        await ana.ask("resign", room=room)
        assert "game_id" not in await ana.state(game=2, status="over")  # it was aborted, and is not kept
    async with serving(data=tmp_path) as after, open_peer(after.url) as eve:
        assert parse_record((await eve.ask("record", game_id=id))["record"]).moves == tuple(LINE_FOR_X)


async def test_a_game_of_a_private_room_is_for_its_players_alone_under_its_id_too(server: Server) -> None:
    async with two_playing(server, visibility="private") as (ana, bo, room), open_peer(server.url) as eve:
        await eve.ask("watch", room=room)
        id = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X))["game_id"]
        assert (await eve.ask("record", game_id=id))["code"] == "not_allowed"
        assert (await bo.ask("record", game_id=id))["played"]["room"] == room
        assert (await bo.ask("history"))["games"][0]["game_id"] == id
