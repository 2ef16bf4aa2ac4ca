"""Whole games over real sockets, with peers that know only the wire."""

from __future__ import annotations

import pytest

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


async def test_quick_match_joins_the_oldest_room_of_the_same_rules(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo, open_peer(server.url) as cy:
        first = await ana.ask("match", rules="gomoku")
        other = await cy.ask("match", rules="classic")
        second = await bo.ask("match", rules={"rows": 15, "columns": 15, "line": 5})
        assert (first["seat"], second["seat"]) == ("X", "O")
        assert second["room"] == first["room"] != other["room"]


async def test_a_rematch_moves_the_marks_on_and_counts_the_score(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        room = (await ana.ask("match"))["room"]
        await bo.ask("match")
        await ana.state(status="playing")
        assert (await play_out({"X": ana, "O": bo}, room, DRAWN))["result"]["reason"] == "full"
        await ana.ask("rematch", room=room)
        assert (await bo.state(status="over", offers={"draw": None, "undo": None, "rematch": ["X"]}))["game"] == 1
        await bo.ask("rematch", room=room)
        again = await ana.state(game=2)
        assert again["seats"]["X"]["name"] == "bo"
        assert again["seats"]["O"]["name"] == "ana"
        assert (again["board"], again["ply"], again["score"]["draws"]) == (".........", 0, 1)
        await bo.state(game=2)
        last = await play_out({"X": bo, "O": ana}, room, LINE_FOR_X)
        assert last["score"] == {ana.welcome["player"]: 0, bo.welcome["player"]: 1, "draws": 1}


@pytest.mark.parametrize(
    ("rules", "cells", "winner", "line"),
    [
        ("blocker", [0, 1, 2, 3, 5, 6, 8], "X", [2, 5, 8]),
        ("misere", [0, 3, 1, 4, 2], "O", [0, 1, 2]),
        ("four", [0, 4, 1, 5, 2, 6, 3], "X", [0, 1, 2, 3]),
        ("connect-four", [35, 36, 28, 29, 21, 22, 14], "X", [14, 21, 28, 35]),
        ("gomoku", [0, 15, 1, 16, 2, 17, 3, 18, 4], "X", [0, 1, 2, 3, 4]),
    ],
)
async def test_every_preset_for_two_ends_with_its_winner(
    server: Server, rules: str, cells: list[int], winner: str, line: list[int]
) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        room = (await ana.ask("create", rules=rules))["room"]
        await bo.ask("join", room=room)
        state = await ana.state(status="playing")
        assert state["rules"]["preset"] == rules
        last = await play_out({"X": ana, "O": bo}, room, cells)
        assert last["result"] == {"winner": winner, "reason": "line", "line": line}


async def test_three_play_on_after_one_resigned_and_the_last_one_left_wins(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo, open_peer(server.url) as cy:
        room = (await ana.ask("create", rules="three-players"))["room"]
        await bo.ask("join", room=room)
        assert (await ana.state(seq=2))["status"] == "waiting"
        assert (await cy.ask("join", room=room))["seat"] == "A"
        await ana.state(status="playing")
        await ana.send("move", room=room, cell=0, ply=0)
        await bo.ask("resign", room=room)
        assert (await cy.state(ply=1, turn="A"))["result"] is None
        await cy.send("move", room=room, cell=1, ply=1)
        assert (await ana.state(ply=2))["turn"] == "X"
        await ana.ask("leave", room=room)
        last = await cy.state(status="over")
        assert last["result"] == {"winner": "A", "reason": "resigned", "line": [], "left": True}
        assert last["seats"]["X"]["left"] is True
