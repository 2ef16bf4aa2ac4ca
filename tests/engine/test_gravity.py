import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.naive import Memo, naive_score
from tests.engine.random_games import open_games
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, Memory, analyse, best_cells
from tictactoe_engine.search.budget import Meter
from tictactoe_engine.search.columns import Columns, columns_of
from tictactoe_engine.search.proof import Proof
from tools.connect_four.book import position_after

SIDES = [(rows, columns) for rows in range(1, 6) for columns in range(1, 6) if 2 <= rows * columns <= 16]
FALLING = st.sampled_from(
    [Rules(*sides, line, gravity=True) for sides in SIDES for line in range(2, min(4, max(sides)) + 1)]
)
FOUR = PRESETS["connect-four"]
MIDDLE = position_after("4444445256132263")


def stones_of(columns: Columns, position: Position) -> tuple[int, int]:
    own, other = sorted(position.rules.marks, key=lambda mark: mark != position.turn)
    return columns.pad(position.stones(own)), columns.pad(position.stones(other))


@given(position=open_games(FALLING, least_played=0.3))
def test_proven_values_match_minimax(position: Position) -> None:
    columns, memo = columns_of(position.rules), Memo()
    mark = position.turn or ""
    proof = Proof(columns, *stones_of(columns, position), Memory(), Meter(Budget()))
    proof.run((), every=True)
    for move, known in proof.bounds.items():
        worth, _ = naive_score(position.play(columns.cell_of(move)), mark, memo)
        assert known == (worth, worth)


def test_a_memory_speeds_up_repeated_proofs_of_one_board() -> None:
    memory = Memory()
    first = analyse(MIDDLE, Budget(nodes=6_000), memory=memory)
    again = analyse(MIDDLE, Budget(nodes=6_000), memory=memory)
    assert again.nodes <= first.nodes
    assert len(memory.fresh) > 100
    analyse(Position.start(Rules(5, 5, 4, gravity=True)), Budget(nodes=100), memory=memory)
    assert len(memory.fresh) <= 100


def test_a_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_engine.search.proof._MAX_ENTRIES", 50)
    memory = Memory()
    best_cells(MIDDLE, Budget(nodes=3_000), memory=memory)
    assert 0 < len(memory.fresh) <= 50
    assert 0 < len(memory.older) <= 50


def test_a_brief_search_looks_neither_far_nor_into_the_book() -> None:
    clock_reads = []

    def clock() -> float:
        clock_reads.append(0.0)
        return 0.0

    best_cells(Position.start(FOUR), Budget(seconds=1.0, clock=clock), is_brief=True)
    assert 0 < len(clock_reads) < 1_000
