"""Describes values of positions and moves, from the point of view of the mark on turn.

The parameter `name` of some functions returns the name of a mark, by default its letter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_engine import Rules, format_cell
from tictactoe_engine.opening import MORE
from tictactoe_protocol.pushes import AnalysisState, CellValue, PlayedMove
from tictactoe_words.catalogue import say
from tictactoe_words.wording import capitalize

_MOST_BEST, _MOST_IN_A_LINE = 6, 4
EVEN: Final = 0.15
"""Estimates this close to 0 are not significant."""
_SLIP, _MISTAKE = 0.2, 0.75  # how much worse than the best a move may be
_GIVEN_AWAY: Final = {("win", "draw"), ("win", "loss"), ("draw", "loss")}
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}


def describe_value(value: CellValue, *, solved: bool = True) -> str:
    """Describe a move's value to its player: ``loses in 4``, ``unclear, looks good``."""
    if value.kind in ("win", "loss"):
        return _say_soon(f"worth {value.kind}", value, solved=solved)
    if value.kind == "draw":
        return say("worth draw")
    return say("worth good" if value.estimate > EVEN else "worth bad" if value.estimate < -EVEN else "worth even")


def describe_position(analysis: AnalysisState, rules: Rules, name: Callable[[str], str] = str) -> str:
    """Describe a position and the best moves: ``X to move: a draw with best play. Best: B2, A1.``"""
    if analysis.before:
        moments = (replace(moment, before=UNSET) for moment in (analysis.before, analysis))
        chosen, description = (describe_position(moment, rules, name) for moment in moments)
        return say("before the choice", chosen=chosen, told=description)
    turn, value = analysis.turn, analysis.value
    if turn is None:
        return say("game is over here")
    mark = capitalize(name(turn))
    if analysis.options:
        options = [say("chat of", name=name_option(option, name), text=worth) for option, worth in _options(analysis)]
        best = ", ".join(name_option(option, name) for option in analysis.best_options)
        return say("stands to choose", mark=mark, options="; ".join(options), best=best)
    id = {"win": "stands", "draw": "stands draw"}.get(value.kind, "stands to move")
    verdict = say(id, mark=mark, worth=describe_value(value, solved=analysis.solved))
    if not analysis.best:
        return say("nothing decides yet", verdict=verdict)
    if len(analysis.best) == len(analysis.cells) > 1:
        return say("all moves equal", verdict=verdict)
    return say("best moves", verdict=verdict, cells=_list_cells(analysis.best, rules, _MOST_BEST))


def sign_of(value: CellValue) -> str:
    """Return the sign of a value: ``+``, ``-``, ``=``, or for an estimate ``~+``, ``~``, ``~-``."""
    guess = "~+" if value.estimate > EVEN else "~-" if value.estimate < -EVEN else "~"
    return _SIGNS.get(value.kind, guess)


def _sign_with_plies(value: CellValue) -> str:
    return f"{sign_of(value)}{'' if value.plies is None else value.plies}"


def format_value(value: CellValue, room: int, *, is_best: bool, is_chosen: bool = False) -> str:
    """Return a value for a cell of `room` characters (5, 3 or 1): ``+3`` wins in 3 plies, ``*`` marks the best.

    >>> [format_value(CellValue("win", 3, 1.0), room, is_best=True) for room in (5, 3, 1)]
    [' *+3 ', '*+3', '*']
    """
    sign, star, (left, right) = sign_of(value), "*" if is_best else " ", ("[", "]") if is_chosen else (" ", " ")
    worth = _sign_with_plies(value)
    if room == 1:
        return "*" if is_best else _SIGNS.get(value.kind, "")
    if room > 3:
        return f"{left}{star}{worth if len(worth) <= 3 else sign:<2}{right}"[:5]
    if is_chosen:
        return f"[{'*' if is_best else sign[-1]}]"
    forms = (f"{star}{worth}", f"{star}{sign}") if is_best else (f" {worth}", worth, f" {sign}")
    return f"{next(form for form in forms if len(form) <= 3):<3}"


def name_option(option: str, name: Callable[[str], str] = str) -> str:
    """Return the name of a choice in an opening: a mark, or ``two more``."""
    return say("option more") if option == MORE else name(option)


def review_position(after: AnalysisState, before: AnalysisState | None, cell: int | None, rules: Rules) -> list[str]:
    """Describe a position and the move `cell` that led from `before` to it."""
    stands = describe_position(after, rules)
    heading = say("position after", n=after.ply, told=stands) if after.ply else say("position at start", told=stands)
    compared = "" if before is None or cell is None else compare_played(cell, before, rules)
    return [heading, compared] if compared else [heading]


def describe_cell_worth(cell: int, analysis: AnalysisState, rules: Rules) -> str:
    """Describe a cell's value: ``C3 loses in 4``."""
    value, name = analysis.cells.get(cell), format_cell(cell, rules)
    if value is None:
        return say("no move there", cell=name)
    worth = describe_value(value, solved=analysis.solved)
    is_decided = value.kind in ("win", "loss")
    return say("stands", mark=name, worth=worth) if is_decided else say("chat of", name=name, text=worth)


def compare_played(played: int, analysis: AnalysisState, rules: Rules, name: Callable[[str], str] = str) -> str:
    """Compare the played move with the best: ``X played C3: wins in 7. B2 was best: wins in 3.``; "" if unknown."""
    value = analysis.cells.get(played)
    if value is None or analysis.turn is None:
        return ""
    worth, better = describe_value(value, solved=analysis.solved), ""
    best = analysis.best[0] if analysis.best else None
    names = {"cell": format_cell(played, rules), "best": "" if best is None else format_cell(best, rules)}
    if played in analysis.best:
        id = "played the best"
    elif best is None or best not in analysis.cells:
        id = "played"
    elif value.plies != 1 and len(rules.marks) == 2 and (analysis.cells[best].kind, value.kind) in _GIVEN_AWAY:
        now = _describe_lost(value, name(rules.marks.replace(analysis.turn, "")), solved=analysis.solved)
        return say(f"gave away {analysis.cells[best].kind}", now=now, **names)
    else:
        better = describe_value(analysis.cells[best], solved=analysis.solved)
        id = "played, best"
    return say(id, mark=capitalize(name(analysis.turn)), worth=worth, better=better, **names)


def _describe_lost(value: CellValue, other: str, *, solved: bool) -> str:
    """Describe a position after a mistake with this value: ``O now wins in 3 moves``."""
    if value.kind == "draw":
        return say("now draw")
    soon = CellValue("win", None if value.plies is None else value.plies - 1)
    return _say_soon(f"now {soon.kind}", soon, solved=solved, other=other)


def describe_mistake(ply: int, cell: int, before: AnalysisState, rules: Rules) -> str:
    """Describe a mistake: ``Move 4: B1 gives the draw away: X now wins in 3 moves. C2 was best.``"""
    return say("mistake", n=ply, compared=compare_played(cell, before, rules))


def add_words(analysis: AnalysisState, rules: Rules, played: int | None, *, in_stones: bool) -> AnalysisState:
    """Return an analysis with its texts, and with a judgement of `played`, the next move in the game, if there is one.

    If `in_stones` is true, the marks are called black and white.
    """
    stones = dict(zip(rules.marks, (say("stone black"), say("stone white")), strict=False)) if in_stones else {}

    def name(mark: str) -> str:
        return stones.get(mark, mark)

    cells = {}
    for cell, one in analysis.cells.items():
        sign = _sign_with_plies(one).replace("-", "−")
        cells[cell] = replace(one, text=describe_cell_worth(cell, analysis, rules), sign=sign)
    move = UNSET if played is None else _judge(played, analysis, compare_played(played, analysis, rules, name))
    return replace(analysis, cells=cells, text=describe_position(analysis, rules, name), played=move)


def _judge(played: int, analysis: AnalysisState, text: str) -> PlayedMove | UnsetType:
    value = analysis.cells.get(played)
    if value is None:
        return UNSET
    lost = analysis.value.estimate - value.estimate
    if lost > _SLIP:
        return PlayedMove("mistake" if lost >= _MISTAKE else "slip", lost, text)
    is_best = played in analysis.best and len(analysis.best) < len(analysis.cells)
    return PlayedMove("best" if is_best else "fine", 0.0, text)


def rank_cells(analysis: AnalysisState) -> list[int]:
    """Return the legal cells, the best first; slow losses come before quick ones."""

    def rank(cell: int) -> tuple[bool, float, int]:
        value = analysis.cells[cell]
        quickness = 10_000.0 - (value.plies or 0) if value.kind in ("win", "loss") else 1.0
        return cell not in analysis.best, -value.estimate * quickness, cell

    return sorted(analysis.cells, key=rank)


def list_worth(analysis: AnalysisState, rules: Rules, limit: int) -> list[str]:
    """Return at most `limit` lines of the best cells by value: ``* H8 I9  wins in 3``."""
    if analysis.options:
        rows = ((one in analysis.best_options, name_option(one), worth) for one, worth in _options(analysis))
        return [f"{'*' if is_best else ' '} {option}  {worth}" for is_best, option, worth in rows][:limit]
    lines: dict[str, list[int]] = {}
    for cell in rank_cells(analysis):
        words = describe_value(analysis.cells[cell], solved=analysis.solved)
        line = f"{'*' if cell in analysis.best else ' '} {{}}  {words}"
        if line not in lines and len(lines) == limit:
            break
        lines.setdefault(line, []).append(cell)
    return [line.format(_list_cells(cells, rules, _MOST_IN_A_LINE, " ")) for line, cells in lines.items()]


def _options(analysis: AnalysisState) -> list[tuple[str, str]]:
    return [(option, describe_value(value, solved=analysis.solved)) for option, value in analysis.options.items()]


def _say_soon(id: str, value: CellValue, *, solved: bool, other: str = "") -> str:
    if value.plies is None:
        return say(id, other=other)
    is_exact = solved or value.plies == 1
    return say(f"{id} {'in' if is_exact else 'within'}", n=value.plies, other=other)


def _list_cells(cells: Sequence[int], rules: Rules, limit: int, comma: str = ", ") -> str:
    names, more = comma.join(format_cell(cell, rules) for cell in cells[:limit]), len(cells) - limit
    return say("cells and more", cells=names, n=more) if more > 0 else names
