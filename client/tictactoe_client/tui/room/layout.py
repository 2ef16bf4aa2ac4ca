"""Where the board and what is about it stand, the panel beside it, and the worth of moves in its free cells. Pure.

What the panel has no room for goes: the talk first, then the moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from tictactoe_client.board.board import BoardStyle, BoardView, Window, mark_role, place_of
from tictactoe_client.board.fit import Fit, fit_board, smallest_board
from tictactoe_client.board.glyphs import draw_words
from tictactoe_client.input.past import list_rounds
from tictactoe_client.input.record import describe_end, list_facts
from tictactoe_client.text.wording import describe_tally, format_duration
from tictactoe_client.text.worth import EVEN
from tictactoe_client.tui.picture import Picture, fold, measure, shorten, wrap
from tictactoe_client.tui.room.foot import sum_up_end
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import FREE, Rules, format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import AnalysisState, CellValue, RoomState

MIN_WIDTH = 24
MAX_WIDTH = 52
"""No wider, so that a clock stands near its player's name."""

_FEWEST_MOVE_LINES = 2


def paint_panel(
    picture: Picture,
    x: int,
    y: int,
    height: int,
    table: Table,
    now: float,
    worth: Sequence[str] = (),
    *,
    ascii_only: bool,
) -> None:
    """Draw the panel from here, to the right edge where that is near; `worth` says what moves are worth."""
    state = table.state
    if state is None:
        return
    width = min(MAX_WIDTH, picture.width - x - 1)
    bottom = y + height
    for mark in state.rules.marks[:height]:
        _paint_player(picture, x, y, width, mark, table, now, ascii_only=ascii_only)
        y += 1
    for line in _list_facts(table, state, width)[: max(0, bottom - y)]:
        picture.put(x, y, line, "dim")
        y += 1
    if y < bottom:
        picture.put(x, y, ("-" if ascii_only else "─") * width, "dim")
    y += 1
    ended, role = _list_end(table, width, bottom - y, ascii_only=ascii_only)
    for line in ended:
        picture.put(x, y, line, role)
        y += 1
    for line in worth[: max(0, bottom - y)]:
        picture.put(x, y, shorten(line, width))
        y += 1
    for_moves, talk = _share_out(table, state, width, bottom - y)
    y = _paint_moves(picture, x, y, width, for_moves, table, state)
    for number, (_, part) in enumerate(talk, y + 1):
        picture.put(x, number, part)


def _list_end(table: Table, width: int, height: int, *, ascii_only: bool = False) -> tuple[list[str], str]:
    """Return the lines of the end, with an empty one below, and their role; none before, or without room for them."""
    if table.state is None or table.state.result is None or table.record is not None or table.timeline.is_back:
        return [], ""
    words, role = sum_up_end(table)
    large = draw_words(words, width, ascii_only=ascii_only)
    told = fold(table.turning_point, width, 3) if table.turning_point else []
    for lines in ([*large, *([""] if told else []), *told], large, told):
        if lines and len(lines) + _FEWEST_MOVE_LINES < height:
            return [*lines, ""], role
    return [], ""


def _share_out(table: Table, state: RoomState, width: int, room: int) -> tuple[int, list[tuple[str, str]]]:
    """Return how many lines are for moves and, each with what it is a part of, those of the talk beneath them.

    The talk is cut at its beginning; what a record notes is, where it is too long, at its end.
    """
    talk = [(line, part) for line in table.talk for part in wrap(line, width)]
    moves, room = len(list_rounds(state, table.moves)), max(0, room)
    for_talk = min(len(talk), max(0, room - min(moves, max(_FEWEST_MOVE_LINES, room // 2)) - 1))
    for_moves = min(moves, room - (for_talk + 1 if for_talk else 0))
    if table.record is None or for_talk == len(talk):
        return for_moves, talk[len(talk) - for_talk :]
    cut = talk[:for_talk]
    return for_moves, [*cut[:-1], *((line, f"{part[:-1]}…") for line, part in cut[-1:])]


def _paint_moves(picture: Picture, x: int, y: int, width: int, count: int, table: Table, state: RoomState) -> int:
    """Draw so many rounds around the moment that is looked at; return the line below."""
    rounds, rules, here = list_rounds(state, table.moves), state.rules.to_rules(), table.timeline.here
    column = 4 + max(len(format_cell(rules.size - 1, rules)), 2)
    digits = len(str(len(rounds)))
    current = next((number for number, plies in enumerate(rounds) if here in plies), 0 if here == 0 else len(rounds))
    start = max(0, min(current - count // 2, len(rounds) - count))
    marks_here = table.timeline.is_back or table.record is not None
    judge = table.actions.judge if table.review.is_on else None
    for number in range(start, start + count):
        is_here = marks_here and here in rounds[number]
        end = picture.put(x, y, f"{'>' if is_here else ' ' if marks_here else ''}{number + 1:>{digits}}. ", "dim")
        for ply in rounds[number]:
            cell = table.moves[ply - 1]
            text = f"{state.board[cell]} {format_cell(cell, rules)}{'?' if judge and ply in judge.found else ''}"
            role = "title" if is_here and ply == here else "dim" if ply > here else ""
            end = picture.put(end, y, text.ljust(column), role, until=x + width)
        y += 1
    return y


def shows_talk(width: int, height: int, table: Table, worth: Sequence[str], heard: Sequence[str]) -> bool:
    """Tell whether a panel of this size, at most so wide, shows these lines of the talk in full."""
    state = table.state
    if state is None:
        return False
    width = min(MAX_WIDTH, width)
    above = len(state.rules.marks) + len(_list_facts(table, state, width)) + 1
    above += len(_list_end(table, width, height - above)[0]) + len(worth)
    _, talk = _share_out(table, state, width, height - above)
    shown = [line for line, _ in talk]
    return all(shown.count(line) >= len(wrap(line, width)) * heard.count(line) for line in heard)


def _list_facts(table: Table, state: RoomState, width: int) -> list[str]:
    """Return what is said below the players: the score of the evening, or what a record says of its game."""
    if table.record is not None:
        facts = ", ".join(_local_time(fact) for fact in list_facts(table.record))
        return [line for text in (facts, describe_end(table.record)) if text for line in wrap(text, width)]
    has_tally = state.game > 1 or any(state.score.values())
    return [shorten(f"Game {state.game}. {describe_tally(state)}", width)] if has_tally else []


def _local_time(fact: str) -> str:
    """Return a moment as this machine's clock would show it; a mere date, and whatever is no date, as it is."""
    try:
        return datetime.fromisoformat(fact).astimezone().strftime("%Y-%m-%d %H:%M") if "T" in fact else fact
    except (ValueError, OverflowError):
        return fact


def _paint_player(
    picture: Picture, x: int, y: int, width: int, mark: str, table: Table, now: float, *, ascii_only: bool
) -> None:
    state = table.state
    assert state is not None
    seat = state.seats.get(mark)
    clock, urgent = _clock(table, mark, now)
    runs = state.turn == mark
    arrow = (">" if ascii_only else "▶") if runs else " "
    name = clean_text(seat.name) if seat is not None else "(free)"
    notes = ""
    if seat is not None and seat.player == table.viewer and not seat.left:
        notes = "(you) (out)" if seat.out else "(you)"
    elif seat is not None and seat.left:
        notes = "(left)"
    elif seat is not None and seat.out:
        notes = "(out)"
    elif seat is not None and not seat.online:
        notes = "(away)"
    picture.put(x, y, mark, mark_role(mark, state.rules.to_rules(), strong=runs))
    space = width - 3 - measure(notes) - 1 - measure(clock) - 3
    picture.put_parts(x + 3, y, (shorten(name, max(4, space)), "title" if runs else ""), (f" {notes}", "dim"))
    right = f"{arrow} {clock}".rstrip()
    picture.put(x + width - measure(right), y, right, "bad" if urgent else "title" if runs else "dim")


def paint_players(picture: Picture, y: int, width: int, table: Table, now: float, *, ascii_only: bool) -> None:
    """Draw who plays, whose move it is and the clocks in one line of at most this width."""
    state = table.state
    if state is None:
        return
    x, share = 1, max(3, width // len(state.rules.marks) - 2)
    for mark in state.rules.marks:
        seat = state.seats.get(mark)
        clock, urgent = _clock(table, mark, now)
        runs = state.turn == mark
        arrow = (">" if ascii_only else "▶") if runs else ""
        space = share - measure(arrow) - measure(clock) - 3
        name = shorten(clean_text(seat.name) if seat is not None else "(free)", space) if space > 1 else ""
        text = " ".join(part for part in (name, clock) if part)
        role = mark_role(mark, state.rules.to_rules(), strong=runs)
        parts = (arrow, "title"), (mark, role), (f" {text}", "bad" if urgent else "title" if runs else "")
        x = picture.put_parts(x, y, *parts, until=width) + 2


def _clock(table: Table, mark: str, now: float) -> tuple[str, bool]:
    """Return what a clock shows, empty without clocks, and whether it is about to run out."""
    left = table.remaining_ms(mark, now)
    if left is None or table.state is None:
        return "", False
    return format_duration(left), table.state.turn == mark and left < 10_000


@dataclass(frozen=True, slots=True)
class Stage:
    """A rectangle of the window: its upper left corner and its size, in characters."""

    x: int
    y: int
    width: int
    height: int

    def find(self, x: int, y: int) -> tuple[int, int] | None:
        """Return what a place of the window is on the stage, or None beside it."""
        x, y = x - self.x, y - self.y
        return (x, y) if 0 <= x < self.width and 0 <= y < self.height else None

    def show(self, picture: Picture, width: int, height: int) -> Picture:
        """Return the window's picture with this one, of the stage's size, in its place."""
        if (picture.width, picture.height) == (width, height):
            return picture
        whole = Picture(width, height)
        for y, row in enumerate(picture.rows, self.y):
            whole.rows[y][self.x : self.x + picture.width] = row
        return whole


def place_stage(size: tuple[int, int], window: tuple[int, int]) -> Stage:
    """Return where something of this size stands; of what the window has left over above and below, 2/5 are above.

    >>> place_stage((100, 30), (200, 50))
    Stage(x=50, y=8, width=100, height=30)
    """
    width, height = min(size[0], window[0]), min(size[1], window[1])
    return Stage((window[0] - width) // 2, (window[1] - height) * 2 // 5, width, height)


LEFT: Final = 2
"""The column of the board."""

_GAP: Final = 4
_HEAD_AND_FOOT: Final = 4
"""Lines that are not the board's: the head, what asks for an answer, the status, the keys."""

_NARROW: Final = 60
"""In windows narrower than this the frame stays rather than the panel."""

_PANEL_WANTED: Final = 40
_LEAST_STAGE: Final = (80, 24)
_LEAST_WIDTH: Final = 24


@dataclass(frozen=True, slots=True)
class RoomLayout:
    """How a board is drawn and in which line it begins, the panel's column, None without one, and the stage's size."""

    fit: Fit
    top: int
    panel: int | None
    width: int
    height: int

    @property
    def below_board(self) -> int:
        """The first line under the board."""
        return self.top + self.fit.height


def lay_out_room(
    rules: Rules, style: BoardStyle, width: int, height: int, centre: int | None, old: Window | None
) -> RoomLayout:
    """Return the layout for a window of this size; its own width and height are how much of the window it uses."""
    fit, has_panel = _fit(rules, style, width, height, centre, old)
    beside = LEFT + fit.width + _GAP
    wanted_width = beside + _PANEL_WANTED + 1 if has_panel else beside
    stage_width = min(width, max(_LEAST_STAGE[0], wanted_width))
    stage_height = min(height, max(_LEAST_STAGE[1], fit.height + _HEAD_AND_FOOT + 2))
    top = 2 if fit.height + 1 < stage_height - _HEAD_AND_FOOT else 1
    return RoomLayout(fit, top, beside if has_panel else None, stage_width, stage_height)


def needed_for_room(rules: Rules) -> tuple[int, int]:
    """Return the width and height of the smallest window in which the board can be played."""
    width, height = smallest_board(rules)
    return max(_LEAST_WIDTH, 2 * LEFT + width), height + _HEAD_AND_FOOT


def _fit(
    rules: Rules, style: BoardStyle, width: int, height: int, centre: int | None, old: Window | None
) -> tuple[Fit, bool]:
    """Return how the board is drawn, and whether the panel stands beside it."""
    area = height - _HEAD_AND_FOOT
    narrower = width - 2 * LEFT - _GAP - MIN_WIDTH
    beside = fit_board(rules, style, narrower, area, centre, old)
    alone = fit_board(rules, style, width - 2 * LEFT, area, centre, old)
    gains = beside != alone if width < _NARROW else beside.window is not None and alone.window is None
    return (alone, False) if gains or beside.width > narrower else (beside, True)


_ROLES: Final = {"win": "good", "loss": "bad", "draw": "", "unknown": "dim"}
_BEST_ROLES: Final = {"win": "good", "loss": "bad", "draw": "key", "unknown": "key"}
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}
_WIDE_CELL, _NARROW_CELL = 5, 3


def paint_values(picture: Picture, x: int, y: int, view: BoardView, fit: Fit, analysis: AnalysisState) -> None:
    """Write the values over the free cells of the board that was drawn with its upper left corner here.

    ``+3`` wins in 3 moves of all players, ``-4`` loses in 4, ``=`` is a draw, ``~+``, ``~`` and ``~-`` are guesses, and
    a star before it marks the best. A cell of three leaves out the number where it would hide the star.
    """
    view = replace(view, window=fit.window)
    room = _room_of(view, fit)
    for cell, left, line in _places(view, fit):
        value = analysis.cells.get(cell)
        if value is None or view.board[cell] != FREE:
            continue
        is_best = cell in analysis.best
        text = format_value(value, room, is_best=is_best, is_chosen=cell == view.cursor and fit.style.scale == 1)
        role = (_BEST_ROLES if is_best else _ROLES).get(value.kind, "dim")
        picture.put(x + left - len(text) // 2, y + line, text, role)


def sign_of(value: CellValue) -> str:
    """Return the sign of a worth: ``+``, ``-``, ``=``, or for a guess ``~+``, ``~``, ``~-``."""
    if value.kind in _SIGNS:
        return _SIGNS[value.kind]
    return "~+" if value.estimate > EVEN else "~-" if value.estimate < -EVEN else "~"


def format_value(value: CellValue, room: int, *, is_best: bool, is_chosen: bool = False) -> str:
    """Return what stands in a cell with room for so many characters: 5, 3 or 1 of them, or "" for nothing.

    >>> [format_value(CellValue("win", 3, 1.0), room, is_best=True) for room in (5, 3, 1)]
    [' *+3 ', '*+3', '*']
    """
    sign, star = sign_of(value), "*" if is_best else " "
    worth = f"{sign}{'' if value.plies is None else value.plies}"
    if room >= _WIDE_CELL:
        text = f"{'[' if is_chosen else ' '}{star}{worth if len(worth) <= _NARROW_CELL else sign}"
        return text.ljust(_WIDE_CELL - 1) + ("]" if is_chosen else " ") if len(text) < _WIDE_CELL else text
    if room >= _NARROW_CELL:
        if is_chosen:
            return f"[{'*' if is_best else sign[-1]}]"
        if len(worth) < _NARROW_CELL:
            return f"{star}{worth:<2}"
        return worth if len(worth) == _NARROW_CELL and not is_best else f"{star}{sign:<2}"
    if is_best:
        return "*"
    return sign if value.kind in _SIGNS else ""


def _room_of(view: BoardView, fit: Fit) -> int:
    """Return how many characters are a cell's own: it shares none with its neighbours."""
    first = view.rows.start * view.rules.columns + view.columns.start
    here = place_of(first, view, fit.style)
    beside = place_of(first + 1, view, fit.style) if len(view.columns) > 1 else None
    if here is None or beside is None:
        return _NARROW_CELL if fit.style.framed else 1
    return beside[0] - here[0] - 1


def _places(view: BoardView, fit: Fit) -> Iterator[tuple[int, int, int]]:
    """Yield each shown cell with the column and line of its mark."""
    rows, columns, style = view.rows, view.columns, fit.style
    across = [place_of(rows.start * view.rules.columns + column, view, style) for column in columns]
    down = [place_of(row * view.rules.columns + columns.start, view, style) for row in rows]
    for row, at_row in zip(rows, down, strict=True):
        for column, at_column in zip(columns, across, strict=True):
            if at_row is not None and at_column is not None:
                yield row * view.rules.columns + column, at_column[0], at_row[1]
