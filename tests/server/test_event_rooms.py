import asyncio
from functools import partial
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import open_peer, until
from tests.server.requests import ACCEPT, ASK, DRAW, LEAVE, OFFER, RESIGN, WIN
from tests.server.tables import ANA, BO, CODE, CY, HOLD_MS, START, Table, by_nobody
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Happening, Result, SeatState
from tictactoe_protocol.requests import Choose, Leave, Resign
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.core.indexes import RoomExists
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.tournaments.running import Running, purpose_of
from tictactoe_server.rooms.play import go_on, stand_still
from tictactoe_server.rooms.room import NOBODY, Player, expires_at
from tictactoe_server.rooms.seating import drop, enter, hand_over, open_room
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

CLOCK = ClockFields(initial_ms=300_000, increment_ms=0)
HERE = Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0),))
EVENT, PAIRING = "EV3NTS", "r3-2"
OF_EVENT: dict[str, Any] = {"purpose": purpose_of(EVENT, PAIRING)}
READY_MS = 20_000


@pytest.fixture(autouse=True)
def undriven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the rooms of events that do not exist."""
    monkeypatch.setattr(Running, "wake", lambda self, code: None)


class Pairing(Table):
    def __init__(
        self, *players: Player, rules: str = "classic", clock: ClockFields = CLOCK, hold_ms: int = HOLD_MS
    ) -> None:
        self.now = START
        reserved = {"X": away(ANA), "O": away(BO)}
        terms: dict[str, Any] = {"start_ms": READY_MS, "hold_ms": hold_ms, **OF_EVENT}
        self.room = open_room(CODE, PRESETS[rules], None, START, clock=clock, reserved=reserved, **terms)
        for player in players:
            self.do(player, enter)


def away(player: Player) -> SeatState:
    return SeatState(player.id, player.name, online=False, bot=None)


def out(*marks: str, why: str) -> tuple[Happening, ...]:
    return tuple(Happening("out", mark, why) for mark in marks)


def test_only_the_two_of_the_pairing_get_a_seat_and_under_their_names_of_the_event() -> None:
    table = Pairing()
    assert table.room.status == "playing"
    refused = table.refusal(CY, enter)
    assert (refused.code, refused.data["why"]) == ("room_full", "event")
    table.do(Player(ANA.id, "somebody else"), enter)
    assert table.room.names == {"X": "ana", "O": "bo"}
    assert (table.state["event"], table.state["pairing"]) == (EVENT, PAIRING)


@pytest.mark.parametrize("clock", [CLOCK, ClockFields(move_ms=90_000)], ids=["by seat", "by move"])
def test_the_first_move_of_an_event_game_has_a_deadline(clock: ClockFields) -> None:
    table = Pairing(ANA, clock=clock)
    assert (expires_at(table.room), table.state["clock"]["start_ms"]) == (START + READY_MS, READY_MS)
    table.move(4, after_ms=READY_MS - 1)
    table.wait(1_000)
    table.do(BO, enter)
    assert table.state["clock"]["start_ms"] == READY_MS - 1_000
    table.wait(READY_MS - 1_001)
    assert table.expire().result is None
    table.wait(1)
    assert (table.expire().result, table.room.happened) == (Result("X", "forfeit"), out("O", why="late"))
    assert table.room.score == {ANA.id: 1, BO.id: 0, "draws": 0}


def test_a_game_without_players_is_forfeited_by_both() -> None:
    table = Pairing()
    table.wait(READY_MS)
    assert (table.expire().result, table.room.happened) == (
        Result(None, "forfeit"),
        (*out("X", why="late"), *out("O", why="away")),
    )
    assert table.room.score == {ANA.id: 0, BO.id: 0, "draws": 0}


def test_in_an_opening_the_choice_of_the_second_player_is_due_in_the_same_time() -> None:
    table = Pairing(ANA, BO, rules="four-pie")
    table.move(0)
    table.wait(READY_MS)
    assert table.expire().result == Result("X", "forfeit")
    table = Pairing(ANA, BO, rules="four-pie")
    table.move(0)
    table.do(BO, Choose(room=CODE, take="X", ply=1))
    table.wait(READY_MS)
    assert table.expire().result is None


@pytest.mark.parametrize("command", [RESIGN, LEAVE], ids=["resigns", "leaves"])
@pytest.mark.parametrize("cells", [(), (4,), (4, 0)])
def test_giving_up_is_a_loss_however_early(command: Resign | Leave, cells: tuple[int, ...]) -> None:
    table = Pairing(ANA, BO)
    table.play(*cells)
    after = table.do(BO, command)
    assert (after.result, after.was_aborted, after.is_deserted) == (Result("X", "resigned"), False, False)


def test_an_expired_hold_is_a_win_for_the_present_player() -> None:
    table = Pairing(ANA, BO)
    table.play(4, 0)
    table.do(BO, drop)
    assert (expires_at(table.room), table.times) == (table.now + HOLD_MS, [300_000, 300_000])
    table.wait(HOLD_MS - 1)
    assert table.expire().result is None
    assert (table.times, table.running) == ([300_000 - HOLD_MS + 1, 300_000], "X")
    table.wait(1)
    assert (table.expire().result, table.room.happened) == (Result("X", "claimed"), out("O", why="away"))


def test_a_handed_over_seat_keeps_its_state() -> None:
    table = Pairing(ANA, BO)
    table.play(4, 0)
    table.do(BO, drop)
    table.wait(HOLD_MS - 1)
    before = table.room
    after = table.do(BO, partial(hand_over, heir=CY.id))
    assert (after.seat("O"), after.score) == (
        SeatState(CY.id, "bo", online=False, bot=None),
        {ANA.id: 0, CY.id: 0, "draws": 0},
    )
    assert (after.remaining_ms, expires_at(after), after.hold_left("O", table.now)) == (
        before.remaining_ms,
        expires_at(before),
        1,
    )
    assert table.refusal(BO, enter).code == "room_full"
    table.do(CY, enter)
    table.wait(1)
    assert table.expire().result is None
    over = table.do(ANA, RESIGN)
    assert table.do(CY, partial(hand_over, heir=BO.id)) is over


def test_while_both_are_away_the_clock_decides_and_who_comes_first_past_the_holds_wins() -> None:
    table = Pairing(ANA, BO)
    table.play(4, 0)
    table.do(BO, drop)
    table.do(ANA, drop)
    assert expires_at(table.room) == table.now + 300_000
    table.wait(HOLD_MS)
    assert table.expire().result is None
    table.do(ANA, enter)
    assert table.expire().result == Result("X", "claimed")
    table = Pairing(ANA, BO)
    table.play(4, 0)
    table.do(BO, drop)
    table.do(ANA, drop)
    table.wait(300_000)
    assert table.expire().result == Result("O", "timeout")


def test_a_standstill_pauses_deadlines_and_then_restarts_them() -> None:
    table = Pairing(ANA)
    table.wait(READY_MS - 1)
    table.do(NOBODY, by_nobody(stand_still))
    table.wait(READY_MS)
    table.do(BO, enter)
    assert (table.expire().result, table.move(4).result, table.state["clock"]["running"]) == (None, None, None)
    table.do(NOBODY, by_nobody(go_on))
    assert expires_at(table.room) == table.now + READY_MS
    table.move(0, after_ms=READY_MS - 1)
    table.do(BO, drop)
    table.wait(1_000)
    table.do(NOBODY, by_nobody(stand_still))
    table.wait(2 * HOLD_MS)
    assert (table.expire().result, table.times) == (None, [299_000, 300_000])
    table.do(NOBODY, by_nobody(go_on))
    assert expires_at(table.room) == table.now + HOLD_MS
    table.do(BO, enter)
    assert expires_at(table.room) == table.now + 299_000


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (ASK, "event undo"),
        (OFFER, "event draw"),
        (WIN, "event claim"),
        (DRAW, "event claim"),
    ],
)
def test_there_is_no_undo_no_early_draw_and_nothing_to_claim(command: Any, why: str) -> None:
    table = Pairing(ANA, BO)
    table.play(4, 0)
    refused = table.refusal(ANA, command)
    assert (refused.code, refused.data["why"]) == ("not_allowed", why)


def test_from_eight_moves_on_a_draw_can_be_agreed() -> None:
    table = Pairing(ANA, BO, rules="gomoku")
    table.play(*range(0, 14, 2))
    assert table.refusal(ANA, OFFER).code == "not_allowed"
    table.move(20)
    table.do(ANA, OFFER)
    assert table.do(BO, ACCEPT).result == Result(None, "agreed")


async def open_pairing(server: Server, one: Player | SeatState, other: Player | SeatState, **terms: Any) -> LiveRoom:
    usual: dict[str, Any] = {"code": CODE, "clock": CLOCK, "start_ms": 60_000, **OF_EVENT}
    seats = {
        mark: seat if isinstance(seat, SeatState) else SeatState(seat.id, seat.name, online=False, bot=None)
        for mark, seat in (("X", one), ("O", other))
    }
    live = server.core.rooms.expect(PRESETS["classic"], reserved=seats, **(usual | terms))
    return await server.core.rooms.open(live, server.core.timers.close_later)


def player_of(peer: Any, name: str) -> Player:
    return Player(peer.welcome["player"], name)


@pytest.mark.features
async def test_a_room_is_opened_once_under_the_code_of_its_pairing() -> None:
    async with Server(HERE) as server:
        opened = await asyncio.gather(*(open_pairing(server, ANA, BO) for _ in range(3)), return_exceptions=True)
        assert sorted(type(one).__name__ for one in opened) == ["LiveRoom", "RoomExists", "RoomExists"]
        del server.core.rooms.by_code[CODE]  # like a room that another server has opened a moment ago
        server.core.rooms.knows_all = False
        with pytest.raises(RoomExists):
            await open_pairing(server, BO, ANA)
        assert (await server.core.rooms.find(CODE)).room.mark_of(ANA.id) == "X"


async def test_a_pairings_room_stays_open_until_the_event_releases_it() -> None:
    limits = uncounted(deserted_seconds=0.0, deserted_game_seconds=0.0, unwatched_seconds=0.0)
    async with Server(HERE, limits=limits) as server, open_peer(server.url, "ana") as ana:
        live = await open_pairing(server, player_of(ana, "ana"), BO)
        await ana.ask("join", room=CODE)
        assert (await ana.ask("leave", room=CODE))["type"] == "ok"
        other = (await ana.ask("create"))["room"]
        await ana.ask("leave", room=other)
        await until(lambda: other not in server.core.rooms.by_code)
        assert (live.room.result, live.is_gone) == (Result("O", "resigned"), False)
        live.is_kept = False
        server.core.timers.close_later(live)
        await until(lambda: live.is_gone)
