import pytest

from tests.server.requests import ALLOW, ASK, REFUSE, REMATCH, RESIGN, choose
from tests.server.tables import ANA, BO, CODE, SWAP2, Table, two
from tictactoe_engine.records import format_record, parse_record
from tictactoe_protocol.requests import Draw
from tictactoe_server.rooms.finished import finished_game, played_game, record_of
from tictactoe_words.refusals import describe_fault


def placed() -> Table:
    """Return a table where ana has placed and bo has to choose."""
    return two(0, 1, 2, rules=SWAP2)


def test_a_state_describes_the_step_of_the_opening() -> None:
    table = Table(ANA, BO, rules=SWAP2)
    for left, places in ((3, "X"), (2, "O"), (1, "X")):
        opening = {"rule": "swap2", "step": "place", "places": places, "left": left, "options": []}
        assert (table.state["opening"], table.state["turn"]) == (opening, "X")
        table.move(3 - left)
    options = {"rule": "swap2", "step": "choose", "places": None, "left": 0, "options": ["X", "O", "more"]}
    assert (table.state["opening"], table.state["turn"]) == (options, "O")
    assert "chosen" not in table.state


def test_offers_end_with_a_choice_and_one_that_is_sent_again_does_nothing() -> None:
    table = placed()
    offer = Draw(room=CODE, action="offer", game=1, ply=3)
    table.do(ANA, offer)
    after = table.do(BO, choose("X", 3))
    assert after.offers.draw is None
    assert table.do(ANA, offer) is after


def test_a_game_is_aborted_until_both_have_acted_and_a_choice_is_an_act() -> None:
    assert placed().do(BO, RESIGN).was_aborted
    for take in ("X", "O", "more"):
        table = placed()
        table.do(BO, choose(take, 3))
        result = table.do(ANA, RESIGN).result
        assert result is not None
        assert (result.reason, result.winner) == ("resigned", "X" if take == "X" else "O")


def test_nothing_of_an_opening_is_taken_back() -> None:
    table = placed()
    assert "cannot be taken back" in describe_fault(table.refusal(ANA, ASK))
    for answer in (ALLOW, REFUSE):
        assert table.refusal(ANA, answer).code == "no_offer"
    table.do(BO, choose("O", 3))
    for player in (ANA, BO):
        assert table.refusal(player, ASK).data["why"] == "no move"
    table.play(7)
    assert table.refusal(ANA, ASK).data["why"] == "no move"
    table.do(BO, ASK)
    table.do(ANA, ALLOW)
    assert (table.room.position.ply, table.to_move, table.state["chosen"]) == (3, BO, ["O"])


@pytest.mark.parametrize("take", ["X", "O"])
def test_the_opening_player_alternates_in_a_rematch(take: str) -> None:
    table = placed()
    table.do(BO, choose(take, 3))
    table.do(ANA, RESIGN)
    for player in (ANA, BO):
        table.do(player, REMATCH)
    assert (table.to_move, table.room.position.ply, table.room.position.chosen) == (BO, 0, ())


def test_a_finished_game_and_its_record_keep_the_choices() -> None:
    table = placed()
    table.do(BO, choose("X", 3))
    table.do(ANA, RESIGN)
    game = finished_game(table.room, 1_924_970_700_000)
    assert (game.chosen, played_game(game).chosen) == (("X",), ("X",))
    text = format_record(record_of(game))
    assert "2. c1 {swap2 O X} X" in text
    assert '[X "bo"]\n[O "ana"]' in text
    assert parse_record(text).chosen == ("X",)
