"""Ladders that close by what they measure, and rated games with a choice in the opening and with three players."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.peer import Peer
from tests.server.ratings.served import CLOCK, a_server, people
from tests.server.stored import keep, room_of
from tests.server.test_challenges import id_of, why_not
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Result
from tictactoe_server.rooms import FinishedGame
from tictactoe_server.rooms.finished import Participant
from tictactoe_server.rooms.view import rules_state
from tictactoe_server.server import Server
from tictactoe_server.storage.store import MISSING

TWO_DAYS_MS = 172_800_000
KNOWS: dict[str, Any] = {"features": ["opening", "challenges", "ratings"]}


async def keep_games(server: Server, results: list[Result], *peers: Peer) -> None:
    """Have finished rated games of `four` in the log, of the day before yesterday, and fold them; sides alternate."""
    revision, at, code = MISSING, time.time_ns() // 1_000_000 - TWO_DAYS_MS, "K7M4PR"
    for number, result in enumerate(results, 1):
        players = {mark: Participant(id_of(peers[(number + side) % 2]), mark) for side, mark in enumerate("XO")}
        game = FinishedGame(
            code, number, at + number, rules_state(PRESETS["four"]), players, (0, 1), result, rated=True
        )
        revision = await keep(server.core.store, room_of(code, number), revision, game)
    await server.ladders.folding.step()


@pytest.mark.parametrize(
    ("results", "why", "figure", "of"),
    [
        ([Result(None, "full")] * 151 + [Result("X", "line")] * 49, "undecided", 49, 200),
        ([Result("X", "line")] * 100, "advantage", None, 100),
    ],
)
async def test_a_ladder_that_measures_nothing_is_closed_and_says_so_with_its_figures(
    results: list[Result], why: str, figure: int | None, of: int
) -> None:
    async with a_server() as server, people(server, **KNOWS) as (ana, bo):
        asked: dict[str, Any] = {"rules": "four", "clock": CLOCK, "rated": True}
        room = (await ana.ask("create", **asked))["room"]
        await keep_games(server, results, ana, bo)
        closed = (await ana.ask("ratings", rules="four"))["ladder"]["closed"]
        assert (closed["reason"], closed["of"]) == (why, of)
        assert closed["figure"] == figure or (figure is None and closed["figure"] > 250)
        refused = await ana.ask("create", **asked)
        assert (refused["code"], refused["data"]) == (
            "not_allowed",
            {"why": f"ladder {why}", "figure": closed["figure"], "of": of},
        )
        for type, fields in (("match", {}), ("seek", {}), ("challenge", {"player": "bo"})):
            assert await why_not(ana, type, **asked, **fields) == ("not_allowed", f"ladder {why}")
        assert await why_not(bo, "join", room=room) == ("not_allowed", f"ladder {why}")


@pytest.mark.parametrize("taken", ["X", "O"])
async def test_where_the_opening_has_a_choice_the_side_is_that_of_who_chose(taken: str) -> None:
    async with a_server() as server, people(server, **KNOWS) as (ana, bo):
        asked: dict[str, Any] = {"rules": "four-pie", "clock": CLOCK, "rated": True}
        room = (await ana.ask("create", **asked))["room"]
        await bo.ask("join", room=room)
        await ana.ask("move", room=room, cell=5, ply=0)
        assert (await bo.ask("choose", room=room, take=taken, ply=1))["type"] == "ok"
        await ana.ask("resign", room=room)
        told = (await bo.next_of("rated"))["players"]
        assert told[id_of(bo)]["after"] > 1600 > 1400 > told[id_of(ana)]["after"]
        ladder = (await ana.ask("ratings", rules="four-pie"))["ladder"]
        assert ladder["advantage"] > 0, "who chose has won"


async def test_with_three_players_who_was_out_first_is_last() -> None:
    names, rules = ("ana", "bo", "cy"), "three-players"
    async with a_server(ladders=(rules,)) as server, people(server, names=names, **KNOWS) as (ana, bo, cy):
        room = (await ana.ask("create", rules=rules, clock=CLOCK, rated=True))["room"]
        for peer in (bo, cy):
            assert (await peer.ask("join", room=room))["type"] == "ok"
        for ply, peer in enumerate((ana, bo, cy)):
            assert (await peer.ask("move", room=room, cell=ply, ply=ply))["type"] == "ok"
        for peer in (bo, cy):
            await peer.ask("resign", room=room)
        told = [await peer.next_of("rated") for peer in (ana, bo, cy)]
        assert told[0] == told[1] == told[2]
        first, third, second = (told[0]["players"][id_of(peer)] for peer in (ana, bo, cy))
        assert {one["before"] for one in (first, second, third)} == {1500}
        assert first["after"] > 1500 > third["after"]
        assert first["after"] > second["after"] > third["after"]
        assert {one["expected"] for one in (first, second, third)} == {0.5}
        wins = [(await ana.ask("profile", player=name))["profile"]["ladders"][0]["wins"] for name in names]
        assert wins == [1, 0, 0]
