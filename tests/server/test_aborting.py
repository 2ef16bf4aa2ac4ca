import pytest

from tests.server.requests import DRAW, LEAVE, REMATCH, RESIGN, WIN
from tests.server.tables import ANA, BO, CY, FIVE_MINUTES, HOLD_MS, Table, three, timed, two
from tictactoe_protocol.pushes import Result
from tictactoe_protocol.requests import Claim
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.play import Command
from tictactoe_server.rooms.room import Player, expires_at
from tictactoe_server.rooms.seating import drop, enter

ABORTED = Result(None, "aborted")


def start_ms(table: Table) -> int | None:
    left: int | None = table.state["clock"].get("start_ms")
    return left


@pytest.mark.parametrize("cells", [(), (4,)])
@pytest.mark.parametrize("player", [ANA, BO])
@pytest.mark.parametrize("command", [LEAVE, RESIGN])
def test_a_game_given_up_before_both_moved_is_aborted(cells: tuple[int, ...], player: Player, command: Command) -> None:
    table = two(*cells)
    over = table.do(player, command)
    assert (over.status, over.result) == ("over", ABORTED)
    assert over.score == {ANA.id: 0, BO.id: 0, "draws": 0}
    assert table.state["result"] == {"winner": None, "reason": "aborted", "line": []}


@pytest.mark.parametrize("claim", [WIN, DRAW])
def test_a_claim_before_both_have_moved_aborts_the_game(claim: Claim) -> None:
    table = two(4, (BO, drop))
    table.wait(1)
    assert table.refusal(ANA, claim).retry_ms == HOLD_MS - 1
    table.wait(HOLD_MS - 1)
    over = table.do(ANA, claim)
    assert over.result == ABORTED
    assert over.score == {ANA.id: 0, BO.id: 0, "draws": 0}


def test_after_an_aborted_game_the_marks_stay_and_after_one_that_counts_they_move_on() -> None:
    table = two((ANA, RESIGN), (ANA, REMATCH))
    again = table.do(BO, REMATCH)
    assert (again.game, again.seat("X").name, again.seat("O").name) == (2, "ana", "bo")
    table.do_all(0, 4, (ANA, RESIGN), (ANA, REMATCH))
    assert table.do(BO, REMATCH).seat("X").name == "bo"


def test_a_leaver_of_three_is_passed_over_and_a_second_one_aborts_the_game() -> None:
    table = three()
    assert table.do(ANA, LEAVE).position.active_marks == "OA"
    table.play(0)
    assert table.do(CY, RESIGN).result == ABORTED


def test_with_three_only_the_remaining_players_need_to_have_moved() -> None:
    table = three((CY, LEAVE), 0, 1)
    assert table.do(ANA, RESIGN).result == Result("O", "resigned")


def test_a_first_move_is_due_within_half_a_minute_and_the_state_counts_it_down() -> None:
    table = timed()
    for cell in (0, 4):
        assert (start_ms(table), table.running) == (30_000, None)
        table.wait(12_000)
        assert start_ms(table) == 18_000
        table.move(cell)
    assert (start_ms(table), table.times) == (None, [300_000, 300_000])


@pytest.mark.parametrize(("move_ms", "due"), [(10_000, 30_000), (90_000, 90_000)])
def test_a_longer_time_for_a_move_is_that_for_the_first_one_too(move_ms: int, due: int) -> None:
    assert start_ms(timed(clock=ClockFields(move_ms=move_ms))) == due


@pytest.mark.parametrize("cells", [(), (4,)])
def test_past_that_time_the_game_is_aborted(cells: tuple[int, ...]) -> None:
    table = timed(*cells)
    table.wait(29_999)
    assert table.expire().status == "playing"
    table.wait(1)
    over = table.expire()
    assert (over.result, over.score) == (ABORTED, {ANA.id: 0, BO.id: 0, "draws": 0})
    assert start_ms(table) is None


def test_the_first_move_of_a_rematch_is_due_as_late_as_that_of_the_first_game() -> None:
    table = timed(0, 4, (ANA, RESIGN))
    table.wait(40_000)
    table.do_all((ANA, REMATCH), (BO, REMATCH))
    table.wait(12_000)
    assert (start_ms(table), table.times) == (18_000, [300_000, 300_000])


def test_with_three_a_player_who_does_not_begin_is_passed_over() -> None:
    table = three(clock=FIVE_MINUTES)
    table.wait(30_000)
    assert table.expire().position.turn == "O"
    assert start_ms(table) == 30_000
    table.wait(30_000)
    assert table.expire().result == ABORTED


def test_the_time_to_begin_pauses_while_the_seat_is_held() -> None:
    table = timed()
    table.wait(10_000)
    table.do(ANA, drop)
    table.wait(50_000)
    assert start_ms(table) == 20_000
    assert table.expire().status == "playing"
    table.do(ANA, enter)
    assert start_ms(table) == 20_000
    table.wait(5_000)
    assert start_ms(table) == 15_000
    assert expires_at(table.room) == table.now + 15_000
