import asyncio

import pytest

from tests.fakes import FakeClock
from tests.peer import open_peer
from tests.raw import open_raw
from tests.server.requests import ALLOW, ASK
from tests.server.tables import ANA, BO, CY, FIVE_MINUTES, three, timed
from tictactoe_protocol.pushes import Result
from tictactoe_protocol.terms import MAX_CLOCK_MS, MAX_MOVE_MS, ClockFields
from tictactoe_server.rooms.room import is_expired
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

HERE = Settings(host="127.0.0.1", port=0)

TEN_SECONDS_A_MOVE = ClockFields(move_ms=10_000)
CLOCKS = (FIVE_MINUTES, TEN_SECONDS_A_MOVE)


def test_with_a_clock_for_each_move_every_turn_starts_afresh() -> None:
    table = timed(0, 4, clock=TEN_SECONDS_A_MOVE)
    table.wait(9_999)
    assert table.times == [1, 10_000]
    table.move(1)
    assert (table.times, table.running) == ([10_000, 10_000], "O")


@pytest.mark.parametrize("clock", CLOCKS, ids=["by seat", "by move"])
def test_a_clock_that_runs_out_loses_the_game_exactly_once(clock: ClockFields) -> None:
    table = timed(0, 4, clock=clock)
    allowed = table.times[0]
    table.wait(allowed - 1)
    assert table.expire().status == "playing"
    table.wait(1)
    over = table.expire()
    assert (over.status, over.result, over.score[BO.id]) == ("over", Result("O", "timeout"), 1)
    assert (table.times, table.running) == ([0, allowed], None)
    table.wait(10**6)
    assert table.expire() is over


def test_in_a_game_of_three_the_flagged_player_is_passed_over_and_the_last_one_left_wins() -> None:
    table = three(0, 1, 2, clock=FIVE_MINUTES)
    table.wait(300_000)
    room = table.expire()
    assert (room.status, room.position.active_marks, room.position.turn) == ("playing", "OA", "O")
    assert (table.times, table.running) == ([0, 300_000, 300_000], "O")
    assert table.expire() is room
    table.move(3, after_ms=1_000)
    assert (table.running, table.times) == ("A", [0, 301_000, 300_000])
    table.wait(300_000)
    over = table.expire()
    assert over.result == Result("O", "timeout")
    assert over.score == {ANA.id: 0, BO.id: 1, CY.id: 0, "draws": 0}
    assert table.times == [0, 301_000, 0]


@pytest.mark.parametrize(
    ("clock", "cells", "running", "times"),
    [
        (FIVE_MINUTES, (0, 4, 1), "X", [302_000, 291_000]),
        (FIVE_MINUTES, (0, 4), None, [291_000, 300_000]),
        (TEN_SECONDS_A_MOVE, (0, 4, 1), "X", [10_000, 10_000]),
    ],
    ids=["of the move before the reply", "of a first move", "by move"],
)
def test_an_undo_sets_clocks(clock: ClockFields, cells: tuple[int, ...], running: str | None, times: list[int]) -> None:
    table = timed(*cells, clock=clock)
    table.wait(9_000)
    table.do_all((ANA, ASK), (BO, ALLOW))
    assert (table.running, table.room.position.ply, table.times) == (running, 2 if running else 0, times)


@pytest.mark.parametrize("jump", [-3_600_000, -1, 0])
def test_a_clock_that_is_read_earlier_than_it_started_shows_no_more_than_it_had(jump: int) -> None:
    table = timed(0, 4)
    table.move(1, after_ms=5_000)
    full = table.times
    table.now += jump
    assert table.times == full
    assert not is_expired(table.room, table.now)
    table.move(5)
    assert table.times == [297_000, 302_000]


async def test_a_slow_peer_at_the_end_of_a_server_costs_nobody_time(clock: FakeClock) -> None:
    server = Server(HERE, monotonic_ns=clock)
    await server.__aenter__()
    async with open_raw(server.url) as slow:
        before = server.core.time()
        end = asyncio.create_task(server.__aexit__(None, None, None))
        assert await slow.close_code() == 1012
        clock.advance(2_000)
    await end
    assert server.core.time() == before


@pytest.mark.features
@pytest.mark.parametrize(
    ("clock", "most"),
    [
        ({"initial_ms": MAX_CLOCK_MS, "increment_ms": 0}, "initial_ms"),
        ({"initial_ms": 1, "increment_ms": MAX_MOVE_MS}, "increment_ms"),
        ({"move_ms": MAX_MOVE_MS}, "move_ms"),
    ],
)
async def test_a_clock_has_a_day_in_all_and_three_hours_a_move(clock: dict[str, int], most: str) -> None:
    async with Server(HERE) as server, open_peer(server.url, "ana") as ana:
        for kind, terms in (("create", {}), ("match", {}), ("event_open", {"kind": "swiss", "title": "Friday"})):
            assert (await ana.ask(kind, clock=clock, **terms))["type"] == "ok"
            refused = await ana.ask(kind, clock=clock | {most: clock[most] + 1}, **terms)
            assert (refused["code"], refused["path"]) == ("bad_clock", f"clock.{most}")
