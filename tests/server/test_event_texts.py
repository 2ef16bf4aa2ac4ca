import csv
import json
from functools import partial
from io import StringIO
from typing import Any

import pytest

from tests.limits import uncounted
from tests.server.events.authors import Decide, begun, entered, new_event, play_on, play_round
from tests.server.events.authors import opened as with_rooms
from tests.server.test_api import Described, read, streaming
from tests.server.test_events_service import HERE, known, opened, run
from tests.server.test_pages import BROWSER, get, head_of, text_of
from tictactoe_engine.records import parse_record
from tictactoe_protocol.events import EventGame
from tictactoe_protocol.terms import ClockState
from tictactoe_server.features.tournaments.attendance import Attendance
from tictactoe_server.features.tournaments.broadcasts import NOBODY_KNOWN, state_of, with_attendance
from tictactoe_server.features.tournaments.commands import EnterEvent, apply
from tictactoe_server.features.tournaments.event import Event
from tictactoe_server.features.tournaments.texts import describe_event, list_cells
from tictactoe_server.http.texts import format_csv
from tictactoe_server.server import Server, kept_by
from tictactoe_server.storage.memory import MemoryStore

pytestmark = pytest.mark.features


def by_name(*order: str) -> Decide:
    """Return a function that lets the first of the two in this order win."""
    return lambda one: min(one.players, key=lambda mark: order.index(one.players[mark]))


def told_of(event: Event, attendance: Attendance = NOBODY_KNOWN, *, is_coloured: bool = False) -> list[str]:
    """Return an event as text, with these players present."""
    return describe_event(event, with_attendance(state_of(event), attendance), is_coloured=is_coloured)


def test_a_round_robin_is_shown_as_a_cross_table_with_tie_breaks() -> None:
    event = play_on(begun(("ana", "bo", "cy")), by_name("bo", "ana", "cy"))
    assert told_of(event)[:7] == [
        "Friday: round robin. 3 by 3, 3 in a row, 1+1.",
        "Round 3 of 3, over; 0 of 3 players are here.",
        "",
        "    players 1 2 3   points  games",
        " 1. Bo      * 1 1        2      2",
        " 2. Ana     0 * 1        1      2",
        " 3. Cy      0 0 *        0      2",
    ]
    drawn = told_of(play_on(begun(("ana", "bo")), lambda one: "draw"))
    assert drawn[-3:] == ["", "Round 1:", drawn[-1]]
    assert drawn[-1].endswith(": ½-½")
    assert drawn[drawn.index("Level on points:") + 1].endswith("direct encounter ½, wins 0, Sonneborn-Berger ¼ = ½(½).")


def test_expected_players_and_progress_of_games_are_shown() -> None:
    event = new_event(entry="roster", roster=["Ana", "Bo", "Cy"])
    event = apply(event, "p1", EnterEvent("Ana", ticket=event.ticket_of("Ana")), 0)
    told = told_of(event, Attendance(present=1))
    assert told[1:3] == ["Not begun yet, open; 1 of 3 players are here.", "Waiting for Bo and Cy."]
    event = with_rooms(begun(("ana", "bo")))
    (one,) = event.pairings
    game = EventGame(3, "O", ClockState({"X": 62_000, "O": 9_000}, "O"))
    told = told_of(event, Attendance(1, {one.players["O"]: 75_000}, {one.id: game}))
    name = one.players["O"].title()
    assert told[-1] == f"    3 moves, {name} to move, 1:02 - 0:09, {name} (away 1:15)"


def test_a_swiss_table_shows_the_opponent_of_each_round() -> None:
    event = play_on(begun(("ana", "bo", "cy"), "swiss", rounds=2), by_name("ana", "bo", "cy"))
    lines = told_of(event)
    assert lines[3] == "    players r1 r2   points  games"
    assert any(line.startswith(" 1. Ana ") and line.endswith("2      2") for line in lines)
    assert "    +4 is a win against the fourth row, =4 a draw, -4 a loss, + alone a bye." in lines


@pytest.mark.parametrize(
    ("players", "kind", "terms"),
    [
        (24, "round_robin", {}),
        (24, "round_robin", {"double": True}),
        (60, "swiss", {"rounds": 20}),
        (8, "knock_out", {}),
    ],
)
def test_no_line_is_too_long_for_a_terminal(players: int, kind: str, terms: dict[str, Any]) -> None:
    event = begun(players, kind, **terms)
    for state in (entered(players, kind, **terms), event, play_round(event, lambda one: next(iter(one.players)))):
        assert max(map(len, told_of(state))) <= 80


def test_a_sheet_has_table_and_pairings_and_no_formulas() -> None:
    event = play_on(begun(("=ana", "bo")), by_name("bo", "=ana"))
    table, pairings = format_csv(list_cells(event)).decode("utf-8-sig").split("\r\n\r\n")
    (first, second) = csv.DictReader(StringIO(table))
    assert (first["name"], first["points"], second["name"]) == ("Bo", "1.0", "'=Ana")
    (row,) = csv.DictReader(StringIO(pairings))
    assert {row["X"], row["O"]} == {"Bo", "'=Ana"}
    named = row["round"], row["pairing"], row["number"], row["by"], row["game_id"]
    assert named == ("1", "r1-1", "1.1", "game", "game-r1-1")


def test_the_full_table_has_all_rounds_with_null_for_open_games() -> None:
    event = begun(("ana", "bo", "cy"), double=True)
    whole = state_of(event, has_all_rounds=True)
    (row, *_), (*_, last) = whole.table, whole.pairings
    assert (row.points, row.played, row.status) == (0, 0, "in")
    assert last.id == "r1-2"
    assert (last.state, last.result, last.reason, last.by, last.game_id) == ("due", None, None, None, None)
    over = state_of(play_on(event, by_name("ana", "bo", "cy")), has_all_rounds=True)
    assert [one.round for one in over.pairings] == [number for number in range(1, 7) for _ in range(2)]
    assert {one.result for one in over.pairings if one.by == "bye"} == {"none"}


async def test_an_event_is_read_in_every_form_while_it_is_played_and_streamed_to_its_end() -> None:
    async with Server(HERE, limits=uncounted()) as server, known(server, "ana") as ana:
        described = Described(await read(server, "/api/openapi.json"))
        code = await opened(ana, bots=["easy", "easy", "medium"], title="<b>Friday & more")
        described.check("/api/events", await read(server, "/api/events"))
        assert [row["event"] for row in (await read(server, "/api/events"))["events"]] == [code]
        async with streaming(server, f"/api/events/{code}/stream") as stream:
            first = await stream.next()
            assert (first["status"], first["pairings"]) == ("open", [])
            described.check("/api/events/{event}/stream", first)
            await run(ana, code, "begin")
            over = await stream.until(status="over")
            assert await stream.next() is None
        whole = await read(server, f"/e/{code}.json")
        assert whole == over == await read(server, f"/api/events/{code.lower()}")
        described.check("/api/events/{event}", whole)
        names = {row["player"]: row["name"] for row in whole["table"]}
        for one in whole["pairings"]:
            assert one["names"] == {mark: names[id] for mark, id in one["players"].items()}
        played = [one for one in whole["pairings"] if one["by"] == "game"]
        assert len(played) == 3
        assert all(one["game_id"].startswith(one["room"]) for one in played)
        for one in played:
            assert (await read(server, f"/api/games/{one['game_id']}"))["pairing"] == one["id"]
        records = (await get(server, f"/e/{code}.txt")).body.decode().split("\n\n[Rules")
        assert len(records) == 3
        parsed = [parse_record(text if text.startswith("[Rules") else f"[Rules{text}") for text in records]
        assert {record.event for record in parsed} == {code}
        games = await get(server, f"/api/events/{code}/games")
        assert games.fields["content-type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in games.body.splitlines()]
        assert [line["pairing"] for line in lines] == [one["id"] for one in played]
        sheet = await get(server, f"/e/{code}.csv")
        assert sheet.fields["content-type"] == "text/csv; charset=utf-8"
        assert sheet.body.decode("utf-8-sig").startswith("place,name,bot,points,played,")
        german = (await get(server, f"/e/{code}.csv?separator=semicolon")).body.decode("utf-8-sig")
        (first, *_) = csv.DictReader(StringIO(german), delimiter=";", strict=True)
        assert (first["place"], first["points"]) == ("1", str(whole["table"][0]["points"]).replace(".", ","))
        text = await text_of(server, f"/e/{code}")
        assert await text_of(server, f"/{code.lower()}") == text
        assert (await get(server, f"/{code}", accept=BROWSER)).fields["location"] == f"./e/{code}"
        assert text.startswith("<b>Friday & more: round robin. 3 by 3, 3 in a row,")
        assert f"In a terminal:   tictactoe-client event http://127.0.0.1:{server.port}/e/{code}\n" in text
        page = await get(server, f"/e/{code}", accept=BROWSER)
        assert head_of(page)[0] == "&lt;b&gt;Friday &amp; more - Tic-tac-toe and its family"
        known_already = f"If-None-Match: {(await get(server, f'/api/events/{code}')).fields['etag']}"
        assert (await get(server, f"/api/events/{code}", known_already)).status == 304


async def test_finished_events_are_found_by_code_but_not_by_guessing() -> None:
    start = partial(Server, HERE, MemoryStore(kept_by()))
    async with start(uncounted()) as server, known(server, "ana") as ana:
        code = await opened(ana, entry="code")
        await run(ana, code, "close")
    async with start(uncounted(misses_per_minute_per_address=3, misses_at_once_per_address=3)) as server:
        assert (await get(server, f"/{code}", accept=BROWSER)).fields["location"] == f"./e/{code}"
        assert await text_of(server, f"/{code.lower()}") == await text_of(server, f"/e/{code}")
        for tried in ("222222", "222223", "222224"):
            assert (await get(server, f"/{tried}", accept=BROWSER)).status == 404
        there, nowhere = [await get(server, f"/{tried}", accept=BROWSER) for tried in (code, "222222")]
        assert (there.status, there.body) == (nowhere.status, nowhere.body)


async def test_events_with_tickets_are_unlisted() -> None:
    async with Server(HERE, limits=uncounted()) as server, known(server, "ana") as ana:
        code = await opened(ana, entry="code")
        assert await read(server, "/api/events") == {"events": []}
        assert json.loads((await get(server, f"/api/events/{code}")).body)["head"]["title"] == "Friday"
