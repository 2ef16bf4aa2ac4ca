"""How a room looks on the screen: its head, the board or the invitation, and the players.

It remembers where it drew the board, so that clicks find their cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from textual.geometry import Region

from tictactoe_client.board.board import BoardView, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid
from tictactoe_client.input.cells import resting_cell
from tictactoe_client.input.record import describe_players
from tictactoe_client.text.worth import list_worth
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture, measure, place_stage, shorten
from tictactoe_client.tui.room.foot import Foot, RoomFoot
from tictactoe_client.tui.room.invitation import LEAST, MOST, draw_invitation
from tictactoe_client.tui.room.layout import LEFT, RoomLayout, lay_out_room, needed_for_room
from tictactoe_client.tui.room.panel import MAX_WIDTH, Line, fill_panel, list_players, shows_talk
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.room.values import paint_values
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_manners, describe_rules, name_of

_MOST_WORTHS: Final = 5


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
        """Return the smallest window for this room's board, or for its invitation."""
        state = self.table.room.state
        return needed_for_room(state.rules.to_rules()) if state is not None and state.status != "waiting" else LEAST

    def place(self, width: int, height: int) -> Region:
        """Return where in such a window the board, or the invitation, stands with all about it; it is drawn next."""
        state = self.table.shown()
        if state is None or state.status == "waiting":
            self._layout = None
            return place_stage(MOST, (width, height))
        rules, settings = state.rules.to_rules(), self.desk.settings
        keys = settings.keys if self.table.room.plays else None
        style = BoardStyle(ascii=settings.ascii, keys=keys, stars=not self.table.review.is_on)
        layout = self._layout = lay_out_room(rules, style, width, height - self.foot.extra_lines)
        return place_stage((layout.width, layout.height + self.foot.extra_lines), (width, height))

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at, on the stage that was placed."""
        state, newest, layout = self.table.shown(), self.table.room.state, self._layout
        self.back_at = range(0)
        if state is None or newest is None:
            picture.put(1, 0, f" Room {self.table.room.code} ...")
        elif layout is None:
            self._draw_waiting(picture, state, status)
        else:
            self._draw_game(picture, state, newest, layout, status)

    def _draw_game(
        self, picture: Picture, state: RoomState, newest: RoomState, layout: RoomLayout, status: tuple[str, str] | None
    ) -> None:
        """Draw the board, the panel beside it or the players above it, and the foot; `newest` is the present."""
        table, now, last, ascii_only = self.table, self.desk.now(), picture.height - 1, self.desk.settings.ascii
        if layout.panel is not None or layout.top > 1:
            self._draw_head(picture, state, has_panel=layout.panel is not None)
        worth = self._draw_board(picture, state, layout)
        heard = table.hand.heard if table.record is None else table.talk
        width = 0 if layout.panel is None else min(MAX_WIDTH, picture.width - layout.panel - 1)

        def arrange(unseen: Sequence[str]) -> tuple[Foot, list[Line], list[str]]:
            foot = self.foot.arrange(state, status, now, picture.width, last - layout.below_board, unseen)
            height = last - foot.height - layout.top
            if layout.panel is None:
                return foot, [], []
            return foot, *fill_panel(table, newest, width, height, now, worth, ascii_only=ascii_only)

        foot, lines, talk = arrange(())
        is_seen = not heard or (layout.panel is not None and shows_talk(talk, heard, width))
        if not is_seen:
            foot, lines, _ = arrange(heard)
        table.hand.told = len(table.hand.heard) if is_seen else foot.notes
        if layout.panel is None:
            players = list_players(table, newest, picture.width - 1, now, ascii_only=ascii_only)
            picture.put_parts(1, layout.top - 1, *players, until=picture.width - 1)
        for y, parts in enumerate(lines, layout.top):
            picture.put_parts(layout.panel or 0, y, *parts, until=(layout.panel or 0) + width)
        self.foot.draw(picture, foot)

    def _draw_waiting(self, picture: Picture, state: RoomState, status: tuple[str, str] | None) -> None:
        """Draw the room while it waits for others."""
        last, heard, now = picture.height - 1, self.table.hand.heard, self.desk.now()
        self._draw_head(picture, state, has_panel=False)
        foot = self.foot.arrange(state, status, now, picture.width, 3, ())
        trial = Picture(picture.width, picture.height)
        is_seen = draw_invitation(trial, self.desk, self.table, state, last - foot.height) >= len(heard)
        if not is_seen:
            foot = self.foot.arrange(state, status, now, picture.width, 3, heard)
        self.table.hand.told = len(heard) if is_seen else foot.notes
        draw_invitation(picture, self.desk, self.table, state, last - foot.height)
        self.foot.draw(picture, foot)

    def _draw_head(self, picture: Picture, state: RoomState, *, has_panel: bool) -> None:
        if self.table.record is not None:
            self._draw_record_head(picture, state)
            return
        dot, link = ("*" if self.desk.settings.ascii else "●"), self.desk.link
        right = f"{link.latency_ms} ms {dot}" if link.phase == "online" else f"offline {dot}"
        if self.table.room.seat is None:
            ways = self._describe_watching(state) or (right,)
            head = f"WATCHING {state.room}"
            if measure(head) + measure(ways[-1]) + 4 > picture.width:
                head = state.room
            right = next((way for way in ways if measure(head) + measure(way) + 4 <= picture.width), "")
            if right.endswith(self._back):
                self.back_at = range(picture.width - 1 - measure(self._back), picture.width - 1)
            names = "" if has_panel else " v ".join(f"{name_of(state, mark)} ({mark})" for mark in state.seats)
            space = picture.width - measure(head) - measure(right) - 6
            rest = f"   {shorten(names, space)}" if names and space > 6 else ""
        else:
            head = state.room
            comma = ", " if self.desk.settings.ascii else " · "
            parts = describe_rules(state.rules).replace(" by ", "x").split(", ") + describe_manners(state)
            while parts and measure(comma.join([head, *parts])) > picture.width - measure(right) - 4:
                parts.pop()
            rest = "".join(f"{comma}{part}" for part in parts)
            if self.table.actions.timeline.is_back:
                right = f"move {state.ply} of {len(self.table.room.moves)}"
        picture.put_parts(1, 0, (head, "title"), (rest, ""), until=picture.width - measure(right) - 2)
        picture.put_right(0, right, "dim" if link.phase == "online" else "bad")

    def _draw_record_head(self, picture: Picture, state: RoomState) -> None:
        """Draw who played, at which move one looks and, where there is room for it, by which rules."""
        assert self.table.record is not None
        right = f"move {state.ply} of {len(self.table.room.moves)}"
        space = picture.width - len(right) - 3
        parts = ("REPLAY", "title"), (f"   {shorten(describe_players(self.table.record), space - 10)}", "")
        end = picture.put_parts(1, 0, *parts)
        comma = ", " if self.desk.settings.ascii else " · "
        rules = describe_rules(state.rules).replace(" by ", "x").replace(", ", comma)
        if end + 3 + measure(rules) <= space:
            picture.put(end + 3, 0, rules, "dim")
        picture.put_right(0, right, "dim")

    def scroll(self, rows: int, columns: int) -> int | None:
        """Show another part of a board that does not fit; return its middle cell, None where all is in sight."""
        if self.grid is None or self.grid.is_whole:
            return None
        centre = self.grid.middle + rows * self.grid.rules.columns + columns
        self.grid = self.grid.scroll(centre, None)
        return self.grid.middle

    @property
    def _back(self) -> str:
        """What a click steps back on."""
        return "[< back]" if self.desk.settings.ascii else "[◂ back]"

    def _describe_watching(self, state: RoomState) -> tuple[str, ...]:
        """Return who watches, at which move, and the way back, the fullest text first; nothing before a game."""
        watching = f"{state.watchers} watching" if state.watchers else ""
        newest = self.table.room.state
        if state.status == "waiting" or newest is None:
            return (watching,) if watching else ()
        moment = f"move {state.ply} of {max(newest.ply, len(self.table.room.moves))}"
        back = self._back if state.ply else ""
        ways = (watching, moment, back), (moment, back), (moment,)
        return tuple("   ".join(part for part in way if part) for way in ways)

    def _draw_board(self, picture: Picture, state: RoomState, layout: RoomLayout) -> list[str]:
        """Draw the board, with values where they are shown; return those that its small cells have no room for."""
        cursor = self._cursor(state)
        view = BoardView.of(state, cursor if self.table.room.plays or self.table.review.is_on else None)
        if not self.table.actions.timeline.is_back and self.table.hand.pending is not None:
            view = replace(view, pending=self.table.hand.pending)
        if self.table.falling and not self.table.actions.timeline.is_back:
            view = replace(view, board=self.table.falling[0], last=None, line=frozenset())
        grid = self.grid = layout.grid.scroll(cursor if cursor is not None else state.last, self.grid)
        self.corner = (LEFT, layout.top)
        is_grey = self.desk.link.phase != "online" and self.table.record is None
        picture.paste(*self.corner, draw_board(view, grid), "dim" if is_grey else None)
        analysis = self.table.review.analysis if self.table.review.is_on else None
        if analysis is None:
            return []
        paint_values(picture, *self.corner, view, grid, analysis)
        return [] if grid.style.scale else list_worth(analysis, view.rules, _MOST_WORTHS)

    def _cursor(self, state: RoomState) -> int | None:
        """Return where the cursor stands: for one who plays where marks fall, where the mark would land."""
        cursor, falls = self.table.hand.cursor, state.rules.gravity and self.table.room.plays
        return resting_cell(state, cursor) if cursor is not None and falls else cursor
