import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.peer import open_peer, until
from tests.server.ratings.served import CLOCK, RATED, RULES, a_server, begin, people, play_rated
from tests.server.test_challenges import id_of
from tests.server.test_pages import get
from tictactoe_protocol.ratings.glicko import Number
from tictactoe_server.features.ratings.feature import RatingOptions
from tictactoe_server.features.ratings.service import Ladders

pytestmark = pytest.mark.features


async def test_a_rated_game_changes_both_ratings_and_is_pushed_to_players_and_watchers() -> None:
    async with a_server() as server, people(server) as (ana, bo), open_peer(server.url, "eve", language="de") as eve:
        opened = await ana.ask("create", **RATED)
        assert opened["rated"] is True
        (row,) = (await bo.ask("rooms"))["rooms"]
        assert row["rated"] is True
        await ana.ask("leave", room=opened["room"])
        room = await begin(ana, bo)
        await eve.ask("watch", room=room)
        for peer, cell, ply in ((ana, 35, 0), (bo, 36, 1)):
            await peer.ask("move", room=room, cell=cell, ply=ply)
        await bo.ask("resign", room=room)
        told = [await peer.next_of("rated") for peer in (ana, bo, eve)]
        assert told[0] == told[1] == told[2]
        assert (told[0]["room"], told[0]["game"], told[0]["rules"]) == (room, 1, RULES)
        mine, theirs = (told[0]["players"][peer.welcome["player"]] for peer in (ana, bo))
        assert (mine["before"], mine["expected"], mine["provisional"]) == (1500, 0.5, True)
        assert mine["after"] > 1600
        assert theirs["after"] < 1400
        ladder = (await ana.ask("ratings", rules=RULES))["ladder"]
        assert (ladder["games"], ladder["decided"]) == (1, 1.0)
        assert [(row["name"], row["place"]) for row in ladder["rows"]] == [("ana", None), ("bo", None)]
        profile = (await bo.ask("profile", player=ana.welcome["player"]))["profile"]
        assert (profile["name"], profile["ladders"][0]["wins"]) == ("ana", 1)
        assert (profile["ladders"][0]["provisional"], "place" in profile["ladders"][0]) == (True, False)
        assert profile["ladders"][0]["rating"] == round(mine["after"], 1)
        assert profile["with"] == {"wins": 0, "draws": 0, "losses": 1, "last": profile["games"][0]["at"]}
        assert profile["text"] == "You and ana: 0 won, 0 drawn, 1 lost."
        assert (await eve.ask("ratings", rules=RULES))["ladder"]["text"] == ["1 gewertete Partie."]


@pytest.mark.parametrize(
    ("terms", "code", "why", "path"),
    [
        ({"clock": None}, "bad_clock", "rated", "clock"),
        ({"visibility": "private"}, "not_allowed", "rated room", "visibility"),
        ({"analysis": "open"}, "not_allowed", "rated room", "analysis"),
        ({"bots": ["random"]}, "not_allowed", "rated room", "bots"),
        ({"guests": ["Bo"]}, "not_allowed", "rated room", "guests"),
        ({"rules": "classic"}, "not_allowed", "ladder", "rules"),
    ],
)
async def test_a_rated_room_needs_suitable_terms(terms: dict[str, Any], code: str, why: str, path: str) -> None:
    async with a_server() as server, people(server, names=("ana",)) as (ana,):
        refused = await ana.ask("create", **RATED | terms)
        assert (refused["code"], refused["data"]["why"], refused["path"]) == (code, why, path)


async def test_a_rated_game_needs_a_claimed_name() -> None:
    async with a_server() as server, people(server, names=("ana",)) as (ana,), open_peer(server.url, "guest") as guest:
        assert (await guest.ask("create", **RATED))["data"]["why"] == "rated name"
        room = (await ana.ask("create", **RATED))["room"]
        assert (await guest.ask("join", room=room))["data"]["why"] == "rated name"
        assert (await guest.ask("match", **RATED))["data"]["why"] == "rated name"
        assert (await guest.ask("watch", room=room))["type"] == "ok"


@pytest.mark.parametrize("terms", [{"features": (RatingOptions(ladders=()),)}, {"lobby": "marks"}])
async def test_a_server_without_ladders_refuses_rated_games_and_pages(terms: dict[str, Any]) -> None:
    async with a_server(**terms) as server, open_peer(server.url, "ana") as ana:
        assert ana.welcome["ladders"] == []
        assert ("challenges" in ana.welcome) is ("lobby" not in terms)
        for asked in (
            await ana.ask("create", **RATED),
            await ana.ask("match", **RATED),
            await ana.ask("ratings", rules=RULES),
            await ana.ask("profile", player=ana.welcome["player"]),
        ):
            assert asked["data"] == {"why": "ladders off"}
        assert json.loads((await get(server, "/api/ladders")).body) == {"ladders": []}
        for path in (f"/api/ladders/{RULES}", f"/ladder/{RULES}", f"/api/players/{ana.welcome['player']}"):
            assert (await get(server, path)).status == 404


async def test_a_player_with_a_claimed_name_has_a_profile_before_the_first_rated_game() -> None:
    async with a_server() as server, people(server, names=("ana",)) as (ana,), open_peer(server.url, "guest") as guest:
        assert RULES in ana.welcome["ladders"]
        empty = {"player": ana.welcome["player"], "name": "ana", "ladders": [], "games": []}
        for asked in (ana.welcome["player"], "ana", "Ana"):
            assert (await guest.ask("profile", player=asked))["profile"] == empty
        assert json.loads((await get(server, f"/api/players/{ana.welcome['player']}")).body) == empty
        for asked in (guest.welcome["player"], "nobody"):
            refused = await ana.ask("profile", player=asked)
            assert (refused["code"], refused["data"]) == ("not_allowed", {"why": "player", "player": asked})


async def test_a_rated_match_leads_to_the_nearest_waiting_rating() -> None:
    names = ("ana", "bo", "cy", "dee", "eve")
    async with a_server() as server, people(server, names=names) as (ana, bo, cy, dee, eve):
        await play_rated(ana, bo)
        await play_rated(dee, cy)
        ladders = server.service(Ladders)
        await until(lambda: ladders.folding.state.ladders and ladders.folding.state.ladders[RULES].games == 2)
        rooms = {peer: (await peer.ask("create", **RATED))["room"] for peer in (bo, eve, ana, cy)}
        assert (await dee.ask("match", **RATED))["room"] == rooms[ana]


async def test_the_row_of_a_waiting_rated_room_has_its_hosts_rating() -> None:
    async with a_server() as server, people(server) as (ana, bo):
        await ana.ask("create", rules=RULES, clock=CLOCK)
        room = (await ana.ask("create", **RATED))["room"]
        unrated, waiting = sorted((await bo.ask("rooms"))["rooms"], key=lambda row: row.get("rated", False))
        assert "host_rating" not in unrated
        assert (waiting["host_rating"], waiting["host_provisional"]) == (1500, True)
        await ana.ask("leave", room=room)
        await play_rated(ana, bo)
        await until(lambda: server.service(Ladders).folding.state.entries == 1)
        known = server.service(Ladders).folding.state.ladders[RULES].players
        known[id_of(ana)] = replace(known[id_of(ana)], number=Number(1623.4, 60), opponents=("a", "b"))
        room = (await ana.ask("create", **RATED))["room"]
        (row,) = [row for row in (await bo.ask("rooms"))["rooms"] if row["room"] == room]
        assert (row["host_rating"], "host_provisional" in row) == (1623, False)
        await bo.ask("join", room=room)
        (row,) = [row for row in (await bo.ask("rooms"))["rooms"] if row["room"] == room]
        assert "host_rating" not in row


async def test_a_rated_game_has_no_takeback_early_draw_or_rematch() -> None:
    async with a_server() as server, people(server) as (ana, bo):
        room = await begin(ana, bo)
        await ana.ask("move", room=room, cell=35, ply=0)
        assert (await ana.ask("undo", room=room, action="offer"))["data"]["why"] == "rated undo"
        assert (await ana.ask("draw", room=room, action="offer"))["data"]["why"] == "rated draw"
        await bo.ask("move", room=room, cell=36, ply=1)
        await bo.ask("resign", room=room)
        assert (await bo.ask("rematch", room=room))["data"]["why"] == "rated rematch"
