"""What the analyses of one game say about each other: nothing of them contradicts what is proven before or after."""

from __future__ import annotations

from tictactoe_engine import PRESETS, Position, Rules, parse_cell
from tictactoe_engine.search import Budget, analyse
from tictactoe_protocol import reviewed
from tictactoe_protocol.pushes import AnalysisState, CellValue
from tictactoe_protocol.reviewed import Reviewed, carry

GOMOKU, CLASSIC = PRESETS["gomoku"], PRESETS["classic"]
FAR, DRAW = CellValue("unknown", None, -0.3), CellValue("draw")


def played(names: str, rules: Rules) -> Position:
    return Position.replay(rules, [parse_cell(name, rules) for name in names.split()])


def analysed(position: Position, nodes: int = 400) -> AnalysisState:
    return AnalysisState.of(position, analyse(position, Budget(nodes=nodes)))


def test_a_move_that_led_to_a_proven_win_of_the_other_side_is_known_to_lose() -> None:
    last = played("h8 h9 i8 a1 j8 a2 k8", GOMOKU)
    known = {ply: analysed(last.at(ply)) for ply in (5, 6, 7)}
    assert known[5].cells[last.moves[5]].kind == "unknown"
    carry(known, last)
    assert known[5].cells[last.moves[5]] == CellValue("loss", 4, -1.0)
    assert last.moves[5] not in known[5].best
    assert {worth.kind for worth in known[7].cells.values()} == {"loss"}


def test_where_the_last_way_out_is_lost_the_position_is_and_so_back_to_the_last_choice() -> None:
    last = played("a1 b2 c3", CLASSIC)
    lost = CellValue("loss", 2, -1.0)
    known = {
        1: AnalysisState(1, "O", FAR, {4: FAR, 5: FAR}, (4,), solved=False),
        2: AnalysisState(2, "X", FAR, {8: FAR, 5: lost}, (8,), solved=False),
        3: AnalysisState(3, "O", CellValue("win", 3, 1.0), {1: CellValue("win", 3, 1.0)}, (1,), solved=False),
    }
    carry(known, last)
    assert (known[2].value, known[2].best) == (CellValue("loss", 4, -1.0), (8,))
    assert (known[1].value, known[1].best) == (CellValue("win", 5, 1.0), (4,))


def test_what_a_move_is_known_to_be_worth_holds_after_it() -> None:
    last = played("a1 b2 c3", CLASSIC)
    known = {
        1: AnalysisState(1, "O", CellValue("loss", 6, -1.0), {4: CellValue("loss", 6, -1.0)}, (4,), solved=False),
        2: AnalysisState(2, "X", FAR, {8: FAR, 5: DRAW}, (8, 5), solved=False),
    }
    carry(known, last)
    assert (known[2].value, known[2].best) == (CellValue("win", 5, 1.0), (8,))


def test_every_value_that_follows_is_the_one_that_a_full_search_finds() -> None:
    last = played("a1 b2 c3 a3 b1 c2 c1", CLASSIC)
    exact = {ply: analysed(last.at(ply)) for ply in range(last.ply + 1)}
    known = dict(exact)
    for ply in range(0, last.ply, 2):
        hidden = dict.fromkeys(exact[ply].cells, FAR)
        known[ply] = AnalysisState(ply, exact[ply].turn, FAR, hidden, (), solved=False)
    carry(known, last)
    found = [ply for ply in range(0, last.ply, 2) if known[ply].value.kind != "unknown"]
    assert found == [2, 4, 6]
    assert all(known[ply].value.kind == exact[ply].value.kind for ply in found)
    assert all(known[ply].cells[last.moves[ply]] == exact[ply].cells[last.moves[ply]] for ply in range(0, last.ply, 2))


def test_games_of_three_and_what_is_placed_before_sides_are_taken_stay_as_they_are() -> None:
    opened = Position.replay(Rules(misere=True, opening="pie"), (0, 4, 8), (), ("O",))
    for last in (opened, Position.replay(PRESETS["three-players"], (0, 1, 2))):
        known = {ply: analysed(last.at(ply)) for ply in (0, 1)}
        before = dict(known)
        carry(known, last)
        assert known == before


def test_where_nothing_is_known_and_most_cells_look_alike_none_is_best() -> None:
    far = Position.start(Rules(15, 15, 5, exact=True, opening="swap2"))
    assert analysed(far).best == ()
    assert len(analysed(Position.start(CLASSIC)).best) == 9


def test_games_that_were_looked_at_last_are_kept_and_orders_of_moves_told_apart() -> None:
    games = Reviewed()
    one, other = played("a1 b2 c3", CLASSIC), played("c3 b2 a1", CLASSIC)
    games.of(one)[0] = analysed(one.at(0))
    assert games.of(other) == {}
    assert list(games.of(one)) == [0]
    for ply in range(reviewed.MOST_KEPT):
        games.of(other)[ply] = games.of(one)[0]
    games.of(other)
    assert games.of(one) == {}
