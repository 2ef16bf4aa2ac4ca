"""How a recorded game looks on the screen: the board after a move, and beside it who played, the moves, the comments.

It holds what one sees but the record does not say: the move that is looked at, the part of a large board, a number that
is being typed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from tictactoe_client.board.board import BoardStyle, BoardView, Window, mark_role
from tictactoe_client.board.fit import Fit
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.text.record import describe_end, describe_players, list_facts
from tictactoe_client.text.wording import describe_rules
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.foot import fit_keys
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.picture import Picture, measure, shorten, wrap
from tictactoe_client.tui.room.layout import LEFT, RoomLayout, lay_out_room
from tictactoe_engine import format_cell
from tictactoe_engine.records import GameRecord
from tictactoe_protocol.pushes import RoomState

_FEWEST_MOVE_LINES = 2


class ReplayView:
    """One game's picture; `ply` is how many moves lie on the board, `ahead` the number being typed."""

    def __init__(self, desk: Desk, record: GameRecord, ply: int = 0) -> None:
        self.desk = desk
        self.record = record
        self._room = RecordedRoom(record)
        self._actions = RecordActions(self._room, desk.settings, ply, shows=True)
        self.ahead = LineEditor(limit=6)
        self._centre = self._state.last
        self._window: Window | None = None
        self._fit: Fit | None = None
        self._corner = (0, 0)
        self._space: tuple[int, int] | None = None

    @property
    def ply(self) -> int:
        """How many moves lie on the board that is looked at."""
        return self._actions.timeline.here

    @property
    def _state(self) -> RoomState:
        assert self._room.state is not None
        return self._actions.timeline.show(self._room.state)

    def wanted_size(self, width: int, height: int) -> tuple[int, int]:
        """Return how much of a window of this size the game can use."""
        self._space = (width, height)
        layout = self._lay_out(width, height)
        return layout.width, layout.height

    def go(self, ply: int) -> None:
        """Look at another moment, the first or the last one where there is no such."""
        self._actions.timeline = self._actions.timeline.jump(ply)
        self._centre = self._state.last

    def scroll(self, rows: int, columns: int) -> None:
        """Show another part of a board that does not fit; the next move brings its own part back."""
        window, rules = self._window, self.record.rules
        if window is not None:
            top = min(max(window.top + rows, 0), rules.rows - window.rows)
            left = min(max(window.left + columns, 0), rules.columns - window.columns)
            self._window = replace(window, top=top, left=left)
            self._centre = (top + window.rows // 2) * rules.columns + left + window.columns // 2

    def cell_at(self, x: int, y: int) -> int | None:
        """Return the cell that was drawn here, or None."""
        if self._fit is None:
            return None
        return self._fit.find_cell(x - self._corner[0], y - self._corner[1], BoardView.of(self._state))

    def draw(self, picture: Picture, status: tuple[str, str] | None, hints: str) -> None:
        """Draw the game at the moment that is looked at, and what can be done at the bottom."""
        self._draw_head(picture)
        told, *notes = self._actions.describe_moment(self._state)
        self._draw_board(picture, notes)
        text, role = status or (told, "title")
        line = f"go to move: {self.ahead.text}_" if self.ahead.text else ""
        picture.put(1, picture.height - 2, shorten(text, picture.width - 4 - measure(line)), role)
        picture.put_right(picture.height - 2, line, "title")
        picture.put(1, picture.height - 1, fit_keys(hints, picture.width - 2), "dim")

    def _draw_head(self, picture: Picture) -> None:
        comma = ", " if self.desk.settings.ascii else " · "
        rules = describe_rules(self.record.rules).replace(" by ", "x").replace(", ", comma)
        right = f"move {self.ply} of {len(self.record.moves)}"
        room = picture.width - len(right) - 3
        players = shorten(describe_players(self.record), room - 10)
        end = picture.put_parts(1, 0, ("REPLAY", "title"), (f"   {players}", ""))
        if end + 3 + measure(rules) <= room:
            picture.put(end + 3, 0, rules, "dim")
        picture.put_right(0, right, "dim")

    def _draw_board(self, picture: Picture, notes: list[str]) -> None:
        """Draw the board, with the panel beside it or, where that has no room, only the notes below it."""
        width, height = self._space or (picture.width, picture.height)
        layout = self._lay_out(width, height)
        if layout.panel is None and self.record.comments:
            layout = self._lay_out(width, height - self._note_lines(picture))
        self._fit, self._window = layout.fit, layout.fit.window
        self._corner = (LEFT, layout.top)
        picture.paste(*self._corner, layout.fit.draw(BoardView.of(self._state)))
        if layout.panel is not None:
            self._draw_panel(picture, layout.panel, layout.top, picture.height - 3, notes)
        elif notes:
            lines = _cut(wrap(" ".join(notes), picture.width - 2), max(1, picture.height - 3 - layout.below_board))
            for number, line in enumerate(lines, picture.height - 2 - len(lines)):
                picture.put(1, number, line, "warn")

    def _lay_out(self, width: int, height: int) -> RoomLayout:
        style = BoardStyle(ascii=self.desk.settings.ascii, stars=True)
        return lay_out_room(self.record.rules, style, width, height, self._centre, self._window)

    def _note_lines(self, picture: Picture) -> int:
        """Return how many lines the longest comment may have below the board, so that the board keeps its place."""
        longest = max(len(wrap(f"{{{text}}}", picture.width - 2)) for _, text in self.record.comments)
        return min(longest, max(1, picture.height // 4))

    def _draw_panel(self, picture: Picture, x: int, y: int, bottom: int, notes: list[str]) -> None:
        """Draw who played and how it ended, then the moves, then what is said about this one."""
        width = picture.width - x - 1
        for mark in self.record.rules.marks:
            picture.put(x, y, mark, mark_role(mark, self.record.rules))
            picture.put(x + 3, y, shorten(dict(self.record.players).get(mark, "-"), width - 3))
            y += 1
        for line in self._facts(width):
            picture.put(x, y, line, "dim")
            y += 1
        picture.put(x, y, ("-" if self.desk.settings.ascii else "─") * width, "dim")
        y += 1
        rounds = list_rounds(self.record)
        said = [part for note in notes for part in wrap(note, width)]
        space = max(0, bottom - y)
        said = _cut(said, max(0, space - min(len(rounds), max(_FEWEST_MOVE_LINES, space // 2)) - 1))
        for_moves = min(len(rounds), space - (len(said) + 1 if said else 0))
        y = self._draw_moves(picture, x, y, width, rounds, for_moves)
        for number, line in enumerate(said, 1):
            picture.put(x, y + number, line)

    def _facts(self, width: int) -> list[str]:
        facts = ", ".join(_local_time(fact) for fact in list_facts(self.record))
        return [line for text in (facts, describe_end(self.record)) if text for line in wrap(text, width)]

    def _draw_moves(self, picture: Picture, x: int, y: int, width: int, rounds: list[range], count: int) -> int:
        """Draw so many rounds around the one that is looked at; return the line below."""
        board, rules = self.record.position.board, self.record.rules
        texts = [f"{board[cell]} {format_cell(cell, rules)}" for cell in self.record.moves]
        column = max(map(len, texts), default=4) + 2
        digits = len(str(len(rounds)))
        here = next((number for number, plies in enumerate(rounds) if self.ply in plies), 0)
        start = max(0, min(here - count // 2, len(rounds) - count))
        for number in range(start, start + count):
            is_here = self.ply in rounds[number]
            end = picture.put(x, y, f"{'>' if is_here else ' '}{number + 1:>{digits}}. ", "" if is_here else "dim")
            for ply in rounds[number]:
                role = "title" if ply == self.ply else "dim" if ply > self.ply else ""
                end = picture.put(end, y, texts[ply - 1].ljust(column), role, until=x + width)
            y += 1
        return y


def list_rounds(record: GameRecord) -> list[range]:
    """Return the numbers of the moves of each round; a round ends when the turn comes back to its first mark."""
    movers = [record.rules.marks.index(record.position.board[cell]) for cell in record.moves]
    starts = [ply for ply, mover in enumerate(movers, 1) if ply == 1 or mover <= movers[ply - 2]]
    return [range(start, end) for start, end in pairwise([*starts, len(movers) + 1])]


def _cut(lines: list[str], count: int) -> list[str]:
    """Return so many lines, the last one telling where there were more."""
    return lines if len(lines) <= count else [*lines[: count - 1], f"{lines[count - 1][:-1]}…"] if count else []


def _local_time(fact: str) -> str:
    """Return a moment as this machine's clock would show it; a mere date, and whatever is no date, as it is."""
    try:
        return datetime.fromisoformat(fact).astimezone().strftime("%Y-%m-%d %H:%M") if "T" in fact else fact
    except (ValueError, OverflowError):
        return fact
