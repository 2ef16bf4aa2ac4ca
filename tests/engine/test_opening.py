import pytest

from tests.rows import each
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.opening import Opening
from tictactoe_engine.records import GameRecord, InvalidRecord, RecordError, format_record, parse_record
from tictactoe_engine.search import Budget, Value, analyse, best_cells

STANDARD = PRESETS["gomoku-standard"]
PIE = PRESETS["four-pie"]
THREE = (112, 113, 128)


def after(*moves: int, chosen: tuple[str, ...] = (), rules: Rules = STANDARD) -> Position:
    return Position.replay(rules, moves, (), chosen)


SWAP2 = [
    (after(), Opening("swap2", "place", "X", "X", 3)),
    (after(*THREE[:1]), Opening("swap2", "place", "X", "O", 2)),
    (after(*THREE[:2]), Opening("swap2", "place", "X", "X", 1)),
    (after(*THREE), Opening("swap2", "choose", "O", options=("X", "O", "more"))),
    (after(*THREE, chosen=("more",)), Opening("swap2", "place", "O", "O", 2)),
    (after(*THREE, 0, chosen=("more",)), Opening("swap2", "place", "O", "X", 1)),
    (after(*THREE, 0, 1, chosen=("more",)), Opening("swap2", "choose", "X", options=("X", "O"))),
    (after(*THREE, 0, 1, chosen=("more", "O")), None),
    (after(*THREE, chosen=("X",)), None),
    (after(rules=PIE), Opening("pie", "place", "X", "X", 1)),
    (after(5, rules=PIE), Opening("pie", "choose", "O", options=("X", "O"))),
    (after(5, chosen=("X",), rules=PIE), None),
]


def test_before_a_choice_the_position_is_the_one_that_it_was_about() -> None:
    for chosen in (("more", "X"), ("more", "O")):
        last = after(*THREE, 0, 1, 7, chosen=chosen)
        assert [last.at(ply).unchosen for ply in (0, 2, 4, 6)] == [None] * 4
        for ply, before in ((3, after(*THREE)), (5, after(*THREE, 0, 1, chosen=("more",)))):
            found = last.at(ply).unchosen
            assert (found, found and found.chosen, found and found.turn) == (before, before.chosen, before.turn)
    assert after(0, rules=PRESETS["classic"]).unchosen is None


@each(("position", "opening"), SWAP2)
def test_an_opening_names_the_acting_player(position: Position, opening: Opening | None) -> None:
    assert position.opening == opening
    assert position.turn == (opening.turn if opening else "XO"[position.ply % 2])
    assert bool(position.legal_cells) == (not (opening and opening.options))


def test_positions_with_different_choices_are_unequal() -> None:
    taken = {after(*THREE, chosen=(take,)) for take in ("X", "O")}
    assert len({after(*THREE), after(*THREE, chosen=("more",)), *taken}) == 3


def test_a_choice_has_the_value_of_the_better_side() -> None:
    position = Position.replay(Rules(rows=3, columns=4, opening="pie"), (5,))
    found = analyse(position, Budget())
    assert (found.cells, found.best_cells, best_cells(position, Budget())) == ({}, (), ())
    assert found.options == {"X": Value("win", 6, 1.0), "O": Value("loss", 6, -1.0)}
    assert (found.best_options, found.value) == (("X",), Value("win", 6, 1.0))


def test_to_leave_a_choice_to_the_other_is_even_at_best() -> None:
    found = analyse(after(*THREE), Budget(nodes=50))
    assert found.options["more"] == Value("unknown")
    assert found.options["X"].estimate == -found.options["O"].estimate


@pytest.mark.parametrize("position", [after(), after(*THREE[:1]), after(*THREE, chosen=("more",))])
def test_openings_with_several_marks_left_are_not_searched(position: Position) -> None:
    found = analyse(position, Budget())
    assert (set(found.cells.values()), found.best_cells) == ({Value("unknown")}, position.legal_cells)
    assert (found.is_solved, found.nodes) == (False, 0)


SWAPPED = """[Rules "gomoku-standard"]
[Result "*"]

1. h8 i8 2. i9 {swap2 O more} {Well!} a1 3. b1 {swap2 X O} h7 *

"""


def test_choices_round_trip_through_a_record() -> None:
    record = parse_record(SWAPPED)
    assert (record.chosen, record.comments, record.position.turn) == (("more", "O"), ((3, "Well!"),), "X")
    assert format_record(record) == SWAPPED
    assert [position.turn for position in record.positions()] == list("XXXOOOX")


FAULTS = [
    ("{swap2 O more}", "{swap2 X more}", "O has to choose here, by the rule swap2: X, O, more."),
    ("{swap2 X O}", "{swap2 X more}", "X has to choose here, by the rule swap2: X, O."),
    ("{swap2 O more}", "{pie O X}", "O has to choose here, by the rule swap2: X, O, more."),
    ("{swap2 X O}", "", "Choose first: X, O."),
    ("i8 2.", "i8 {swap2 O X} 2.", "There is nothing to choose here."),
]


@pytest.mark.parametrize(("right", "wrong", "fault"), FAULTS)
def test_a_choice_in_a_record_that_cannot_be_is_a_fault_with_its_place(right: str, wrong: str, fault: str) -> None:
    text = SWAPPED.replace(right, wrong)
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    assert caught.value.message == fault
    assert caught.value.line == 4


def test_a_comment_like_a_choice_stays_a_comment_without_an_opening() -> None:
    record = parse_record("1. b2 {pie O X} a1 *")
    assert (record.chosen, record.comments) == ((), ((1, "pie O X"),))


def test_a_record_holds_no_choice_that_was_not_due() -> None:
    with pytest.raises(InvalidRecord, match="no choice is due"):
        GameRecord(rules=STANDARD, moves=THREE, chosen=("X", "O"))
    with pytest.raises(InvalidRecord, match="can't choose"):
        GameRecord(rules=STANDARD, moves=THREE, chosen=("A",))
    with pytest.raises(InvalidRecord, match="must not look like a choice") as caught:
        GameRecord(rules=STANDARD, moves=THREE, comments=((1, "Well!"), (3, "swap2 O X")))
    assert caught.value.part == "comments[1]"
