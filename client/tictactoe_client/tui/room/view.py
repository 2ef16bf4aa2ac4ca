"""How a room looks on the screen: its head, the board with the panel or the invitation, and the foot.

It remembers where it drew the board, so that clicks find their cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from time import monotonic
from typing import Final

from textual.geometry import Offset, Region

from tictactoe_client.board.board import BoardView, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board, smallest_board
from tictactoe_client.input.cells import resting_cell
from tictactoe_client.input.record import describe_players
from tictactoe_client.text.worth import format_value, list_worth
from tictactoe_client.tui.foot import Hint, draw_keys, fit_keys
from tictactoe_client.tui.picture import Picture, Text, measure, notice_size, place_stage, shorten
from tictactoe_client.tui.program import Program
from tictactoe_client.tui.room.foot import RoomFoot, describe_question
from tictactoe_client.tui.room.keys import find_situations, list_hints
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_client.tui.room.panel import (
    draw_code,
    fill_invitation,
    fill_panel,
    link_for_others,
    list_players,
    shows_talk,
)
from tictactoe_engine import FREE, Rules
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.pushes import AnalysisState, RoomState
from tictactoe_protocol.wording import describe_manners, describe_rules, name_of

LEFT: Final = 2
"""The column of the board."""
MIN_WIDTH: Final = 24
"""The least that the panel is worth having in, as a window is."""
MAX_WIDTH: Final = 52
"""The panel is no wider, so that a clock stands near its player's name."""
_GAP: Final = 4
_HEAD_AND_FOOT: Final = 4
"""Lines that are not the board's: the head, what asks for an answer, the status, the keys."""
NARROW: Final = 60
"""In windows narrower than this the frame stays rather than the panel."""
_PANEL_WANTED: Final = 40
_LEAST_STAGE: Final = (80, 24)
_INVITATION_LEAST: Final = (36, 10)
_INVITATION_MOST: Final = (100, 28)
_MOST_WORTHS: Final = 5
_VALUE_ROLES: Final = {"win": "good", "loss": "bad"}


@dataclass(frozen=True, slots=True)
class RoomLayout:
    """How a board is drawn and in which line it begins, the panel's column, None without one, and the stage's size."""

    grid: Grid
    top: int
    panel: int | None
    width: int
    height: int

    @property
    def below_board(self) -> int:
        """The first line under the board."""
        return self.top + self.grid.height


@lru_cache(maxsize=16)
def lay_out_room(rules: Rules, style: BoardStyle, width: int, height: int) -> RoomLayout:
    """Return the layout for a window of this size; its own width and height are how much of the window it uses."""
    area, narrower = height - _HEAD_AND_FOOT, width - 2 * LEFT - _GAP - MIN_WIDTH
    beside, alone = fit_board(rules, style, narrower, area), fit_board(rules, style, width - 2 * LEFT, area)
    gains = beside != alone if width < NARROW else alone.is_whole and not beside.is_whole
    has_panel = not gains and beside.width <= narrower
    grid = beside if has_panel else alone
    panel = LEFT + grid.width + _GAP
    stage_width = min(width, max(_LEAST_STAGE[0], panel + (_PANEL_WANTED + 1 if has_panel else 0)))
    stage_height = min(height, max(_LEAST_STAGE[1], grid.height + _HEAD_AND_FOOT + 2))
    top = 2 if grid.height + 1 < stage_height - _HEAD_AND_FOOT else 1
    return RoomLayout(grid, top, panel if has_panel else None, stage_width, stage_height)


def needed_for_room(rules: Rules) -> tuple[int, int]:
    """Return the width and height of the smallest window in which the board can be played."""
    width, height = smallest_board(rules)
    return max(MIN_WIDTH, 2 * LEFT + width), height + _HEAD_AND_FOOT


def paint_values(picture: Picture, x: int, y: int, view: BoardView, grid: Grid, analysis: AnalysisState) -> None:
    """Write the values over the free cells of the board that was drawn with its upper left corner here."""
    for cell, value in analysis.cells.items():
        if not grid.shows(cell) or view.board[cell] != FREE:
            continue
        is_best, (across, down) = cell in analysis.best, grid.middle_of(cell)
        text = format_value(value, grid.wide, is_best=is_best, is_chosen=cell == view.cursor and grid.tall == 1)
        role = _VALUE_ROLES.get(value.kind, "key" if is_best else "dim" if value.kind == "unknown" else "")
        picture.put(x + across - len(text) // 2, y + down, text, role)


class RoomView:
    """The picture of a room; `is_small` where the window has no room for it, and says so in its place."""

    def __init__(self, program: Program, model: RoomModel) -> None:
        self.program = program
        self.model = model
        self.foot = RoomFoot(program, model)
        self._grid: Grid | None = None
        self._back_at = range(0)
        self._stage = Region()
        self._hinted_at: object = None
        self._hints: Sequence[Hint] = ()
        self.is_small = False
        self._layout: RoomLayout | None = None

    # -- where things are -----------------------------------------------------------------------------------------

    def needed_size(self) -> tuple[int, int]:
        """Return the width and height of the smallest window that shows the room."""
        return _INVITATION_LEAST if self.model.kind == "waiting" else needed_for_room(self.model.rules)

    def place(self, width: int, height: int) -> Region:
        """Return where in such a window the board, or the invitation, stands with all about it; it is drawn next."""
        model, rules, settings = self.model, self.model.rules, self.program.settings
        if model.kind == "waiting":
            self._layout = None
            return place_stage(_INVITATION_MOST, (width, height))
        keys, extra = settings.keys if model.plays else None, int(model.review.is_on)
        style = BoardStyle(ascii=settings.ascii, keys=keys, stars=not extra)
        layout = self._layout = lay_out_room(rules, style, width, height - extra)
        return place_stage((layout.width, layout.height + extra), (width, height))

    def is_way_back(self, at: Offset) -> bool:
        """Tell whether a click here steps back."""
        return not self.is_small and at.y == self._stage.y and at.x - self._stage.x in self._back_at

    def find_cell(self, at: Offset) -> int | None:
        """Return the cell that is shown at this place of the window."""
        grid, layout = self._grid, self._layout
        if grid is None or layout is None or self.is_small:
            return None
        return grid.find_cell(at.x - self._stage.x - LEFT, at.y - self._stage.y - layout.top)

    def scroll(self, rows: int, columns: int) -> int | None:
        """Show another part of a board that does not fit; return its middle cell, None where all is in sight."""
        if self._grid is None or self._grid.is_whole:
            return None
        self._grid = self._grid.scroll(self._grid.middle + rows * self._grid.rules.columns + columns, None)
        return self._grid.middle

    # -- the picture ----------------------------------------------------------------------------------------------

    def draw_window(self, size: tuple[int, int], status: Text | None) -> Picture:
        """Return what a window of this size shows: the room on its stage, or how much room it needs."""
        picture, needed = Picture(*size), self.needed_size()
        self.is_small = size[0] < needed[0] or size[1] < needed[1]
        if self.is_small:
            for y, line in enumerate(notice_size(needed, size, describe_question(self.model, self.program.keymap))):
                picture.put(0, y, line)
            return picture
        self._stage = self.place(*size)
        stage = Picture(self._stage.width, self._stage.height, ascii_only=self.program.settings.ascii)
        self.draw(stage, status)
        picture.paste(*self._stage.offset, stage.rows)
        return picture

    def draw(self, picture: Picture, status: Text | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at, on the stage that was placed.

        What was said and is not in sight beside the board has its place in the foot, which leaves less room beside it.
        """
        model, state, newest, layout = self.model, self.model.shown, self.model.room.state, self._layout
        self._back_at = range(0)
        now, last, news = monotonic(), picture.height - 1, model.news
        if layout is None:
            link, x, y, rows = link_for_others(self.program, model), 3, 2, 3
            has_code = model.shows_code and self.program.settings.colour and not picture.ascii_only
            width = (draw_code(picture, link) if has_code else picture.width - 1) - x
            fill = partial(fill_invitation, model, state, width, link=link)
        else:
            worth = self._draw_board(picture, state, layout)
            x, y, rows = layout.panel or 0, layout.top, last - layout.below_board
            width = min(MAX_WIDTH, picture.width - x - 1) if layout.panel is not None else 0
            fill = partial(fill_panel, model, newest, width, now=now, worth=worth, ascii_only=picture.ascii_only)
        heard = news.unread if model.record is None else model.talk
        for unseen in ([], heard):
            foot = self.foot.arrange(state, status, now, picture.width, rows, unseen)
            lines, talk = fill(last - foot.height - y) if width else ([], [])
            if is_seen := shows_talk(talk, heard, width):
                break
        news.in_sight = len(news.unread) if is_seen else foot.notes
        for number, parts in enumerate(lines, y):
            picture.put_parts(x, number, *parts, until=x + width)
        if layout is not None and layout.panel is None:
            players = list_players(model, newest, picture.width - 1, now)
            picture.put_parts(1, layout.top - 1, *players, until=picture.width - 1)
        if layout is None or layout.panel is not None or layout.top > 1:
            self._draw_head(picture, state)
        foot.draw(picture)
        draw_keys(picture, self._list_hints(picture.width - 2))

    def _list_hints(self, width: int) -> Sequence[Hint]:
        """Return the keys that the last line names; they are looked for where something may have changed them."""
        model, is_first = self.model, len(self.program.screens) == 1
        situations = find_situations(model)
        choices = None if situations[0] == "playing" else model.choices
        typed = model.typed and (model.typed, model.may_send)
        at = (situations, choices, typed, model.line.value, model.shows_code, is_first, width, self.program.settings)
        if at != self._hinted_at:
            hints = list_hints(model, self.program.keymap, self.program.settings, is_first=is_first)
            out = self.program.keymap.show("back")
            lasting = (say("key help"), *(label for keys, label in hints if keys == out))
            self._hinted_at, self._hints = at, fit_keys(hints, width, lasting)
        return self._hints

    def _draw_head(self, picture: Picture, state: RoomState) -> None:
        """Draw who plays what, in which room, and the moment or how quick the connection is."""
        model, session, newest = self.model, self.program.session, self.model.room.state
        is_record = model.record is not None
        names = [name_of(state, mark) for mark, seat in state.seats.items() if seat is not None]
        players = describe_players(model.record) if model.record is not None else say("versus").join(names)
        preset = model.rules.preset
        game = say(f"name of {preset}") if preset else describe_rules(state.rules)
        label = say("head replay") if is_record else "" if model.seat else say("head watching")
        total = max(newest.ply, len(model.room.moves))
        watching = say("head watchers", n=state.watchers) if state.watchers and not (is_record or model.seat) else ""
        back = f"[◂ {say('key back')}]" if state.ply and not (is_record or model.seat) else ""
        right = say("head latency", ms=session.latency_ms) if session.phase == "online" else say("head offline")
        if is_record or model.is_back or (model.seat is None and state.status != "waiting"):
            moments = [say("head move", n=state.ply, total=total), *([back] if back else [])]
            right = "   ".join([watching, *moments] if watching and picture.width >= NARROW else moments)
        elif watching:
            right = watching
        room = picture.width - measure(right) - 4
        head, code = " · ".join([*([players] if len(names) > 1 else []), game]), "" if is_record else state.room
        extras = " · ".join([head, *describe_manners(state)])
        room -= measure(label) + 2 if label else 0
        ways = (extras, code), (head, code), (head, ""), (players, code), (players, "")
        fitting = (way for way in ways if way[0] and measure("  ".join(way)) <= room)
        head, code = next(fitting, (shorten(players, room) if room > 0 else "", ""))
        x = 1
        for text, role in ((label, "warn"), (head, "title"), (code, "dim")):
            x = picture.put(x, 0, text, role) + 2 if text else x
        if back and right.endswith(back):
            self._back_at = range(picture.width - 1 - measure(back), picture.width - 1)
        picture.put_right(0, right, "dim" if session.phase == "online" or is_record else "bad")

    def _draw_board(self, picture: Picture, state: RoomState, layout: RoomLayout) -> list[str]:
        """Draw the board, with values where they are shown; return those that its small cells have no room for.

        The cursor of one who plays where marks fall stands where the mark would land.
        """
        model, cursor, shows_values = self.model, self.model.cursor, self.model.review.is_on
        if cursor is not None and state.rules.gravity and model.plays:
            cursor = resting_cell(state, cursor)
        view = BoardView.of(state, cursor if model.plays or shows_values else None)
        if not model.is_back:
            view = replace(view, pending=model.pending)
            if model.falling:
                view = replace(view, board=model.falling[0], last=None, line=frozenset())
        grid = self._grid = layout.grid.scroll(cursor if cursor is not None else state.last, self._grid)
        is_grey = self.program.session.phase != "online" and model.record is None
        picture.paste(LEFT, layout.top, draw_board(view, grid), "dim" if is_grey else None)
        analysis = model.review.analysis if shows_values else None
        if analysis is None:
            return []
        paint_values(picture, LEFT, layout.top, view, grid, analysis)
        return [] if grid.style.scale and analysis.cells else list_worth(analysis, view.rules, _MOST_WORTHS)
