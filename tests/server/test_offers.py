from typing import Literal

import pytest

from tests.server.requests import ACCEPT, ALLOW, ASK, DECLINE, DRAW, OFFER, REFUSE, WIN
from tests.server.tables import ANA, BO, CY, HOLD_MS, Table, three, two
from tictactoe_protocol.pushes import EndedOffer, Offers, Result
from tictactoe_protocol.requests import Claim
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.play import apply
from tictactoe_server.rooms.room import Player
from tictactoe_server.rooms.seating import drop, enter


@pytest.mark.parametrize(("player", "by", "how"), [(BO, "O", "declined"), (ANA, "X", "withdrawn")])
def test_an_ended_offer_may_be_made_again(player: Player, by: str, how: Literal["declined", "withdrawn"]) -> None:
    table = two((ANA, OFFER))
    assert table.do(player, DECLINE).offers == Offers(ended={"draw": EndedOffer(by, how)})
    assert table.refusal(BO, ACCEPT).code == "no_offer"
    assert table.do(ANA, OFFER).offers.draw == "X"


def test_how_offers_came_to_nothing_is_shown_for_each_kind_until_the_next_offer_or_move() -> None:
    table = two(0)
    assert "ended" not in table.state["offers"]
    for player, command in ((ANA, OFFER), (BO, DECLINE), (ANA, ASK), (ANA, REFUSE)):
        table.do(player, command)
    ended = {"draw": {"by": "O", "how": "declined"}, "undo": {"by": "X", "how": "withdrawn"}}
    assert table.state["offers"]["ended"] == ended
    assert set(table.do(BO, OFFER).offers.ended or ()) == {"undo"}
    assert table.move(4).offers == Offers(draw="O")


def test_two_offers_that_meet_are_an_agreement() -> None:
    table = two((ANA, OFFER))
    assert table.do(BO, OFFER).result == Result(None, "agreed")


def test_an_offer_outlives_its_makers_move_and_lapses_with_the_receivers() -> None:
    table = two((ANA, OFFER), 0)
    assert table.room.offers.draw == "X"
    table.move(4)
    assert table.room.offers == Offers()
    assert table.refusal(BO, ACCEPT).code == "no_offer"


def test_offers_in_a_game_over_days_stay_open_until_they_are_answered() -> None:
    table = Table(ANA, BO, clock=ClockFields(days=3))
    table.play(0, 4)
    table.do(ANA, OFFER)
    table.do(BO, ASK)
    table.play(1)
    assert table.room.offers == Offers(draw="X", undo="O")
    table.play(5)
    assert table.room.offers == Offers(draw="X"), "whoever asks to take a move back and moves on asks no more"
    table.do(BO, ASK)
    assert table.do(ANA, ALLOW).position.moves == (0, 4, 1)
    assert table.room.offers == Offers()


@pytest.mark.parametrize("asker", ["X", "O"])
def test_a_takeback_request_lapses_with_the_next_move(asker: Literal["X", "O"]) -> None:
    table = two()
    table.play(0, 4)
    table.do({"X": ANA, "O": BO}[asker], ASK)
    assert table.move(1).offers == Offers()


def test_a_takeback_cancels_a_draw_offer() -> None:
    table = two(0, (ANA, OFFER), (ANA, ASK))
    assert table.room.offers == Offers(draw="X", undo="X")
    assert table.do(BO, ALLOW).offers == Offers()


@pytest.mark.parametrize(
    ("claim", "result", "wins"),
    [(WIN, Result("X", "claimed"), (1, 0)), (DRAW, Result(None, "claimed"), (0, 1))],
    ids=["win", "draw"],
)
def test_the_game_may_be_claimed_once_the_hold_is_over(claim: Claim, result: Result, wins: tuple[int, int]) -> None:
    table = two(0, 4, (BO, drop))
    table.wait(HOLD_MS)
    over = table.do(ANA, claim)
    assert (over.status, over.result) == ("over", result)
    assert over.score == {ANA.id: wins[0], BO.id: 0, "draws": wins[1]}
    assert not over.seat("O").left
    assert over.mark_of(BO.id) == "O"


def test_a_return_restores_the_full_hold() -> None:
    table = two((BO, drop))
    table.wait(HOLD_MS)
    table.do(BO, enter)
    assert table.refusal(ANA, WIN).retry_ms is None
    table.do(BO, drop)
    assert table.refusal(ANA, WIN).retry_ms == HOLD_MS


def test_with_three_a_claim_passes_over_the_absent_player() -> None:
    table = three((ANA, drop))
    table.wait(HOLD_MS)
    assert table.refusal(BO, DRAW).code == "not_allowed"
    after = table.do(BO, WIN)
    assert (after.status, after.position.active_marks, after.position.turn) == ("playing", "OA", "O")
    assert table.refusal(CY, WIN).code == "not_allowed"
    table.do(ANA, enter)
    assert table.refusal(ANA, WIN).code == "not_allowed"


def test_with_three_two_absent_players_can_be_claimed_from_at_once() -> None:
    for claim, winner in ((WIN, "X"), (DRAW, None)):
        table = three()
        table.play(0, 1, 2)
        table.do(BO, drop)
        table.wait(10_000)
        table.do(CY, drop)
        table.wait(50_000)
        assert apply(table.room, ANA, WIN, table.now).position.active_marks == "XA"
        table.wait(10_000)
        assert table.do(ANA, claim).result == Result(winner, "claimed")
