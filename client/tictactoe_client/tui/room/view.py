"""How a room looks on the screen: its head, the board with the panel or the invitation, and the foot.

It remembers where it drew the board, so that clicks find their cells.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

from textual.geometry import Region

from tictactoe_client.board.board import BoardView, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board, smallest_board
from tictactoe_client.input.cells import resting_cell
from tictactoe_client.input.record import describe_players
from tictactoe_client.text.worth import format_value, list_worth
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture, measure, place_stage, shorten
from tictactoe_client.tui.room.foot import RoomFoot
from tictactoe_client.tui.room.panel import (
    draw_code,
    fill_invitation,
    fill_panel,
    link_for_others,
    list_players,
    shows_talk,
)
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import FREE, Rules
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
_NARROW: Final = 60
"""In windows narrower than this the frame stays rather than the panel."""
_PANEL_WANTED: Final = 40
_LEAST_STAGE: Final = (80, 24)
_INVITATION_LEAST: Final = (36, 10)
_INVITATION_MOST: Final = (100, 28)
_MOST_WORTHS: Final = 5
_VALUE_ROLES: Final = {"win": "good", "loss": "bad"}
_BACK: Final = "[◂ back]"
"""What a click steps back on."""


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
    gains = beside != alone if width < _NARROW else alone.is_whole and not beside.is_whole
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
    """One room's picture; `grid` and `corner` say where the board was drawn, `back_at` where the head steps back."""

    def __init__(self, desk: Desk, table: Table) -> None:
        self.desk = desk
        self.table = table
        self.foot = RoomFoot(desk, table)
        self.grid: Grid | None = None
        self.corner = (0, 0)
        self.back_at = range(0)
        self._layout: RoomLayout | None = None

    def needed_size(self) -> tuple[int, int]:
        state = self.table.room.state
        return (
            needed_for_room(state.rules.to_rules())
            if state is not None and state.status != "waiting"
            else _INVITATION_LEAST
        )

    def place(self, width: int, height: int) -> Region:
        """Return where in such a window the board, or the invitation, stands with all about it; it is drawn next."""
        state = self.table.shown()
        if state is None or state.status == "waiting":
            self._layout = None
            return place_stage(_INVITATION_MOST, (width, height))
        settings = self.desk.settings
        keys = settings.keys if self.table.room.plays else None
        style = BoardStyle(ascii=settings.ascii, keys=keys, stars=not self.table.review.is_on)
        layout = self._layout = lay_out_room(state.rules.to_rules(), style, width, height - self.foot.extra_lines)
        return place_stage((layout.width, layout.height + self.foot.extra_lines), (width, height))

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at, on the stage that was placed.

        What was said and is not in sight beside the board has its place in the foot, which leaves less room beside it.
        """
        table, state, newest, layout = self.table, self.table.shown(), self.table.room.state, self._layout
        self.back_at = range(0)
        if state is None or newest is None:
            picture.put(1, 0, f" Room {table.room.code} ...")
            return
        now, last, hand = time.monotonic(), picture.height - 1, table.hand
        if layout is None:
            link, x, y, rows = link_for_others(self.desk, table), 3, 2, 3
            has_code = hand.shows_code and self.desk.settings.colour and not picture.ascii_only
            width = (draw_code(picture, link) if has_code else picture.width - 1) - x
            fill = partial(fill_invitation, table, state, width, link=link)
        else:
            worth = self._draw_board(picture, state, layout)
            x, y, rows = layout.panel or 0, layout.top, last - layout.below_board
            width = min(MAX_WIDTH, picture.width - x - 1) if layout.panel is not None else 0
            fill = partial(fill_panel, table, newest, width, now=now, worth=worth, ascii_only=picture.ascii_only)
        heard = hand.heard if table.record is None else table.talk
        for unseen in ([], heard):
            foot = self.foot.arrange(state, status, now, picture.width, rows, unseen)
            lines, talk = fill(last - foot.height - y) if width else ([], [])
            if is_seen := shows_talk(talk, heard, width):
                break
        hand.told = len(hand.heard) if is_seen else foot.notes
        for number, parts in enumerate(lines, y):
            picture.put_parts(x, number, *parts, until=x + width)
        if layout is not None and layout.panel is None:
            players = list_players(table, newest, picture.width - 1, now)
            picture.put_parts(1, layout.top - 1, *players, until=picture.width - 1)
        if layout is None or layout.panel is not None or layout.top > 1:
            self._draw_head(picture, state, has_panel=layout is not None and layout.panel is not None)
        self.foot.draw(picture, foot)

    def _draw_head(self, picture: Picture, state: RoomState, *, has_panel: bool) -> None:
        """Draw which room this is, what is played there, by whom where that is not beside the board, and the moment."""
        table, link, newest = self.table, self.desk.link, self.table.room.state
        rules = describe_rules(state.rules).replace(" by ", "x").split(", ")
        moment = f"move {state.ply} of {max(newest.ply if newest else 0, len(table.room.moves))}"
        here = f"{link.latency_ms} ms ●" if link.phase == "online" else "offline ●"
        title = state.room
        if table.record is not None:
            title, rights, players = "REPLAY", [moment], f"   {describe_players(table.record)}"
            rests = [f"{players}   {' · '.join(rules)}", players]
        elif table.room.seat is None:
            watching = f"{state.watchers} watching" if state.watchers else ""
            rights, rests = [watching or here], [""]
            if state.status != "waiting":
                back = _BACK if state.ply else ""
                ways = (watching, moment, back), (moment, back), (moment,)
                rights = ["   ".join(part for part in way if part) for way in ways]
            if measure(f"WATCHING {title}{rights[-1]}") + 4 <= picture.width:
                title = f"WATCHING {title}"
            if not has_panel:
                rests = [f"   {' v '.join(f'{name_of(state, mark)} ({mark})' for mark in state.seats)}"]
        else:
            parts = [f" · {part}" for part in rules + describe_manners(state)]
            rights = [moment if table.actions.timeline.is_back else here]
            rests = ["".join(parts[:count]) for count in range(len(parts), -1, -1)]
        room = picture.width - measure(title) - 4
        right = next((way for way in rights if measure(way) <= room), "")
        room -= measure(right)
        rest = next((way for way in rests if measure(way) <= room), shorten(rests[-1], room) if room > 9 else "")
        if right.endswith(_BACK):
            self.back_at = range(picture.width - 1 - measure(_BACK), picture.width - 1)
        picture.put_parts(1, 0, (title, "title"), (rest, ""))
        picture.put_right(0, right, "dim" if link.phase == "online" or table.record is not None else "bad")

    def scroll(self, rows: int, columns: int) -> int | None:
        """Show another part of a board that does not fit; return its middle cell, None where all is in sight."""
        if self.grid is None or self.grid.is_whole:
            return None
        centre = self.grid.middle + rows * self.grid.rules.columns + columns
        self.grid = self.grid.scroll(centre, None)
        return self.grid.middle

    def _draw_board(self, picture: Picture, state: RoomState, layout: RoomLayout) -> list[str]:
        """Draw the board, with values where they are shown; return those that its small cells have no room for.

        The cursor of one who plays where marks fall stands where the mark would land.
        """
        table, cursor, shows_values = self.table, self.table.hand.cursor, self.table.review.is_on
        if cursor is not None and state.rules.gravity and table.room.plays:
            cursor = resting_cell(state, cursor)
        view = BoardView.of(state, cursor if table.room.plays or shows_values else None)
        if not table.actions.timeline.is_back:
            view = replace(view, pending=table.hand.pending)
            if table.falling:
                view = replace(view, board=table.falling[0], last=None, line=frozenset())
        grid = self.grid = layout.grid.scroll(cursor if cursor is not None else state.last, self.grid)
        self.corner = (LEFT, layout.top)
        is_grey = self.desk.link.phase != "online" and table.record is None
        picture.paste(*self.corner, draw_board(view, grid), "dim" if is_grey else None)
        analysis = table.review.analysis if shows_values else None
        if analysis is None:
            return []
        paint_values(picture, *self.corner, view, grid, analysis)
        return [] if grid.style.scale else list_worth(analysis, view.rules, _MOST_WORTHS)
