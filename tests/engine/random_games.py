"""Random rules of every kind, and positions within their games, for property tests."""

from hypothesis import strategies as st

from tictactoe_engine import InvalidRules, Position, Rules
from tictactoe_engine.opening import OpeningRule


@st.composite
def rule_sets(draw: st.DrawFn, *, max_side: int = 7, max_cells: int = 49, max_marks: int = 6) -> Rules:
    rows = draw(st.integers(1, max_side))
    columns = draw(st.integers(1 if rows > 1 else 2, min(max_side, max(2, max_cells // rows))))
    line = draw(st.integers(2, max(rows, columns)))
    marks = "XOABCD"[: draw(st.integers(2, max_marks))]
    misere = len(marks) == 2 and draw(st.booleans())
    gravity = draw(st.booleans())
    exact = not gravity and draw(st.booleans())
    opening: OpeningRule | None = "pie" if len(marks) == 2 and draw(st.booleans()) else None
    blocked = draw(st.frozensets(st.integers(0, rows * columns - 1), max_size=3))
    try:
        return Rules(rows, columns, line, marks, blocked, misere, gravity, exact, opening)
    except InvalidRules:
        return Rules(rows, columns, line, marks, frozenset(), misere, gravity, exact, opening)


@st.composite
def open_games(draw: st.DrawFn, rules: st.SearchStrategy[Rules], *, least_played: float = 0.0) -> Position:
    """Draw a running position with some players passed over; `least_played` is a share of the cells."""
    position = Position.start(draw(rules))
    length = draw(st.integers(int(least_played * position.rules.size), position.rules.size))
    for _ in range(length):
        if len(position.active_marks) > 2 and draw(st.integers(0, 9)) == 0:
            position = position.pass_over(draw(st.sampled_from(position.active_marks)))
        following = position.play(draw(st.sampled_from(position.legal_cells)))
        if following.outcome is not None:
            break
        position = decide(following, draw(st.integers(0, 2)))
    return position


def decide(position: Position, number: int) -> Position:
    """Make the choice that is due, if any, selected by a number."""
    options = position.options
    return position.choose(options[number % len(options)]) if options else position


@st.composite
def finished_games(draw: st.DrawFn, rules: st.SearchStrategy[Rules]) -> Position:
    """Draw the end of a game, with some players passed over on the way."""
    position = draw(open_games(rules))
    while position.outcome is None:
        position = decide(position.play(draw(st.sampled_from(position.legal_cells))), 0)
    return position
