"""How a room looks on the screen: its head, the board or the invitation, and the players.

It remembers where it drew the board, so that clicks find their cells.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tictactoe_client.board.board import BoardStyle, BoardView, Window
from tictactoe_client.board.fit import Fit
from tictactoe_client.input.cells import resting_cell
from tictactoe_client.input.record import describe_players as describe_players_of
from tictactoe_client.online.address import reachable_address
from tictactoe_client.text.wording import (
    describe_clock_in_words,
    describe_manners,
    describe_players,
    describe_rules,
    name_of,
)
from tictactoe_client.text.worth import list_worth
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture, measure, shorten, shorten_words, wrap
from tictactoe_client.tui.room.foot import Foot, RoomFoot
from tictactoe_client.tui.room.layout import (
    LEFT,
    RoomLayout,
    lay_out_room,
    needed_for_room,
    paint_panel,
    paint_players,
    paint_values,
    shows_talk,
)
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.pushes import RoomState

_QUIET_ZONE = 4


@lru_cache(maxsize=8)
def render_code(text: str) -> tuple[str, ...]:
    """Return a QR code as lines of half blocks, two modules high each, with its quiet zone; dark is foreground.

    To be drawn black on white, or it cannot be read.
    """
    import segno

    modules = [list(row) for row in segno.make(text, error="l", micro=False, boost_error=False).matrix]
    side = len(modules) + 2 * _QUIET_ZONE
    grid = [[0] * side for _ in range(side + side % 2)]
    for y, row in enumerate(modules):
        for x, module in enumerate(row):
            grid[y + _QUIET_ZONE][x + _QUIET_ZONE] = module
    blocks = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
    return tuple(
        "".join(blocks[bool(upper), bool(lower)] for upper, lower in zip(grid[y], grid[y + 1], strict=True))
        for y in range(0, len(grid), 2)
    )


_MOST_WORTHS = 5
_LEAST, _MOST = (36, 10), (100, 28)
"""The size of the window that an invitation needs, and of the one that it can use."""
_LOW = 16
"""Below this height no line of the invitation is left empty."""


class RoomView:
    """One room's picture; `fit` and `corner` say where the board was drawn, `back_at` where the head steps back."""

    def __init__(self, desk: Desk, table: Table, *, another: str) -> None:
        self.desk = desk
        self.table = table
        self.foot = RoomFoot(desk, table, another=another)
        self.window: Window | None = None
        self.fit: Fit | None = None
        self.corner = (0, 0)
        self.back_at = range(0)
        self._space: tuple[int, int] | None = None

    def needed_size(self) -> tuple[int, int]:
        """Return the smallest window for this room's board, or for its invitation."""
        state = self.table.state
        return needed_for_room(state.rules.to_rules()) if state is not None and state.status != "waiting" else _LEAST

    def wanted_size(self, width: int, height: int) -> tuple[int, int]:
        """Return how much of a window the board, or the invitation, can use with all about it."""
        state = self.table.shown()
        self._space = (width, height)
        if state is None or state.status == "waiting":
            return min(width, _MOST[0]), min(height, _MOST[1])
        layout = self._lay_out(state, *self._space)
        return layout.width, layout.height + self.foot.extra_lines

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at."""
        state = self.table.shown()
        self.back_at = range(0)
        if state is None:
            picture.put(1, 0, f" Room {self.table.room.code} ...")
            return
        now, last = self.desk.now(), picture.height - 1
        if state.status == "waiting":
            foot = self._draw_waiting(picture, state, status, now)
        else:
            layout = self._lay_out(state, *(self._space or (picture.width, picture.height)))
            if layout.panel is not None or layout.top > 1:
                self._draw_head(picture, state)
            worth = self._draw_board(picture, state, layout)
            rows = last - layout.below_board
            foot = self.foot.arrange(state, status, now, picture.width, rows, ())
            if self._hides_talk(picture, layout, last - foot.height, worth):
                foot = self.foot.arrange(state, status, now, picture.width, rows, self._heard)
                self.table.hand.told = foot.notes
            else:
                self.table.hand.told = len(self.table.hand.heard)
            self._draw_players(picture, layout, last - foot.height, now, worth)
        self.foot.draw(picture, foot, state)

    def _hides_talk(self, picture: Picture, layout: RoomLayout, bottom: int, worth: list[str]) -> bool:
        """Tell whether something that was said since the last key is not in sight beside the board."""
        heard = self._heard
        if not heard or layout.panel is None:
            return bool(heard)
        return not shows_talk(picture.width - layout.panel - 1, bottom - layout.top, self.table, worth, heard)

    def _draw_waiting(self, picture: Picture, state: RoomState, status: tuple[str, str] | None, now: float) -> Foot:
        """Draw the room while it waits for others; return its foot."""
        last, heard = picture.height - 1, self.table.hand.heard
        self._draw_head(picture, state)
        foot = self.foot.arrange(state, status, now, picture.width, 3, ())
        if heard and self._draw_invitation(Picture(picture.width, picture.height), last - foot.height) < len(heard):
            foot = self.foot.arrange(state, status, now, picture.width, 3, heard)
            self.table.hand.told = foot.notes
        else:
            self.table.hand.told = len(heard)
        self._draw_invitation(picture, last - foot.height)
        return foot

    def _draw_head(self, picture: Picture, state: RoomState) -> None:
        if self.table.record is not None:
            self._draw_record_head(picture, state)
            return
        dot, link = ("*" if self.desk.settings.ascii else "●"), self.desk.link
        right = f"{link.latency_ms} ms {dot}" if link.phase == "online" else f"offline {dot}"
        if self.table.seat is None:
            ways = self._describe_watching(state) or (right,)
            head = f"WATCHING {state.room}"
            if measure(head) + measure(ways[-1]) + 4 > picture.width:
                head = state.room
            right = next((way for way in ways if measure(head) + measure(way) + 4 <= picture.width), "")
            if right.endswith(self._back):
                self.back_at = range(picture.width - 1 - measure(self._back), picture.width - 1)
            names = " v ".join(f"{name_of(state, mark)} ({mark})" for mark in state.seats)
            space = picture.width - measure(head) - measure(right) - 6
            rest = f"   {shorten(names, space)}" if space > 6 else ""
        else:
            head = state.room
            comma = ", " if self.desk.settings.ascii else " · "
            parts = describe_rules(state.rules).replace(" by ", "x").split(", ") + describe_manners(state)
            while parts and measure(comma.join([head, *parts])) > picture.width - measure(right) - 4:
                parts.pop()
            rest = "".join(f"{comma}{part}" for part in parts)
            if self.table.timeline.is_back:
                right = f"move {state.ply} of {len(self.table.moves)}"
        picture.put_parts(1, 0, (head, "title"), (rest, ""), until=picture.width - measure(right) - 2)
        picture.put_right(0, right, "dim" if link.phase == "online" else "bad")

    def _draw_record_head(self, picture: Picture, state: RoomState) -> None:
        """Draw who played, at which move one looks and, where there is room for it, by which rules."""
        assert self.table.record is not None
        right = f"move {state.ply} of {len(self.table.moves)}"
        space = picture.width - len(right) - 3
        parts = ("REPLAY", "title"), (f"   {shorten(describe_players_of(self.table.record), space - 10)}", "")
        end = picture.put_parts(1, 0, *parts)
        comma = ", " if self.desk.settings.ascii else " · "
        rules = describe_rules(state.rules).replace(" by ", "x").replace(", ", comma)
        if end + 3 + measure(rules) <= space:
            picture.put(end + 3, 0, rules, "dim")
        picture.put_right(0, right, "dim")

    def scroll(self, rows: int, columns: int) -> int | None:
        """Return the cell in the middle of another part of a board that does not fit, None where all is in sight."""
        state, window = self.table.state, self.window
        if state is None or window is None:
            return None
        rules = state.rules
        top = min(max(window.top + rows, 0), rules.rows - window.rows)
        left = min(max(window.left + columns, 0), rules.columns - window.columns)
        self.window = replace(window, top=top, left=left)
        return (top + window.rows // 2) * rules.columns + left + window.columns // 2

    @property
    def _heard(self) -> list[str]:
        """What is to be seen somewhere: what was said since the last key, or what a record notes."""
        return self.table.hand.heard if self.table.record is None else self.table.talk

    @property
    def _back(self) -> str:
        """What a click steps back on."""
        return "[< back]" if self.desk.settings.ascii else "[◂ back]"

    def _describe_watching(self, state: RoomState) -> tuple[str, ...]:
        """Return who watches, at which move, and the way back, the fullest text first; nothing before a game."""
        watching = f"{state.watchers} watching" if state.watchers else ""
        newest = self.table.state
        if state.status == "waiting" or newest is None:
            return (watching,) if watching else ()
        moment = f"move {state.ply} of {max(newest.ply, len(self.table.moves))}"
        back = self._back if state.ply else ""
        ways = (watching, moment, back), (moment, back), (moment,)
        return tuple("   ".join(part for part in way if part) for way in ways)

    def _lay_out(self, state: RoomState, width: int, height: int) -> RoomLayout:
        """Return where the board and the rest go in a window of this size."""
        rules, settings = state.rules.to_rules(), self.desk.settings
        style = BoardStyle(
            ascii=settings.ascii, keys=settings.keys if self.table.plays else None, stars=not self.table.review.is_on
        )
        cursor = self._cursor(state)
        centre = cursor if cursor is not None else state.last
        return lay_out_room(rules, style, width, height - self.foot.extra_lines, centre, self.window)

    def _draw_board(self, picture: Picture, state: RoomState, layout: RoomLayout) -> list[str]:
        """Draw the board, with values where they are shown; return those that its small cells have no room for."""
        view = BoardView.of(state, self._cursor(state) if self.table.plays or self.table.review.is_on else None)
        if not self.table.timeline.is_back and self.table.hand.pending is not None:
            view = replace(view, pending=self.table.hand.pending)
        if self.table.falling and not self.table.timeline.is_back:
            view = replace(view, board=self.table.falling[0], last=None, line=frozenset())
        fit = self.fit = layout.fit
        self.window = fit.window
        self.corner = (LEFT, layout.top)
        is_grey = self.desk.link.phase != "online" and self.table.record is None
        picture.paste(*self.corner, fit.draw(view), "dim" if is_grey else None)
        analysis = self.table.review.analysis if self.table.review.is_on else None
        if analysis is None:
            return []
        paint_values(picture, *self.corner, view, fit, analysis)
        return [] if fit.style.framed else list_worth(analysis, view.rules, _MOST_WORTHS)

    def _cursor(self, state: RoomState) -> int | None:
        """Return where the cursor stands: for one who plays where marks fall, where the mark would land."""
        cursor = self.table.hand.cursor
        return (
            resting_cell(state, cursor) if cursor is not None and state.rules.gravity and self.table.plays else cursor
        )

    def _draw_players(self, picture: Picture, layout: RoomLayout, bottom: int, now: float, worth: list[str]) -> None:
        """Draw the panel down to this line, or where there is no room for it the players in a line above the board."""
        ascii_only, height = self.desk.settings.ascii, bottom - layout.top
        if layout.panel is not None:
            paint_panel(picture, layout.panel, layout.top, height, self.table, now, worth, ascii_only=ascii_only)
            return
        paint_players(picture, layout.top - 1, picture.width - 1, self.table, now, ascii_only=ascii_only)

    def _draw_invitation(self, picture: Picture, bottom: int) -> int:
        """Draw how others get here, above this line, and what was said; return how many lines of that are in sight."""
        link = self.link_for_others()
        edge = self._draw_code(picture, link)
        picture.put(3, 2, shorten_words(self._describe_company(), edge - 3), "dim")
        picture.put(3, 3, shorten_words(self._describe_terms(), edge - 3), "dim")
        y = 4 if picture.height < _LOW else 5
        command = f"tictactoe-client join {link}"
        for title, text, role in (("Code", self.table.room.code, "title"), ("Link", link, ""), ("Or", command, "")):
            for number, line in enumerate(wrap(text, edge - 10)[: max(0, bottom - y)]):
                picture.put(3, y, "" if number else title, "dim")
                picture.put(10, y, line, role)
                y += 1
        space = max(0, min(3, bottom - y - 1))
        for number, line in enumerate(self.table.talk[-space:] if space else [], y + 1):
            picture.put(3, number, shorten(line, edge - 3), "dim")
        return space

    def _describe_company(self) -> str:
        """Return who is in the room before the game begins."""
        state, seat = self.table.state, self.table.seat
        if state is None:
            return ""
        company = describe_players(state, self.table.viewer)
        if seat is None:
            return f"You are watching. {company}"
        alone = sum(held is not None for held in state.seats.values()) == 1
        return f"You wait in a room of your own; you are {seat}." if alone else company

    def _describe_terms(self) -> str:
        """Return the clock, and who may find the room."""
        state = self.table.state
        if state is None:
            return ""
        clock = describe_clock_in_words(state.time_control)
        return f"{clock[:1].upper()}{clock[1:]}; {state.visibility}."

    def _draw_code(self, picture: Picture, link: str) -> int:
        """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
        settings = self.desk.settings
        if not self.table.hand.shows_code or settings.ascii or not settings.colour:
            return picture.width - 1
        lines = render_code(link)
        x = picture.width - len(lines[0]) - 1
        if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
            return picture.width - 1
        for number, line in enumerate(lines):
            picture.put(x, 2 + number, line, "qr")
        return x - 1

    def link_for_others(self) -> str:
        """Return the link to the room by an address that others can reach."""
        return reachable_address(self.desk.link.address).link_to(self.table.room.code)
