"""Seasons between two days and ladders of bots: what they show, and what is refused."""

from __future__ import annotations

import asyncio
import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.peer import until
from tests.server.ratings.served import RULES, a_server, people, play_rated
from tests.server.test_pages import get
from tictactoe_engine import PRESETS
from tictactoe_engine.records import GameRecord, GameResult, format_record
from tictactoe_server.admin.orders.order import OrderRefused
from tictactoe_server.admin.orders.people import ForgetOrder
from tictactoe_server.admin.orders.ratings import ImportCups, ShowSeason, VoidPlayer
from tictactoe_server.ratings import seasons
from tictactoe_server.rooms import Refused

TODAY = datetime.now(UTC).date()
TOMORROW, YESTERDAY = TODAY + timedelta(days=1), TODAY - timedelta(days=1)
"""Between yesterday and tomorrow lies now, also where a test runs at midnight."""
SPAN = f"from={YESTERDAY}&to={TOMORROW}"


async def test_a_season_is_all_games_between_two_days_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "season.csv"
    async with a_server() as server, people(server, names=("ana", "bo", "cy")) as (ana, bo, cy):
        for _ in range(3):
            await play_rated(ana, bo)
        await play_rated(bo, cy)
        await until(lambda: server.ladders.folding.games == 4)
        season = json.loads((await get(server, f"/api/ladders/{RULES}?{SPAN}")).body)
        assert (season["rules"], season["games"]) == (RULES, 4)
        assert [(row["place"], row["name"], row["games"]) for row in season["rows"]] == [
            *((1, "ana", 3), (2, "bo", 4), (3, "cy", 1))
        ]
        assert season["rows"][0]["rating"] > 1500 > season["rows"][2]["rating"]
        assert season["rows"][2]["error"] > season["rows"][1]["error"] > 100, "of fewer games less is known"
        table = (await get(server, f"/api/ladders/{RULES}.csv?{SPAN}")).body.decode("utf-8-sig")
        assert [row["name"] for row in csv.DictReader(table.splitlines())] == ["ana", "bo", "cy"]
        text = (await get(server, f"/ladder/{RULES}?{SPAN}")).body.decode()
        assert f"{RULES}: 4 games" in text
        assert "3 games" in text
        assert json.loads((await get(server, f"/api/ladders/{RULES}?to={YESTERDAY}")).body)["rows"] == []
        order = ShowSeason(RULES, str(YESTERDAY), str(TOMORROW))
        shown = order.describe(await server.carry_out(order)).splitlines()
        assert (shown[0], shown[2].split()[:2]) == (f"{RULES}: 4 games", ["1", "ana"])
        await server.carry_out(ShowSeason(RULES, csv=str(file)))
        assert file.read_text().splitlines()[1].startswith("1,")
        await server.carry_out(VoidPlayer(cy.welcome["player"], "A program played."))
        await server.carry_out(ForgetOrder(bo.welcome["player"]))
        again = await server.ladders.seasons.measure(RULES, (1, 2**53))
        assert (again.games, len(again.rows)) == (3, 2)


async def test_a_season_is_refused_where_it_cannot_be_reckoned(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_server() as server, people(server) as (ana, bo):
        await play_rated(ana, bo)
        over = await play_rated(ana, bo)
        await until(lambda: server.ladders.folding.games == 2)
        for query in ("from=yesterday", "to=2026-1-1x", f"from={TOMORROW}&to={YESTERDAY}", "from=2026-02-30"):
            answer = await get(server, f"/api/ladders/{RULES}?{query}")
            assert (answer.status, b"as in 2026-01-31" in answer.body) == (404, True)
        assert (await get(server, f"/api/ladders/classic?{SPAN}")).status == 404
        with pytest.raises(OrderRefused, match="no ladder of classic"):
            await server.carry_out(ShowSeason("classic"))
        monkeypatch.setattr(seasons, "MOST_PLAYERS", 1)
        with pytest.raises(OrderRefused, match="at most 1 players"):
            await server.carry_out(ShowSeason(RULES))
        monkeypatch.undo()
        while await server.core.store.games.forget_before(int(over["game_id"].rpartition("-")[2])):
            pass
        with pytest.raises(OrderRefused, match="behind the oldest game that is kept"):
            await server.carry_out(ShowSeason(RULES))


async def test_one_season_is_reckoned_at_a_time_and_remembered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_server() as server, people(server) as (ana, bo):
        await play_rated(ana, bo)
        await until(lambda: server.ladders.folding.games == 1)
        one, other = await asyncio.gather(*(server.ladders.seasons.measure(RULES, (0, 2**52)) for _ in range(2)))
        assert one is other is await server.ladders.seasons.measure(RULES, (0, 2**52))
        asked = [server.ladders.seasons.measure(RULES, (0, 2**52 + number)) for number in range(1, 8)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        refused = [one for one in found if isinstance(one, Refused)]
        assert (len(refused), refused[0].retry_ms) == (3, 1_000)
        asked = [server.ladders.seasons.measure(RULES, (1, 2**52 + number), "there") for number in range(4)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(one, Refused) for one in found) == 2, "the turns of others are not used up from there"
        monkeypatch.setattr(seasons, "REMEMBERED_SECONDS", -1)
        newer = await server.ladders.seasons.measure(RULES, (0, 2**50))
        assert await server.ladders.seasons.measure(RULES, (0, 2**50)) is not newer


def record(number: int, first: str, second: str, winner: str | None) -> str:
    """Return a game of a cup as it is in its file."""
    rules = PRESETS["connect-four"]
    return format_record(
        GameRecord(
            rules=rules,
            moves=(35, 36),
            event="cup",
            round=f"{number}.1.1",
            result=GameResult("timeout" if winner else "agreed", winner),
            players=(("X", first), ("O", second)),
        )
    )


async def test_games_of_cups_make_a_ladder_of_bots_and_count_once(tmp_path: Path) -> None:
    file, longer = tmp_path / "cup.txt", tmp_path / "longer.txt"
    games = [record(number, "hard", "easy", "X" if number % 3 else None) for number in range(1, 7)]
    file.write_text("".join(games[:4]))
    longer.write_text("".join([*games, record(1, "hard", "medium", "X")]))
    async with a_server(data=tmp_path / "data") as server:
        assert await server.carry_out(ImportCups((str(file),))) == {"games": 4, "new": 4}
        assert json.loads((await get(server, "/api/ladders/bots")).body)["ladders"] == ["connect-four"]
        before = json.loads((await get(server, "/api/ladders/bots/connect-four")).body)
        assert [(row["name"], row["games"]) for row in before["rows"]] == [("hard", 4), ("easy", 4)]
        order = ImportCups((str(file), str(longer)))
        assert order.describe(await server.carry_out(order)) == "11 games, 3 of them new"
    async with a_server(data=tmp_path / "data") as server:
        assert (await server.carry_out(ImportCups((str(longer),))))["new"] == 0
        text = (await get(server, "/ladder/bots/connect-four")).body.decode()
        assert "connect-four: 7 games" in text
        table = (await get(server, "/api/ladders/bots/connect-four.csv")).body.decode("utf-8-sig")
        assert [row["name"] for row in csv.DictReader(table.splitlines())] == ["hard", "easy", "medium"]
        assert (await get(server, "/api/ladders/bots/gomoku")).status == 404


async def test_what_is_no_file_of_a_cup_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    good, other, garbage = (tmp_path / name for name in ("cup.txt", "other.txt", "garbage.txt"))
    good.write_text(record(1, "hard", "easy", "X"))
    other.write_text(good.read_text().replace('[Event "cup"]', '[Event "Friday"]'))
    garbage.write_bytes(b"\xff\x00")
    async with a_server() as server:
        for file, why in ((other, "no file of a cup"), (garbage, "no records"), (tmp_path / "none", "cannot be read")):
            with pytest.raises(OrderRefused, match=why):
                await server.carry_out(ImportCups((str(good), str(file))))
        assert await server.ladders.seasons.list_bots() == []
