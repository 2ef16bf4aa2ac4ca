import asyncio

import pytest

from tictactoe_client.input import past
from tictactoe_client.input.past import Judge, Mistake
from tictactoe_engine import PRESETS, Position, Rules, format_cell, parse_cell
from tictactoe_engine.search import Analysis, Budget, Value
from tictactoe_words.worth import describe_mistake

CLASSIC, GOMOKU = PRESETS["classic"], PRESETS["gomoku"]
GIVEN_AWAY = "a1 b2 c3 a3 b1 c2 c1"


def played(names: str, rules: Rules = CLASSIC) -> Position:
    return Position.replay(rules, [parse_cell(name, rules) for name in names.split()])


async def mistakes_of(judge: Judge) -> list[Mistake]:
    return [mistake async for mistake in judge.mistakes(range(1, judge.position.ply + 1))]


async def list_mistakes(position: Position) -> list[str]:
    found = await mistakes_of(Judge(position))
    return [describe_mistake(one.ply, one.cell, one.before, position.rules) for one in found]


async def test_mistakes_are_described_with_their_cost_and_the_better_move() -> None:
    assert await list_mistakes(played(GIVEN_AWAY)) == [
        "Move 4: A3 gives the draw away: X now wins in 3 moves. B1 was best.",
        "Move 5: B1 gives the win away: O can now win at once. C1 was best.",
        "Move 6: C2 gives the win away: X can now win at once. C1 was best.",
    ]


async def test_a_game_without_a_mistake_has_none_and_no_turning_point() -> None:
    drawn = played("b2 a1 c3 a3 a2 c2 b1 b3 c1")
    assert await list_mistakes(drawn) == []
    assert await Judge(drawn).find_turning_point(None) is None
    assert await mistakes_of(Judge(Position.start(CLASSIC))) == []


@pytest.mark.parametrize(
    ("names", "winner", "ply"), [(GIVEN_AWAY, "X", 6), (GIVEN_AWAY, None, 6), ("b2 b1 a1 c3 a3 c1 a2", "X", 2)]
)
async def test_the_turning_point_is_the_last_mistake_of_non_winners(names: str, winner: str | None, ply: int) -> None:
    found = await Judge(played(names)).find_turning_point(winner)
    assert found is not None
    assert found.ply == ply


async def test_on_a_large_board_only_proven_mistakes_count() -> None:
    four_let_go = played("h8 h9 i8 a1 j8 a2 k8 a3 l8", GOMOKU)
    mistakes = await mistakes_of(Judge(four_let_go, 0.2))
    assert [mistake.ply for mistake in mistakes] == [6]
    told = describe_mistake(6, mistakes[0].cell, mistakes[0].before, GOMOKU)
    assert told.startswith("Move 6: O played A2: loses within 4. ")
    assert " was best: unclear" in told


async def test_a_search_runs_beside_the_event_loop_and_ends_on_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, has_ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def analyse(position: Position, budget: Budget) -> Analysis:
        loop.call_soon_threadsafe(begun.set)
        assert budget.clock is not None
        while budget.clock() != float("inf"):
            pass
        loop.call_soon_threadsafe(has_ended.set)
        return Analysis(Value("draw"), {}, (), is_solved=False, nodes=0)

    monkeypatch.setattr(past, "analyse", analyse)
    searching = asyncio.create_task(Judge(played(GIVEN_AWAY)).analyse(0))
    await begun.wait()
    searching.cancel()
    await has_ended.wait()


async def test_the_best_line_ends_with_the_game() -> None:
    judge = Judge(played(GIVEN_AWAY))
    names = [tuple(format_cell(cell, CLASSIC) for cell in await judge.find_line(ply)) for ply in (4, 6)]
    assert names[0][0] == "C1"
    assert len(names[0]) == 3
    assert names[1] == ("C1",)


async def test_before_the_sides_are_chosen_there_are_no_mistakes() -> None:
    judge = Judge(Position.replay(Rules(misere=True, opening="pie"), (0, 4, 8), (), ("O",)))
    assert (await judge.analyse(0)).cells[0].kind == "loss"
    assert 1 not in [mistake.ply for mistake in await mistakes_of(judge)]


async def test_after_a_choice_both_sides_have_values() -> None:
    judge = Judge(Position.replay(Rules(misere=True, opening="pie"), (0, 4, 8), (), ("O",)))
    before = (await judge.analyse(1)).before
    assert before
    assert (before.turn, {take: worth.kind for take, worth in before.options.items()}) == (
        "O",
        {"X": "loss", "O": "win"},
    )
    assert not (await judge.analyse(0)).before
    assert not (await judge.analyse(2)).before


async def test_the_best_line_ends_at_the_next_choice_of_a_side() -> None:
    judge = Judge(Position.replay(Rules(misere=True, opening="pie"), (0, 4, 8), (), ("O",)))
    assert len(await judge.find_line(0)) == 1
