from tictactoe_engine import PRESETS, Position, Rules, parse_cell
from tictactoe_engine.search import Budget, analyse
from tictactoe_protocol import reviewed
from tictactoe_protocol.pushes import AnalysisState, CellValue
from tictactoe_protocol.reviewed import Reviewed, carry

GOMOKU, CLASSIC = PRESETS["gomoku"], PRESETS["classic"]
FAR, LOST, WON = CellValue("unknown", None, -0.3), CellValue("loss", 4, -1.0), CellValue("win", 3, 1.0)


def played(names: str, rules: Rules = CLASSIC) -> Position:
    return Position.replay(rules, [parse_cell(name, rules) for name in names.split()])


def analysed(position: Position) -> AnalysisState:
    return AnalysisState.of(position, analyse(position, Budget(nodes=400)))


def found(ply: int, value: CellValue, best: int, cells: dict[int, CellValue]) -> AnalysisState:
    return AnalysisState(ply, "XO"[ply % 2], value, cells, (best,), solved=False)


def test_a_move_that_led_to_a_proven_win_of_the_other_side_is_known_to_lose() -> None:
    last = played("h8 h9 i8 a1 j8 a2 k8", GOMOKU)
    known = {ply: analysed(last.at(ply)) for ply in (5, 6, 7)}
    assert known[5].cells[last.moves[5]].kind == "unknown"
    carry(known, last)
    assert known[5].cells[last.moves[5]] == CellValue("loss", 4, -1.0)
    assert {worth.kind for worth in known[7].cells.values()} == {"loss"}


def test_proven_values_carry_back_to_the_last_choice() -> None:
    last = played("a1 b2 c3 a2")
    quick = CellValue("loss", 2, -1.0)
    known = {1: found(1, FAR, 4, {4: FAR, 5: FAR}), 2: found(2, FAR, 8, {8: FAR, 5: quick})}
    known |= {3: found(3, WON, 3, {3: WON}), 4: found(4, FAR, 1, {1: FAR, 2: FAR})}
    carry(known, last)
    assert (known[1].value, known[1].best) == (CellValue("win", 5, 1.0), (4,))
    assert (known[2].value, known[2].best) == (LOST, (8,))
    assert known[4].value == CellValue("loss", 2, -1.0)
    assert {worth.kind for worth in known[4].cells.values()} == {"loss"}


def test_every_value_that_follows_is_the_one_that_a_full_search_finds() -> None:
    last = played("a1 b2 c3 a3 b1 c2 c1")
    exact = {ply: analysed(last.at(ply)) for ply in range(last.ply + 1)}
    known = dict(exact)
    for ply in range(0, last.ply, 2):
        known[ply] = found(ply, FAR, last.moves[ply], dict.fromkeys(exact[ply].cells, FAR))
    carry(known, last)
    assert [known[ply].value.kind == exact[ply].value.kind for ply in (2, 4, 6)] == [True] * 3
    assert all(known[ply].cells[last.moves[ply]] == exact[ply].cells[last.moves[ply]] for ply in range(0, last.ply, 2))


def test_values_do_not_carry_in_games_of_three_or_before_sides_are_chosen() -> None:
    opened = Position.replay(Rules(misere=True, opening="pie"), (0, 4, 8), (), ("O",))
    for last in (opened, Position.replay(PRESETS["three-players"], (0, 1, 2))):
        known = {ply: analysed(last.at(ply)) for ply in (0, 1)}
        before = known.copy()
        carry(known, last)
        assert known == before


def test_no_cell_is_best_if_most_have_the_same_estimate() -> None:
    far = Position.start(Rules(15, 15, 5, exact=True, opening="swap2"))
    assert analysed(far).best == ()
    assert len(analysed(Position.start(CLASSIC)).best) == 9


def test_the_latest_reviews_are_cached_by_order_of_moves() -> None:
    games = Reviewed()
    one, other = played("a1 b2 c3"), played("c3 b2 a1")
    games.of(one)[0] = analysed(one.at(0))
    assert games.of(other) == {}
    assert list(games.of(one)) == [0]
    for ply in range(reviewed.MOST_KEPT):
        games.of(other)[ply] = games.of(one)[0]
    games.of(other)
    assert games.of(one) == {}
