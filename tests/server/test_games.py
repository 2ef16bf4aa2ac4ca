"""Whole games over real sockets, with peers that know only the wire."""

from __future__ import annotations

from tests.peer import open_peer, play_out
from tictactoe_server.server import Server

LINE_FOR_X = [0, 3, 1, 4, 2]
DRAWN = [0, 1, 2, 4, 3, 5, 7, 6, 8]


async def test_two_play_and_a_third_watches_from_the_middle(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo, open_peer(server.url) as eve:
        opened = await ana.ask("create")
        room = opened["room"]
        assert (opened["seat"], opened["moves"]) == ("X", [])
        joined = await bo.ask("join", room=room.lower())
        assert (joined["room"], joined["seat"]) == (room, "O")
        await ana.state(status="playing")
        await play_out({"X": ana, "O": bo}, room, LINE_FOR_X[:2])
        watched = await eve.ask("watch", room=room)
        assert (watched["seat"], watched["moves"]) == (None, LINE_FOR_X[:2])
        first = await eve.state()
        assert (first["board"], first["turn"], first["watchers"]) == ("X..O.....", "X", 1)
        last = await play_out({"X": ana, "O": bo}, room, LINE_FOR_X[2:], first_ply=2)
        assert last["result"] == {"winner": "X", "reason": "line", "line": [0, 1, 2]}
        assert last["status"] == "over"
        assert last["turn"] is None
        assert last["score"] == {ana.welcome["player"]: 1, bo.welcome["player"]: 0, "draws": 0}
        assert (await eve.state(status="over")) == last
