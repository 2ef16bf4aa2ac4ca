"""What a search found about a position, in sentences, for reviews and for those who watch. Pure.

A *move* is one mark set, whoever sets it, as everywhere in this client: ``X wins in 3 moves`` counts X, O and X. Marks
stand for the players, as an analysis knows no names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tictactoe_engine import Rules, format_cell
from tictactoe_protocol.pushes import AnalysisState, CellValue

MOST_CELLS_NAMED: Final = 9

_ORDER: Final = {"win": 0, "draw": 1, "unknown": 2, "loss": 3}
_LEADS: Final = ((0.1, "about even"), (0.4, "slightly"), (0.75, "clearly"), (2.0, "far"))
_NOTABLE_DROP: Final = 0.2


def describe_position(after: AnalysisState, before: AnalysisState | None, cell: int | None, rules: Rules) -> list[str]:
    """Return all that can be said of a position, a fact a line: its worth, the other moves, the move that led to it.

    `cell` is that move and `before` the analysis of where it was made, None at the start of the game.
    """
    at = f"After move {after.ply}" if after.ply else "At the start"
    lines = [f"{at}: {describe_worth(after, rules)}", describe_alternatives(after, rules)]
    if before is not None and cell is not None:
        lines.append(judge_move(before, cell, rules))
    return [line for line in lines if line]


def describe_worth(analysis: AnalysisState, rules: Rules) -> str:
    """Return what the position is worth to the player to move, and the best cells.

    Of a finished game: that it is over.
    """
    if analysis.turn is None:
        return "The game is over."
    turn, value, best = analysis.turn, analysis.value, _name_best(analysis, rules)
    if value.kind == "win":
        against = " against all others together" if _is_many(rules) else ""
        return f"{turn} wins {_within(value, analysis)}{against} with {best.replace(', ', ' or ')}."
    if value.kind == "loss":
        against = "if the others play together" if _is_many(rules) else "against best play"
        holds = f"Longest: {best}." if _has_choice(analysis) else f"Every move is lost alike: {best}."
        return f"{turn} to move: lost {_within(value, analysis)} {against}. {holds}"
    if value.kind == "draw":
        return f"{turn} to move: a draw with best play. Best: {best}."
    return f"{turn} to move: not decided, {describe_estimate(value.estimate, turn)}. Best: {best}."


def describe_alternatives(analysis: AnalysisState, rules: Rules) -> str:
    """Return what the moves beside the best lead to, ``Also: A1 draws. B1, C1 lose.``; "" where nothing is to be said.

    Only what is known for sure is told.
    """
    others: dict[str, list[int]] = {}
    for cell, value in sorted(analysis.cells.items()):
        if cell not in analysis.best and value.kind != "unknown":
            others.setdefault(value.kind, []).append(cell)
    if not others:
        return ""
    told = []
    for kind in sorted(others, key=_ORDER.__getitem__):
        one = len(others[kind]) == 1
        verb = {"win": "win", "draw": "draw", "loss": "lose"}[kind] + ("s" if one else "")
        later = " later" if kind == "win" else ""
        told.append(f"{list_cells(others[kind], rules)} {verb}{later}.")
    return f"Also: {' '.join(told)}"


def judge_move(before: AnalysisState, cell: int, rules: Rules) -> str:
    """Return whether a move was the best there was, `before` being the analysis of the position in which it was made.

    ``X C3 was a mistake: it loses. B2 keeps the draw.``; "" where the analysis has no such move.
    """
    played = before.cells.get(cell)
    if before.turn is None or played is None:
        return ""
    name, value = f"{before.turn} {format_cell(cell, rules)}", before.value
    if cell in before.best:
        return f"{name} was {_describe_standing(before)}."
    better = _name_best(before, rules)
    if played.kind == value.kind != "unknown":
        slower = {"win": "wins too, but later", "loss": "loses sooner"}.get(played.kind)
        return f"{name} {slower}. Best: {better}." if slower else f"{name} keeps the draw as well."
    if "unknown" in (played.kind, value.kind):
        return _judge_guess(name, played, value, better)
    one = len(before.best) == 1
    verb = f"win{'s' if one else ''}" if value.kind == "win" else f"keep{'s' if one else ''} the draw"
    becomes = "only draws" if played.kind == "draw" else "loses"
    return f"{name} was a mistake: it {becomes}. {better} {verb}."


def describe_estimate(estimate: float, mark: str) -> str:
    """Return in words who stands better, an estimate running from -1 (lost) to 1 (won) for the mark.

    >>> describe_estimate(0.02, "X"), describe_estimate(-0.5, "X")
    ('about even', 'X stands clearly worse')
    """
    lead = next(words for bound, words in _LEADS if abs(estimate) < bound)
    if lead == "about even":
        return lead
    return f"{mark} stands {lead} {'better' if estimate > 0 else 'worse'}"


def list_cells(cells: Iterable[int], rules: Rules) -> str:
    """Return cells by their names, at most nine, and how many more there are."""
    named = [format_cell(cell, rules) for cell in cells]
    rest = len(named) - MOST_CELLS_NAMED
    if rest > 0:
        return f"{', '.join(named[:MOST_CELLS_NAMED])} and {rest} more"
    return ", ".join(named)


def _judge_guess(name: str, played: CellValue, value: CellValue, better: str) -> str:
    """Return a judgement where the search did not see the end."""
    if value.kind == "win":
        return f"{name} missed a win: {better}."
    if played.kind == "loss":
        return f"{name} was a mistake: it loses. Better: {better}."
    if value.estimate - played.estimate >= _NOTABLE_DROP:
        return f"{name} was weaker than {better.replace(', ', ' or ')}."
    return f"{name} was about as good as the best: {better}."


def _name_best(analysis: AnalysisState, rules: Rules) -> str:
    """Return the best cells by name, in words where they are all there are."""
    if len(analysis.best) == len(analysis.cells) > 1:
        return "any free cell"
    return list_cells(analysis.best, rules)


def _describe_standing(analysis: AnalysisState) -> str:
    if not _has_choice(analysis):
        return "as good as any other move" if len(analysis.best) > 1 else "the only move"
    return "the best move" if len(analysis.best) == 1 else "one of the best moves"


def _has_choice(analysis: AnalysisState) -> bool:
    return len(analysis.best) < len(analysis.cells)


def _within(value: CellValue, analysis: AnalysisState) -> str:
    """Return how soon: ``at once``, ``in 3 moves``; ``in at most 7 moves`` where a shorter way may exist."""
    if value.plies is None:
        return "in the end"
    if value.plies == 1:
        return "at once"
    return f"in {'' if analysis.solved else 'at most '}{value.plies} moves"


def _is_many(rules: Rules) -> bool:
    return len(rules.marks) > 2
