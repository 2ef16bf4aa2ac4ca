"""Play one game on the engine and on the oracle and report the first difference."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, cast

from tests.engine import oracle
from tictactoe_engine import IllegalMove, InvalidRules, Position, Rules
from tictactoe_engine.opening import OpeningRule


class Step(NamedTuple):
    """One thing to try: a legal cell, any cell on or just off the board, or a mark to pass over.

    A choice that is due is made on the way, after refused ones. `number` selects among the possibilities, modulo their
    count.
    """

    kind: Literal["legal", "any", "pass"]
    number: int


def compare_game(plan: oracle.Plan, steps: Iterable[Step]) -> str | None:
    """Return a sentence on the first difference between engine and oracle, or None if they agree throughout."""
    try:
        shape = (plan.rows, plan.columns, plan.line, plan.marks, frozenset(plan.blocked))
        opening = cast("OpeningRule | None", plan.opening)
        rules = Rules(*shape, plan.misere, plan.gravity, plan.exact, opening)
    except InvalidRules as error:
        return f"refused winnable rules: {error}" if plan.is_winnable() and plan.is_sensible() else None
    if not plan.is_sensible():
        return "accepted rules that make no sense"
    if not plan.is_winnable():
        return "accepted rules that nobody can win by"
    game, position = oracle.NaiveGame(plan), Position.start(rules)
    difference = _compare_states(game, position)
    for step in steps:
        if difference is not None:
            return difference
        if step.kind == "pass":
            position, difference = _compare_passing(game, position, step.number)
        else:
            position, difference = _compare_move(game, position, step)
        difference = difference or _compare_states(game, position)
        if difference is None:
            position, difference = _compare_choice(game, position, step.number)
            difference = difference or _compare_states(game, position)
    if difference is None and Position.replay(rules, game.moves, game.gone, game.taken) != position:
        return f"replaying {game.moves} with {game.gone} gives another position"
    return difference


def _compare_move(game: oracle.NaiveGame, position: Position, step: Step) -> tuple[Position, str | None]:
    cell = step.number % (len(game.cells) + 6) - 3
    if step.kind == "legal" and (legal := game.list_legal_cells()):
        cell = legal[step.number % len(legal)]
    expected = game.find_fault(cell)
    actual: str | None = None
    before = position
    try:
        position = position.play(cell)
    except IllegalMove as error:
        actual = error.code
    if expected != actual:
        return before, f"after {game.moves} cell {cell} is {actual or 'legal'}, not {expected or 'legal'}"
    if expected is None:
        game.play(cell)
    return position, None


def _compare_passing(game: oracle.NaiveGame, position: Position, number: int) -> tuple[Position, str | None]:
    mark = game.plan.marks[number % len(game.plan.marks)]
    following, difference = _compare_doing(game.can_pass_over(mark), "passed over", mark, position.pass_over)
    if following is not None and difference is None:
        game.pass_over(mark)
    return following or position, difference and f"after {game.moves} {difference}"


def _compare_choice(game: oracle.NaiveGame, position: Position, number: int) -> tuple[Position, str | None]:
    """Choose if a choice is due, sometimes after a refused move; otherwise try to choose."""
    options = game.list_options()
    if options and number % 3 == 0:
        return position, None
    take = options[number % len(options)] if options else (*game.plan.marks, "more")[number % 3]
    following, difference = _compare_doing(bool(options), "chosen", take, position.choose)
    if following is not None and difference is None:
        game.choose(take)
    return following or position, difference and f"after {game.moves} {difference}"


def _compare_doing(
    allowed: bool, done: str, what: str, do: Callable[[str], Position]
) -> tuple[Position | None, str | None]:
    """Return the engine's result, or None if it refuses, and a difference to the oracle."""
    try:
        following = do(what)
    except ValueError as error:
        return None, f"{what} may be {done}, but: {error}" if allowed else None
    return following, None if allowed else f"{what} was {done}, but may not be"


def _compare_states(game: oracle.NaiveGame, position: Position) -> str | None:
    outcome = position.outcome
    pairs: dict[str, tuple[object, object]] = {
        "board": ("".join(game.cells), position.board),
        "turn": (game.turn, position.turn),
        "outcome": (game.ending, outcome and (outcome.reason, outcome.winner, outcome.line)),
        "legal cells": (tuple(game.list_legal_cells()), position.legal_cells),
        "options": (tuple(game.list_options()), position.options),
        "moves": (tuple(game.moves), position.moves),
        "ply and last": ((len(game.moves), game.moves[-1] if game.moves else None), (position.ply, position.last)),
    }
    for name, (expected, actual) in pairs.items():
        if expected != actual:
            return f"after {game.moves} the {name} is {actual!r}, not {expected!r}"
    return None
