"""How a room looks on the screen: its head, the board or the invitation, and the lines at the foot.

It remembers where it drew the board, so that clicks find their cells.
"""

from __future__ import annotations

from tictactoe_client.board import BoardStyle, BoardView, Window
from tictactoe_client.invite import reachable_address
from tictactoe_client.tui.banners import connection_banner, game_banner
from tictactoe_client.tui.board_area import Fit, fit_board, paint_board
from tictactoe_client.tui.ending import describe_end
from tictactoe_client.tui.hand import Hand
from tictactoe_client.tui.hints import hint_line, hint_room
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.picture import Picture, measure, shorten
from tictactoe_client.tui.qr import render_code
from tictactoe_client.tui.review import Review
from tictactoe_client.tui.side_panel import MIN_WIDTH as PANEL_WIDTH
from tictactoe_client.tui.side_panel import paint_panel
from tictactoe_client.tui.table import Table
from tictactoe_client.tui.value_marks import paint_values
from tictactoe_client.tui.value_words import compare_played, describe_cell_worth, describe_position, list_worth
from tictactoe_client.wording import describe_players, describe_rules, format_duration, name_of
from tictactoe_engine import has_single_keys
from tictactoe_protocol.pushes import RoomState

_MOST_WORTHS = 5


class GameView:
    """One room's picture; `fit` and `corner` say where the board was drawn."""

    def __init__(self, desk: Desk, table: Table, hand: Hand, review: Review, *, can_find_another: bool) -> None:
        self.desk = desk
        self.table = table
        self.hand = hand
        self.review = review
        self.can_find_another = can_find_another
        self.opened_at = desk.now()
        self.window: Window | None = None
        self.fit: Fit | None = None
        self.corner = (0, 0)

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at."""
        state = self.table.shown()
        if state is None:
            picture.put(1, 0, f" Room {self.table.code} ...")
            return
        now = self.desk.now()
        self._draw_head(picture, state)
        if state.status == "waiting":
            self._draw_invitation(picture)
        else:
            self._draw_board(picture, state, now)
        self._draw_foot(picture, state, status, now)

    def _draw_head(self, picture: Picture, state: RoomState) -> None:
        dot, link = ("*" if self.desk.settings.ascii else "●"), self.desk.link
        right = f"{link.latency_ms} ms {dot}" if link.phase == "online" else f"offline {dot}"
        if self.table.seat is None:
            watching = f"{state.watchers} watching" if state.watchers else ""
            moment = f"move {state.ply} of {len(self.table.moves)}" if self.table.shown_ply is not None else ""
            names = " v ".join(f"{name_of(state, mark)} ({mark})" for mark in state.seats)
            right = "   ".join(part for part in (watching, moment) if part) or right
            head = (f"WATCHING {state.room}", "title")
            picture.put_parts(1, 0, head, (f"   {names}", ""), until=picture.width - measure(right) - 2)
        else:
            comma = ", " if self.desk.settings.ascii else " · "
            rules = comma + describe_rules(state.rules).replace(" by ", "x").replace(", ", comma)
            picture.put_parts(1, 0, (state.room, "title"), (rules, ""), until=picture.width - len(right) - 2)
        picture.put_right(0, right, "dim" if link.phase == "online" else "bad")

    def _draw_board(self, picture: Picture, state: RoomState, now: float) -> None:
        rules, settings = state.rules.to_rules(), self.desk.settings
        height = picture.height - (5 if self.review.is_on else 4)
        shows_keys = has_single_keys(rules) and self.table.plays
        style = BoardStyle(ascii=settings.ascii, keys=settings.keys if shows_keys else None)
        cursor = self.hand.cursor if self.table.plays or self.review.is_on else None
        centre = self.hand.cursor if self.hand.cursor is not None else state.last
        panel = PANEL_WIDTH + 4
        fit = fit_board(rules, style, picture.width - 4 - panel, height, centre, self.window)
        if fit.window is not None:
            alone = fit_board(rules, style, picture.width - 4, height, centre, self.window)
            fit = alone if alone.window is None or picture.width < 60 else fit
        self.fit, self.window = fit, fit.window
        view = BoardView.of(state, cursor)
        if self.table.shown_ply is None and self.hand.pending is not None:
            view = BoardView(view.rules, view.board, view.last, view.line, view.cursor, self.hand.pending)
        x, y = 2, 1 + (1 if fit.height + 1 < height else 0)
        self.corner = (x, y)
        paint_board(picture, x, y, view, fit, grey=self.desk.link.phase != "online")
        analysis = self.review.analysis if self.review.is_on else None
        worth: list[str] = []
        if analysis is not None:
            paint_values(picture, x, y, view, fit, analysis)
            worth = [] if fit.style.framed else list_worth(analysis, rules, _MOST_WORTHS)
        beside = x + fit.width + 4
        if picture.width - beside >= PANEL_WIDTH:
            paint_panel(picture, beside, y, height - (y - 1), self.table, now, worth, ascii_only=settings.ascii)

    def _draw_invitation(self, picture: Picture) -> None:
        link = self.link_for_others()
        edge = self._draw_code(picture, link)
        picture.put(3, 2, self._describe_company(), "dim", until=edge)
        picture.put_parts(3, 4, ("Code   ", "dim"), (self.table.code, "title"))
        picture.put_parts(3, 5, ("Link   ", "dim"), (link, ""), until=edge)
        command = f"tictactoe-client join {link}"
        lines = [command] if 10 + measure(command) < edge else command.rsplit(" ", 1)
        picture.put(3, 6, "Or", "dim")
        for number, line in enumerate(lines):
            picture.put(10, 6 + number, line, until=edge)
        for number, line in enumerate(self.table.talk[-3:]):
            picture.put(3, 9 + number, line, "dim", until=edge)

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

    def _draw_code(self, picture: Picture, link: str) -> int:
        """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
        settings = self.desk.settings
        if not self.hand.shows_code or settings.ascii or not settings.colour:
            return picture.width - 1
        lines = render_code(link)
        x = picture.width - len(lines[0]) - 1
        if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
            return picture.width - 1
        for number, line in enumerate(lines):
            picture.put(x, 2 + number, line, "qr")
        return x - 1

    def _draw_foot(self, picture: Picture, state: RoomState, status: tuple[str, str] | None, now: float) -> None:
        bottom, settings = picture.height, self.desk.settings
        holds_seat = self.table.is_live or state.status == "waiting"
        lost = connection_banner(self.desk.link, now, ascii_only=settings.ascii, holds_seat=holds_seat)
        banner = self._confirm_banner() or lost or self._errand_banner() or self._game_banner(now)
        if banner is not None:
            picture.put(1, bottom - 3, shorten(banner[0], picture.width - 2), banner[1])
        if self.review.is_on:
            row = bottom - (3 if banner is None else 4)
            picture.put(1, row, shorten(self._describe_worth(state), picture.width - 2), "title")
        line = self._line_being_typed()
        text, role = status if status is not None and line is None else self._describe_turn(state, picture.width - 4)
        if line is not None:
            picture.put(1, bottom - 2, shorten_left(line, picture.width - 3), "title")
        else:
            typed = f"move: {self.hand.ahead.text}_" if self._shows_move_line(state) else ""
            picture.put(1, bottom - 2, shorten(text, picture.width - 4 - len(typed)), role)
            picture.put_right(bottom - 2, typed, "title" if self.hand.ahead.text else "dim")
        picture.put(1, bottom - 1, shorten(self._hints(state), picture.width - 2), "dim")

    def _line_being_typed(self) -> str | None:
        if self.hand.mode == "chat":
            return f"say: {self.hand.line.text}_"
        return f":{self.hand.line.text}_" if self.hand.mode == "command" else None

    def _shows_move_line(self, state: RoomState) -> bool:
        return self.table.plays

    def _describe_worth(self, state: RoomState) -> str:
        """Return what the moment that is looked at is worth, and the cell that is pointed at."""
        analysis, rules = self.review.analysis, state.rules.to_rules()
        if analysis is None:
            if self.review.is_waiting:
                return "Worth: ..." if self.desk.settings.ascii else "Worth: …"
            back = self.desk.keymap.show("left", ascii_only=self.desk.settings.ascii)
            return "" if state.result is None else f"{back} goes back to what each move was worth."
        cell = self.hand.cursor
        pointed = "" if cell is None else f"   {describe_cell_worth(cell, analysis, rules)}."
        return f"{describe_position(analysis, rules)}{pointed}"

    def _compare_played(self, state: RoomState) -> str:
        analysis, played = self.review.analysis, self.table.played_next()
        if not self.review.is_on or analysis is None or played is None:
            return ""
        return compare_played(played, analysis, state.rules.to_rules())

    def _errand_banner(self) -> tuple[str, str] | None:
        if self.hand.errand is None:
            return None
        dots = "..." if self.desk.settings.ascii else "…"
        return (f"{self.hand.errand}{dots}   {self.desk.keymap.show('back')} home", "warn")

    def _game_banner(self, now: float) -> tuple[str, str] | None:
        return game_banner(self.table, self.desk.keymap, now, can_find_another=self.can_find_another)

    def _confirm_banner(self) -> tuple[str, str] | None:
        if self.hand.confirming is None:
            return None
        loses = "Resign" if self.hand.confirming == "resign" else "Leave and lose this game"
        yes, no = self.desk.keymap.show("confirm"), self.desk.keymap.show("back")
        return (f"{loses}?   {yes} yes   {no} play on", "bad")

    def _describe_turn(self, state: RoomState, width: int) -> tuple[str, str]:
        over = self.table.state is not None and self.table.state.status == "over"
        if over and not (self.review.is_on and self.table.shown_ply is not None):
            return describe_end(self.table)
        if state.status == "waiting":
            missing = sum(seat is None for seat in state.seats.values())
            whom = "someone" if missing == 1 else f"{missing} more"
            waited = format_duration(round((self.desk.now() - self.opened_at) * 1000))
            return f"Waiting for {whom}{'...' if self.desk.settings.ascii else '…'} {waited}", "title"
        if self.table.shown_ply is not None:
            fresh = f"   ({self.table.unseen} new moves)" if self.table.unseen else ""
            compared = self._compare_played(state)
            told = "   ".join(part for part in (f"Looking back at move {state.ply}.", compared) if part)
            return f"{compared if compared and measure(told) > width else told}{fresh}", "warn"
        if self.table.is_my_turn:
            return (f"YOUR MOVE ({state.turn})" if self.hand.pending is None else "Sending ..."), "title"
        return f"{name_of(state, state.turn)}'s move ({state.turn})", ""

    def _hints(self, state: RoomState) -> str:
        keymap = self.desk.keymap
        if self.desk.link.phase == "away":
            return f"{keymap.show('retry')} try now  {keymap.show('back')} leave"
        if self.hand.mode != "board":
            return hint_line(self.hand.mode, keymap)
        return hint_room(
            self.table,
            state,
            keymap,
            self.desk.settings,
            reviews=self.review.is_on,
            can_find_another=self.can_find_another,
        )

    def link_for_others(self) -> str:
        """Return the link to the room by an address that others can reach."""
        return reachable_address(self.desk.link.address).link_to(self.table.code)


def shorten_left(text: str, width: int) -> str:
    """Return the end of a text that is being typed."""
    while measure(text) > width:
        text = text[1:]
    return text
