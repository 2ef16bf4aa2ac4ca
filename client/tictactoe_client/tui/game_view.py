"""How a room looks on the screen: its head, the board or the invitation, and the lines at the foot.

It holds what one sees but the server does not know: the cursor, what is being typed, what is being asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tictactoe_client.board import BoardStyle, BoardView, Window
from tictactoe_client.invite import reachable_address
from tictactoe_client.tui.banners import connection_banner, game_banner
from tictactoe_client.tui.board_area import Fit, paint_board
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.ending import describe_end
from tictactoe_client.tui.foot import Foot, arrange_foot, fit_keys
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.picture import Picture, measure, shorten, shorten_left, shorten_words, wrap
from tictactoe_client.tui.qr import render_code
from tictactoe_client.tui.room_layout import LEFT, RoomLayout, lay_out_room, needed_for_room
from tictactoe_client.tui.side_panel import paint_panel, paint_players
from tictactoe_client.tui.table import Table
from tictactoe_client.wording import describe_rules, format_duration, name_of
from tictactoe_engine import has_single_keys
from tictactoe_protocol.pushes import RoomState


class GameView:
    """One room's picture; the page changes what is public here, and asks where the board was drawn."""

    def __init__(self, desk: Desk, table: Table, *, can_find_another: bool) -> None:
        self.desk = desk
        self.table = table
        self.can_find_another = can_find_another
        self.mode: Literal["board", "chat", "command"] = "board"
        self.line = LineEditor()
        self.ahead = LineEditor(limit=8)
        self.cursor: int | None = None
        self.pending: tuple[int, str] | None = None
        self.confirming: Literal["resign", "leave", "quit"] | None = None
        self.shows_code = True
        self.opened_at = desk.now()
        self.window: Window | None = None
        self.fit: Fit | None = None
        self.corner = (0, 0)
        self._space: tuple[int, int] | None = None

    def needed_size(self) -> tuple[int, int] | None:
        """Return the smallest window for this room's board, or None where there is no board."""
        state = self.table.state
        return needed_for_room(state.rules.to_rules()) if state is not None and state.status != "waiting" else None

    def wanted_size(self, width: int, height: int) -> tuple[int, int] | None:
        """Return how much of a window the board with all about it can use, or None where there is no board."""
        state = self.table.shown()
        self._space = (width, height)
        if state is None or state.status == "waiting":
            return None
        layout = self._lay_out(state, *self._space)
        return layout.width, layout.height

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at."""
        state = self.table.shown()
        if state is None:
            picture.put(1, 0, f" Room {self.table.code} ...")
            return
        now = self.desk.now()
        if state.status == "waiting":
            self._draw_head(picture, state)
            foot = self._arrange_foot(state, status, now, picture.width, 3)
            self._draw_invitation(picture, picture.height - 1 - foot.height)
        else:
            layout = self._lay_out(state, *(self._space or (picture.width, picture.height)))
            rows = picture.height - 1 - layout.below_board
            foot = self._arrange_foot(state, status, now, picture.width, rows)
            if layout.panel is not None or layout.top > 1:
                self._draw_head(picture, state)
            self._draw_board(picture, state, layout)
            self._draw_players(picture, layout, picture.height - 1 - foot.height, now)
        self._draw_foot(picture, state, foot)

    def _draw_head(self, picture: Picture, state: RoomState) -> None:
        dot, link = ("*" if self.desk.settings.ascii else "●"), self.desk.link
        right = f"{link.latency_ms} ms {dot}" if link.phase == "online" else f"offline {dot}"
        if self.table.seat is None:
            watching = f"{state.watchers} watching" if state.watchers else ""
            moment = f"move {state.ply} of {len(self.table.moves)}" if self.table.shown_ply is not None else ""
            head = f"WATCHING {state.room}"
            ways = ("   ".join(part for part in (watching, moment) if part) or right, moment)
            right = next((way for way in ways if measure(head) + measure(way) + 4 <= picture.width), "")
            names = " v ".join(f"{name_of(state, mark)} ({mark})" for mark in state.seats)
            space = picture.width - measure(head) - measure(right) - 6
            rest = f"   {shorten(names, space)}" if space > 6 else ""
        else:
            head = state.room
            comma = ", " if self.desk.settings.ascii else " · "
            parts = describe_rules(state.rules).replace(" by ", "x").split(", ")
            while parts and measure(comma.join([head, *parts])) > picture.width - measure(right) - 4:
                parts.pop()
            rest = "".join(f"{comma}{part}" for part in parts)
        picture.put_parts(1, 0, (head, "title"), (rest, ""), until=picture.width - measure(right) - 2)
        picture.put_right(0, right, "dim" if link.phase == "online" else "bad")

    def _lay_out(self, state: RoomState, width: int, height: int) -> RoomLayout:
        """Return where the board and the rest go in a window of this size."""
        rules, settings = state.rules.to_rules(), self.desk.settings
        shows_keys = has_single_keys(rules) and self.table.seat is not None and state.status == "playing"
        style = BoardStyle(ascii=settings.ascii, keys=settings.keys if shows_keys else None)
        cursor = self._shown_cursor(state)
        return lay_out_room(rules, style, width, height, state.last if cursor is None else cursor, self.window)

    def _shown_cursor(self, state: RoomState) -> int | None:
        return self.cursor if state.status == "playing" and self.table.seat is not None else None

    def _draw_board(self, picture: Picture, state: RoomState, layout: RoomLayout) -> None:
        view = BoardView.of(state, self._shown_cursor(state))
        if self.table.shown_ply is None and self.pending is not None:
            view = replace(view, pending=self.pending)
        self.fit, self.window = layout.fit, layout.fit.window
        self.corner = (LEFT, layout.top)
        paint_board(picture, *self.corner, view, layout.fit, grey=self.desk.link.phase != "online")

    def _draw_players(self, picture: Picture, layout: RoomLayout, bottom: int, now: float) -> None:
        """Draw the panel down to this line, or where there is no room for it the players in a line above the board."""
        ascii_only = self.desk.settings.ascii
        if layout.panel is not None:
            paint_panel(picture, layout.panel, layout.top, bottom - layout.top, self.table, now, ascii_only=ascii_only)
            return
        paint_players(picture, layout.top - 1, picture.width - 1, self.table, now, ascii_only=ascii_only)

    def _draw_invitation(self, picture: Picture, bottom: int) -> None:
        """Draw how others get here, above this line."""
        link = self.link_for_others()
        edge = self._draw_code(picture, link)
        you = f"you are {self.table.seat}" if self.table.seat else "watching"
        picture.put(3, 2, shorten_words(f"You wait in a room of your own; {you}.", edge - 3), "dim")
        y = 4
        command = f"tictactoe-client join {link}"
        for title, text, role in (("Code", self.table.code, "title"), ("Link", link, ""), ("Or", command, "")):
            for number, line in enumerate(wrap(text, edge - 10)[: max(0, bottom - y)]):
                picture.put(3, y, "" if number else title, "dim")
                picture.put(10, y, line, role)
                y += 1
        space = max(0, min(3, bottom - y - 1))
        for number, line in enumerate(self.table.talk[-space:] if space else [], y + 1):
            picture.put(3, number, shorten(line, edge - 3), "dim")

    def _draw_code(self, picture: Picture, link: str) -> int:
        """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
        settings = self.desk.settings
        if not self.shows_code or settings.ascii or not settings.colour:
            return picture.width - 1
        lines = render_code(link)
        x = picture.width - len(lines[0]) - 1
        if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
            return picture.width - 1
        for number, line in enumerate(lines):
            picture.put(x, 2 + number, line, "qr")
        return x - 1

    def _arrange_foot(
        self, state: RoomState, status: tuple[str, str] | None, now: float, width: int, rows: int
    ) -> Foot:
        """Return what is asked and the status, in at most so many lines."""
        banner = connection_banner(self.desk.link, now, width=width - 2, ascii_only=self.desk.settings.ascii)
        banner = banner or self._confirm_banner() or game_banner(self.table, self.desk.keymap, now)
        line = self._line_being_typed()
        if line is not None:
            return arrange_foot(banner, (shorten_left(line, width - 3), "title"), width - 2, rows)
        typed = self.ahead.text
        beside = f"move: {typed}_" if state.status == "playing" and self.table.seat is not None else ""
        return arrange_foot(
            banner,
            status or self._describe_turn(state),
            width - 2,
            rows,
            beside=(beside, "title" if typed else "dim"),
            may_drop=not typed,
        )

    def _draw_foot(self, picture: Picture, state: RoomState, foot: Foot) -> None:
        bottom = picture.height - 1
        y = bottom - len(foot.banner) - len(foot.status)
        for number, (text, role) in enumerate((*foot.banner, *foot.status)):
            picture.put(1, y + number, text, role)
        picture.put_right(bottom - 1, *foot.beside)
        picture.put(1, bottom, fit_keys(self._hints(state), picture.width - 2), "dim")

    def _line_being_typed(self) -> str | None:
        if self.mode == "chat":
            return f"say: {self.line.text}_"
        return f":{self.line.text}_" if self.mode == "command" else None

    def _confirm_banner(self) -> tuple[str, str] | None:
        if self.confirming is None:
            return None
        loses = "Resign" if self.confirming == "resign" else "Leave and lose this game"
        return (f"{loses}?   Enter yes   Esc play on", "bad")

    def _describe_turn(self, state: RoomState) -> tuple[str, str]:
        if self.table.state is not None and self.table.state.status == "over":
            return describe_end(self.table)
        if state.status == "waiting":
            missing = sum(seat is None for seat in state.seats.values())
            whom = "someone" if missing == 1 else f"{missing} more"
            waited = format_duration(round((self.desk.now() - self.opened_at) * 1000))
            return f"Waiting for {whom}{'...' if self.desk.settings.ascii else '…'} {waited}", "title"
        if self.table.shown_ply is not None:
            fresh = f"   ({self.table.unseen} new moves)" if self.table.unseen else ""
            return f"Looking back at move {state.ply}.{fresh}", "warn"
        if self.table.is_my_turn:
            return (f"YOUR MOVE ({state.turn})" if self.pending is None else "Sending ..."), "title"
        return f"{name_of(state, state.turn)}'s move ({state.turn})", ""

    def _hints(self, state: RoomState) -> str:
        show = self.desk.keymap.show
        talk = f"{show('chat')} chat  {show('command')} command  {show('help')} help"
        if self.desk.link.phase == "away":
            return f"r try now  {show('back')} leave"
        if self.mode == "chat":
            return f"Enter say it  {show('back')} back to the board"
        if self.mode == "command":
            return f"resign draw undo claim chat clock who leave help   Enter do it  {show('back')} back"
        if state.status == "waiting" and self.table.seat is not None:
            code = "  Q hide QR" if self.desk.settings.colour and not self.desk.settings.ascii else ""
            return f"{show('back')} cancel  y copy{code}  b let the computer sit in  {show('help')} help"
        arrows = "<-/->" if self.desk.settings.ascii else "←/→"
        if self.table.seat is None:
            return f"{arrows} step  {show('end')} live  {show('chat')} chat  {show('back')} leave  {show('help')} help"
        if self.table.state is not None and self.table.state.status == "over":
            new = "  n new opponent" if self.can_find_another else ""
            return f"r rematch  v review ({arrows}){new}  s save  {show('chat')} chat  {show('back')} home"
        if has_single_keys(state.rules.to_rules()):
            return f"1-9 or qwe/asd/zxc place  arrows+Enter  {talk}"
        return f"type a cell (h8) and Enter, or arrows+Enter  {talk}"

    def link_for_others(self) -> str:
        """Return the link to the room by an address that others can reach."""
        return reachable_address(self.desk.link.address).link_to(self.table.code)
