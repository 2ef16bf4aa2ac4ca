"""What a search found about positions and moves, in the few words that a line holds; the same in every face. Pure.

Values are for the mark that moves next, against all others together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tictactoe_engine import Rules, format_cell
from tictactoe_protocol.pushes import AnalysisState, CellValue

_MOST_BEST, _MOST_OTHERS, _MOST_IN_A_LINE = 6, 9, 4
EVEN: Final = 0.15
"""An estimate that is no further from 0 says nothing."""
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}


def describe_value(value: CellValue, *, solved: bool = True) -> str:
    """Return what a move is worth to whoever makes it: ``loses in 4``, ``unclear, looks good``."""
    match value.kind:
        case "win":
            return f"wins{_how_soon(value, solved=solved)}"
        case "loss":
            return f"loses{_how_soon(value, solved=solved)}"
        case "draw":
            return "a draw"
    return f"unclear, looks {'good' if value.estimate > EVEN else 'bad' if value.estimate < -EVEN else 'even'}"


def describe_position(analysis: AnalysisState, rules: Rules) -> str:
    """Return who stands how, and the best moves: ``X to move: a draw with best play. Best: B2, A1.``"""
    turn, value = analysis.turn, analysis.value
    if turn is None:
        return "The game is over here."
    several, soon = len(rules.marks) > 2, _how_soon(value, solved=analysis.solved)
    match value.kind:
        case "win":
            verdict = f"{turn} wins{soon}{', whatever the others do' if several else ''}"
        case "loss":
            lost = f"loses{soon} to the others together" if several else f"{rules.marks.replace(turn, '')} wins{soon}"
            verdict = f"{turn} to move: {lost}"
        case "draw":
            verdict = f"{turn} to move: a draw {'against all the others' if several else 'with best play'}"
        case _:
            for_whom = "" if abs(value.estimate) <= EVEN else f" for {turn}"
            verdict = f"{turn} to move: {describe_value(value)}{for_whom}"
    if len(analysis.best) == len(analysis.cells) > 1:
        return f"{verdict}. All moves are equal."
    best = _list_cells(analysis.best, rules, _MOST_BEST)
    return f"{verdict}. Best: {best}." if best else f"{verdict}."


def sign_of(value: CellValue) -> str:
    """Return the sign of a worth: ``+``, ``-``, ``=``, or for a guess ``~+``, ``~``, ``~-``."""
    guess = "~+" if value.estimate > EVEN else "~-" if value.estimate < -EVEN else "~"
    return _SIGNS.get(value.kind, guess)


def format_value(value: CellValue, room: int, *, is_best: bool, is_chosen: bool = False) -> str:
    """Return what stands in a cell with room for so many characters: 5, 3 or 1 of them, or "" for nothing.

    ``+3`` wins in 3 moves of all players, ``-4`` loses in 4, ``=`` is a draw, ``~+``, ``~`` and ``~-`` are guesses, and
    a star before it marks the best. A cell of three leaves out the number where it would hide the star.

    >>> [format_value(CellValue("win", 3, 1.0), room, is_best=True) for room in (5, 3, 1)]
    [' *+3 ', '*+3', '*']
    """
    sign, star, (left, right) = sign_of(value), "*" if is_best else " ", ("[", "]") if is_chosen else (" ", " ")
    worth = f"{sign}{'' if value.plies is None else value.plies}"
    if room == 1:
        return "*" if is_best else _SIGNS.get(value.kind, "")
    if room > 3:
        return f"{left}{star}{worth if len(worth) <= 3 else sign:<2}{right}"[:5]
    if is_chosen:
        return f"[{'*' if is_best else sign[-1]}]"
    ways = (f"{star}{worth}", f"{star}{sign}") if is_best else (f" {worth}", worth, f" {sign}")
    return f"{next(way for way in ways if len(way) <= 3):<3}"


def review_position(after: AnalysisState, before: AnalysisState | None, cell: int | None, rules: Rules) -> list[str]:
    """Return all that can be said of a position, a fact a line: its worth, the other moves, the move that led to it.

    `cell` is that move and `before` the analysis of where it was made, None at the start of the game.
    """
    at = f"After move {after.ply}" if after.ply else "At the start"
    compared = "" if before is None or cell is None else compare_played(cell, before, rules)
    lines = (f"{at}: {describe_position(after, rules)}", describe_alternatives(after, rules), compared)
    return [line for line in lines if line]


def describe_alternatives(analysis: AnalysisState, rules: Rules) -> str:
    """Return what the moves beside the best surely lead to, ``Also: A1 draws. B1, C1 lose.``; "" without any."""
    others, told = sorted(analysis.cells.keys() - set(analysis.best)), []
    for kind, verb, later in (("win", "win", " later"), ("draw", "draw", ""), ("loss", "lose", "")):
        if cells := [cell for cell in others if analysis.cells[cell].kind == kind]:
            names = _list_cells(cells, rules, _MOST_OTHERS)
            told.append(f"{names} {verb}{'s' if len(cells) == 1 else ''}{later}.")
    return f"Also: {' '.join(told)}" if told else ""


def describe_cell_worth(cell: int, analysis: AnalysisState, rules: Rules) -> str:
    """Return what one cell is worth: ``C3 loses in 4``, or that nobody can move there."""
    value, name = analysis.cells.get(cell), format_cell(cell, rules)
    if value is None:
        return f"{name} is no move"
    joint = "" if value.kind in ("win", "loss") else ":"
    return f"{name}{joint} {describe_value(value, solved=analysis.solved)}"


def compare_played(played: int, analysis: AnalysisState, rules: Rules) -> str:
    """Return how the move that followed compares: ``X played C3: loses in 4; best B2: a draw.``; "" where unknown."""
    value = analysis.cells.get(played)
    if value is None or analysis.turn is None:
        return ""
    head = f"{analysis.turn} played {format_cell(played, rules)}"
    worth = describe_value(value, solved=analysis.solved)
    if len(analysis.best) == len(analysis.cells):
        return f"{head}: {worth}, like any move."
    if played in analysis.best:
        return f"{head}, {'the best' if len(analysis.best) == 1 else 'one of the best'}: {worth}."
    best = analysis.cells.get(analysis.best[0]) if analysis.best else None
    if best is None:
        return f"{head}: {worth}."
    name, better = format_cell(analysis.best[0], rules), describe_value(best, solved=analysis.solved)
    return f"{head}: {worth}; {f'better {name}' if better == worth else f'best {name}: {better}'}."


def describe_mistake(ply: int, cell: int, before: AnalysisState, rules: Rules) -> str:
    """Return a mistake and what it cost: ``Move 4: O played B1: loses in 3; best C2: a draw. It cost the draw.``"""
    lost = {"win": "the win", "draw": "the draw"}.get(before.value.kind, "the game")
    return f"Move {ply}: {compare_played(cell, before, rules)} It cost {lost}."


def rate(value: CellValue) -> float:
    """Return a value as a number: 1 is won, -1 lost, 0 a draw; what is not known as far as it can be guessed."""
    return {"win": 1.0, "draw": 0.0, "loss": -1.0}.get(value.kind, value.estimate)


def rank_cells(analysis: AnalysisState) -> list[int]:
    """Return the legal cells, the best first: quick wins, then what is likely to be good, slow losses before quick."""

    def rank(cell: int) -> tuple[bool, float, int]:
        value = analysis.cells[cell]
        quickness = 10_000.0 - (value.plies or 0) if value.kind in ("win", "loss") else 1.0
        return cell not in analysis.best, -rate(value) * quickness, cell

    return sorted(analysis.cells, key=rank)


def list_worth(analysis: AnalysisState, rules: Rules, limit: int) -> list[str]:
    """Return the best cells in lines, one for each worth: ``* H8 I9  wins in 3``; at most so many lines."""
    lines: dict[str, list[int]] = {}
    for cell in rank_cells(analysis):
        words = describe_value(analysis.cells[cell], solved=analysis.solved)
        line = f"{'*' if cell in analysis.best else ' '} {{}}  {words}"
        if line not in lines and len(lines) == limit:
            break
        lines.setdefault(line, []).append(cell)
    return [line.format(_list_cells(cells, rules, _MOST_IN_A_LINE, " ")) for line, cells in lines.items()]


def _how_soon(value: CellValue, *, solved: bool) -> str:
    if value.plies is None:
        return ""
    return " at once" if value.plies == 1 else f" {'in' if solved else 'within'} {value.plies}"


def _list_cells(cells: Sequence[int], rules: Rules, limit: int, comma: str = ", ") -> str:
    more = f" and {len(cells) - limit} more" if len(cells) > limit else ""
    return f"{comma.join(format_cell(cell, rules) for cell in cells[:limit])}{more}"
