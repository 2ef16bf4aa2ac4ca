"""Requests with `game` and `ply`, sent again: done once, acknowledged twice, and refused in another position."""

from tests.rows import each
from tests.server.requests import DECLINE, LEAVE, RESIGN, draw, rematch, undo
from tests.server.tables import ANA, BO, CODE, CY, Step, Table, decode_room, encode_room, three, two
from tictactoe_protocol.pushes import Offers, Result
from tictactoe_protocol.requests import Draw, Undo

OFFER, UNDO = draw("offer", 2), undo("offer", 2)
OFFER_ANY_TIME = Draw(room=CODE, action="offer")
DONE: dict[str, tuple[list[Step], Draw | Undo, list[Step]]] = {
    "a draw that is offered since before a move": ([], OFFER, [8]),
    "a draw that lapsed": ([], OFFER, [8, 7]),
    "a draw that was declined": ([], OFFER, [(BO, draw("decline", 2)), (BO, OFFER)]),
    "a draw that was agreed": ([], OFFER, [(BO, draw("accept", 2))]),
    "a draw that was taken back": ([(ANA, OFFER)], draw("decline", 2), [8]),
    "an undo that lapsed": ([], UNDO, [8]),
    "an undo that was declined": ([], UNDO, [(BO, undo("decline", 2))]),
    "an undo that was allowed": ([], UNDO, [(BO, undo("accept", 2))]),
    "a move that was taken back two moves before": ([(BO, UNDO)], undo("accept", 2), [(BO, LEAVE)]),
    "an undo before the end": ([], UNDO, [(BO, RESIGN)]),
}
"""Requests of ana after two moves: the steps before, the request, and the steps until it is repeated."""


@each("name", DONE)
def test_a_repeated_request_is_acknowledged_without_effect(name: str) -> None:
    before, request, after = DONE[name]
    table = two()
    unasked = table.do_all(0, 4, *before)
    assert table.do(ANA, request) is not unasked
    done = table.do_all(*after)
    assert table.do(ANA, request) is done
    table.room = decode_room(encode_room(done))
    assert table.do(ANA, request) == done


def test_requests_without_the_fields_count_for_their_position() -> None:
    table = two(0, 4, (ANA, OFFER_ANY_TIME))
    assert table.do(ANA, OFFER) is table.before
    declined = table.do_all((BO, draw("decline", 2)), (ANA, OFFER_ANY_TIME), (BO, DECLINE))
    assert table.do(BO, draw("decline", 2)) is declined
    assert table.do(ANA, OFFER) is declined
    moved = table.do_all((ANA, OFFER_ANY_TIME), 8)
    assert table.do(ANA, draw("offer", 3)) is moved
    table.do(BO, draw("decline", 3))
    assert table.do(ANA, draw("offer", 3)).offers.draw == "X", "this request had no effect before"


def test_without_the_fields_an_offer_may_be_made_again_in_one_position() -> None:
    table = two((ANA, draw("offer", 0)), (BO, draw("decline", 0)))
    assert table.do(ANA, draw("offer", 0)).offers.draw is None
    assert table.do(ANA, Draw(room=CODE, action="offer")).offers == Offers(draw="X")
    assert table.do(BO, Draw(room=CODE, action="accept")).result == Result(None, "agreed")


def over() -> Table:
    return two(0, 4, (ANA, RESIGN))


def test_a_repeated_rematch_request_is_acknowledged() -> None:
    table = over()
    for player in (ANA, BO):
        table.do(player, rematch(1))
    begun = table.room
    assert begun.game == 2
    for player in (ANA, BO):
        assert table.do(player, rematch(1)) is begun
    table.play(0, 4)
    ended = table.do(ANA, RESIGN)
    for player in (ANA, BO):
        assert table.do(player, rematch(1)) is ended
    assert table.do(ANA, rematch(2)).offers.rematch == ("O",)


def test_a_repeated_draw_in_a_game_of_three_is_acknowledged_only_to_the_agreeing_players() -> None:
    table = three(0, 1, 2, (CY, RESIGN), (ANA, draw("offer", 3)))
    agreed = table.do(BO, draw("accept", 3))
    assert agreed.result == Result(None, "agreed")
    assert table.do(BO, draw("accept", 3)) is agreed
    assert table.refusal(CY, draw("accept", 3)).code == "game_over"
