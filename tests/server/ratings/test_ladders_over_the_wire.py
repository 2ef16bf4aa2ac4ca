import time
from typing import Any

import pytest

from tests.peer import Peer
from tests.server.ratings.served import CLOCK, a_server, people
from tests.server.stored import keep, room_of
from tests.server.test_challenges import id_of, refusal
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import PastPlayer, Result
from tictactoe_server.features.ratings.folding import RATED
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import rules_state
from tictactoe_server.server import Server
from tictactoe_server.storage.store import MISSING

pytestmark = pytest.mark.features

TWO_DAYS_MS = 172_800_000


async def keep_games(server: Server, results: list[Result], *peers: Peer) -> None:
    """Store and fold finished rated games of `four`, played the day before yesterday with alternating sides."""
    revision, at, code = MISSING, time.time_ns() // 1_000_000 - TWO_DAYS_MS, "K7M4PR"
    for number, result in enumerate(results, 1):
        players = {mark: PastPlayer(id_of(peers[(number + side) % 2]), mark) for side, mark in enumerate("XO")}
        game = FinishedGame(
            code, number, at + number, rules_state(PRESETS["four"]), players, (0, 1), result, purpose=RATED
        )
        revision = await keep(server.core.store, room_of(code, number), revision, game)
    await server.service(Ladders).folding.step()


@pytest.mark.parametrize(
    ("results", "why", "figure", "of"),
    [
        ([Result(None, "full")] * 151 + [Result("X", "line")] * 49, "undecided", 49, 200),
        ([Result("X", "line")] * 100, "advantage", None, 100),
    ],
)
async def test_a_closed_ladder_refuses_games(results: list[Result], why: str, figure: int | None, of: int) -> None:
    async with a_server() as server, people(server) as (ana, bo):
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
        for type, fields in (("match", {}), ("challenge", {"player": "bo"})):
            assert await refusal(ana, type, **asked, **fields) == ("not_allowed", f"ladder {why}")
        assert await refusal(bo, "join", room=room) == ("not_allowed", f"ladder {why}")


@pytest.mark.parametrize("taken", ["X", "O"])
async def test_the_player_who_chose_in_the_opening_counts_as_the_first_player(taken: str) -> None:
    async with a_server() as server, people(server) as (ana, bo):
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


async def test_a_rated_game_of_three_players_is_refused_with_the_reason() -> None:
    rules = PRESETS["three-players"]
    asked: dict[str, Any] = {"clock": CLOCK, "rated": True}
    async with a_server() as server, people(server) as (ana, bo):
        for choice in ("three-players", {"rows": 4, "columns": 4, "line": 3, "marks": rules.marks}):
            for type, fields in (("create", {}), ("match", {}), ("challenge", {"player": id_of(bo)})):
                refused = await ana.ask(type, rules=choice, **asked, **fields)
                assert (refused["code"], refused["data"], refused["path"]) == (
                    *("not_allowed", {"why": "rated players"}),
                    "rules",
                )
                assert refused["message"] == "Only games of two players are rated."
