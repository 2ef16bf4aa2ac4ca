"""Refusals of a room: the first of several reasons, in the order of `docs/reference/protocol/sentences.md`."""

from tests.rows import each
from tests.server.requests import (
    ACCEPT,
    ALLOW,
    ASK,
    DECLINE,
    LEAVE,
    OFFER,
    REFUSE,
    REMATCH,
    RESIGN,
    WIN,
    choose,
    draw,
    move,
    rematch,
    undo,
)
from tests.server.tables import ANA, BO, CY, HOLD_MS, SWAP2, Action, Table, three, two
from tictactoe_engine import PRESETS
from tictactoe_server.rooms.room import Player
from tictactoe_server.rooms.seating import drop, enter
from tictactoe_words.refusals import describe_fault

FOR_X = (0, 3, 1, 4, 2)
WAITING, CHOICE_DUE = Table(ANA), two(0, 1, 2, rules=SWAP2)
OF_A_GAME: list[Action] = [RESIGN, WIN, move(99, 9), choose("X", 9), OFFER, draw("accept", 9), ASK, undo("accept", 9)]
ANYTHING: list[Action] = [*OF_A_GAME, LEAVE, REMATCH, draw("accept", 9, game=9)]


def after_the_hold(table: Table) -> Table:
    table.wait(HOLD_MS)
    return table


REFUSED: dict[str, tuple[Table, Player, list[Action], str]] = {
    "to enter a full room": (two(), CY, [enter], "room_full"),
    "to come back after leaving": (two((BO, LEAVE)), BO, [enter], "not_allowed"),
    "to take the seat of a player who left": (two((BO, LEAVE)), CY, [enter], "room_full"),
    "anything without a seat": (two(), CY, ANYTHING, "not_seated"),
    "anything without a seat after the end": (two(*FOR_X), CY, ANYTHING, "not_seated"),
    "anything without a seat while a choice is due": (CHOICE_DUE, CY, ANYTHING, "not_seated"),
    "anything after leaving": (two((BO, LEAVE)), BO, ANYTHING, "not_seated"),
    "before the start": (WAITING, ANA, [*OF_A_GAME, REMATCH, rematch(1)], "not_started"),
    "after the end": (two(*FOR_X), BO, OF_A_GAME, "game_over"),
    "after the end, an answer to a draw": (two((ANA, OFFER), (ANA, LEAVE)), BO, [ACCEPT, DECLINE], "game_over"),
    "after the end, an answer to an undo": (two(*FOR_X[:4], (BO, ASK), 2), ANA, [ALLOW, REFUSE], "game_over"),
    "after the end, a claim": (after_the_hold(two(*FOR_X, (BO, drop))), ANA, [WIN], "game_over"),
    "in another game": (two(0, 4), ANA, [draw("offer", 2, 0), undo("offer", 2, 2), rematch(9)], "stale game"),
    "in another game before the start": (WAITING, ANA, [draw("offer", 9, 9), rematch(9)], "stale game"),
    "in another game after the end": (two(*FOR_X), ANA, [undo("offer", 9, 9), rematch(2)], "stale game"),
    "a rematch during a game": (two(), ANA, [REMATCH, rematch(1)], "not_allowed"),
    "a rematch against a player who left": (two(*FOR_X, (BO, LEAVE)), ANA, [REMATCH], "not_allowed"),
    "a rematch again, after that": (two(*FOR_X, (ANA, rematch(1)), (BO, LEAVE)), ANA, [rematch(1)], "not_allowed"),
    "a move out of turn": (two(), BO, [move(4, 0), move(99, 9)], "not_your_turn"),
    "a move for another ply": (two(4), BO, [move(0, 0), move(4, 2), move(0, 2**31 - 1)], "stale ply"),
    "a repeat of the opponent's move": (two(0, 3, 1), BO, [move(0, 0), move(-9, 0)], "stale ply"),
    "a repeat with the cell of another ply": (two(0, 3, 1), ANA, [move(1, 0), move(8, 2)], "not_your_turn"),
    "a move of the last game": (two(*FOR_X, (ANA, REMATCH), (BO, REMATCH)), ANA, [move(2, 4)], "not_your_turn"),
    "off the board": (two(), ANA, [move(-1, 0), move(9, 0)], "off_board cell"),
    "an occupied cell": (two(4), BO, [move(4, 1)], "occupied cell"),
    "a blocked cell": (two(rules=PRESETS["blocker"]), ANA, [move(4, 0)], "blocked cell"),
    "a floating stone": (two(rules=PRESETS["connect-four"]), ANA, [move(0, 0)], "floating cell"),
    "a draw that nobody offered": (two(), ANA, [ACCEPT, DECLINE, draw("accept", 0)], "no_offer"),
    "a draw that nobody offered, to the other": (two(), BO, [ACCEPT, DECLINE], "no_offer"),
    "to accept the own offer": (two((ANA, OFFER)), ANA, [ACCEPT], "no_offer"),
    "a draw for another ply": (two(0, 4, (BO, OFFER)), ANA, [draw("offer", 1), draw("accept", 3)], "stale ply"),
    "a draw among three": (three(), ANA, [OFFER, ACCEPT, DECLINE, draw("accept", 9)], "not_allowed"),
    "a draw with one who is out": (three((CY, RESIGN)), CY, [OFFER, ACCEPT, DECLINE], "not_allowed"),
    "to take back before any move": (two(), ANA, [ASK], "not_allowed"),
    "to take back before the own first move": (two(4), BO, [ASK], "not_allowed"),
    "to take back while the other asks": (two(0, 4, (ANA, ASK)), BO, [ASK], "not_allowed"),
    "to take back for another ply": (two(0, 4, (BO, ASK)), ANA, [undo("offer", 1), undo("accept", 3)], "stale ply"),
    "to allow what was not asked": (two(0), BO, [ALLOW, REFUSE], "no_offer"),
    "to allow the own request": (two(0, (ANA, ASK)), ANA, [ALLOW], "no_offer"),
    "to allow what was declined": (two(0, 4, (BO, ASK), (ANA, REFUSE)), ANA, [ALLOW], "no_offer"),
    "to take back among three": (three(0, 1, 2), ANA, [ASK, ALLOW, REFUSE, undo("accept", 9)], "not_allowed"),
    "to take back in a game for three": (three(0, 1, 2, (CY, RESIGN)), ANA, [ASK, ALLOW, REFUSE], "not_allowed"),
    "to resign twice": (three((ANA, RESIGN)), ANA, [RESIGN], "not_allowed"),
    "a claim by one who is out": (after_the_hold(three((CY, RESIGN), (BO, drop))), CY, [ASK, WIN], "not_allowed"),
    "a claim from one who left": (after_the_hold(three((BO, LEAVE))), ANA, [WIN], "not_allowed"),
    "a move while a choice is due": (CHOICE_DUE, BO, [move(9, 3)], "choose_first cell"),
    "anything while the other has to choose": (CHOICE_DUE, ANA, [move(9, 3), choose("X", 3)], "not_your_turn"),
    "a choice for another ply": (CHOICE_DUE, BO, [choose("X", 2)], "stale ply"),
    "an option that there is not": (CHOICE_DUE, BO, [choose("A", 3)], "not_allowed take"),
    "a choice while marks are placed": (two(rules=SWAP2), ANA, [choose("X", 0)], "not_allowed take"),
    "a choice without an opening": (two(), ANA, [choose("X", 0)], "not_allowed take"),
}


@each("name", REFUSED)
def test_a_request_that_is_not_possible_is_refused(name: str) -> None:
    table, player, commands, expected = REFUSED[name]
    found = [table.refusal(player, command) for command in commands]
    assert [f"{refused.code} {refused.path or ''}".strip() for refused in found] == [expected] * len(commands)


def test_a_refusal_names_the_player_or_the_options() -> None:
    assert "ana" in describe_fault(two().refusal(BO, move(4, 0)))
    assert "ana" in describe_fault(two(0, 4, (ANA, ASK)).refusal(BO, ASK))
    chosen = describe_fault(CHOICE_DUE.refusal(BO, choose("A", 3)))
    assert chosen == "You can't choose 'A' here. Choose X, O, more."
