import json

import pytest

from tests.peer import until
from tests.server.ratings.served import RULES, a_server, people, play_rated
from tests.server.test_pages import get
from tictactoe_protocol.rated import LadderClosing, LadderRow, LadderState
from tictactoe_server.features.ratings.pages import describe_ladder
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.http.texts import format_csv

pytestmark = pytest.mark.features


async def test_ladders_and_players_are_served_as_json_csv_and_text() -> None:
    async with a_server() as server, people(server) as (ana, bo):
        over = await play_rated(ana, bo)
        await until(lambda: server.service(Ladders).folding.state.entries == 1)
        assert RULES in json.loads((await get(server, "/api/ladders")).body)["ladders"]
        ladder = json.loads((await get(server, f"/api/ladders/{RULES}")).body)
        assert (ladder["rules"], ladder["games"], len(ladder["rows"])) == (RULES, 1, 2)
        table = await get(server, f"/api/ladders/{RULES}.csv")
        title, *rows = table.body.decode("utf-8-sig").splitlines()
        assert title == "place,player,name,rating,deviation,games,trend"
        assert [row[:2] for row in rows] == [",p", ",p"], "provisional ratings have no place"
        player = json.loads((await get(server, f"/api/players/{ana.welcome['player']}")).body)
        assert (player["name"], player["games"][0]["game_id"], "with" in player) == ("ana", over["game_id"], False)
        page = (await get(server, f"/player/{ana.welcome['player']}")).body.decode().splitlines()
        assert (page[0], page[2].partition(",")[0], page[2][-10:]) == ("ana", RULES, "-, 1, 0, 0")
        assert "1 rated game." in (await get(server, f"/ladder/{RULES}")).body.decode()
        first = (await get(server, f"/ladder/{server.service(Ladders).presets[0]}")).body
        assert (await get(server, "/ladder/")).body == first
        await ana.ask("claim_name", name="Björn B")
        named = json.loads((await get(server, "/api/players/Bj%C3%B6rn%20B")).body)
        assert named["player"] == ana.welcome["player"]
        for path in ("/api/ladders/classic", "/ladder/classic", "/api/players/nobody", "/player/a%00b"):
            assert (await get(server, path)).status == 404


def test_the_text_of_a_ladder_has_a_line_for_each_player_and_the_reason_of_its_closing() -> None:
    row = LadderRow(1, "p5K2", "ana", 1623.4, 61.2, 48, 12.5)
    lines = describe_ladder(LadderState(RULES, (row,), 812, 71.3, 0.1, LadderClosing("undecided", 20, 200)))
    assert lines == [
        "connect-four",
        "812 rated games. The first move is worth 71 points; 10 % of the last games were",
        "decided.",
        "closed: too few games are decided (20 of 200)",
        "",
        "place  player                         rating  games  trend",
        "    1  ana                         1623 ±122     48    +12",
    ]
    lines = describe_ladder(LadderState(RULES, (), 120, 263.4, 0.9, LadderClosing("advantage", 263, 120)))
    assert "263 points after 120 games" in lines[-1]


def test_a_name_in_a_csv_file_is_never_a_formula() -> None:
    assert format_csv([(1, "=1+1", -12.5)]).decode("utf-8-sig") == "1,'=1+1,-12.5\r\n"
