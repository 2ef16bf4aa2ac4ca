"""The lines at the foot of a room: what waits for an answer, what a moment is worth, whose move it is, and the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tictactoe_client.input.cells import goes_on, is_whole
from tictactoe_client.text.news import cost_of_going
from tictactoe_client.text.wording import describe_turn, format_duration, name_of
from tictactoe_client.text.worth import compare_played, describe_cell_worth, describe_position
from tictactoe_client.tui.foot import Foot, Text, arrange_foot, fit_keys
from tictactoe_client.tui.hints import hint_answers, hint_line, hint_record, hint_room, hint_typed
from tictactoe_client.tui.picture import Picture, fold, measure, shorten_left
from tictactoe_client.tui.room.banners import connection_banner, game_banner
from tictactoe_client.tui.room.desk import Desk
from tictactoe_client.tui.room.ending import describe_end
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState

_NEARLY_TOO_LONG: Final = MAX_CHAT_LENGTH - 40


class RoomFoot:
    """What stands below the board of one room."""

    def __init__(self, desk: Desk, table: Table, *, another: str) -> None:
        self.desk = desk
        self.table = table
        self.another = another
        self._opened_at = desk.now()

    @property
    def question(self) -> str:
        """What is asked before a game is given up, or nothing."""
        banner = self._confirm_banner()
        return banner[0] if banner is not None else ""

    @property
    def extra_lines(self) -> int:
        """How many lines it has beside those that every room has."""
        return 1 if self.table.review.is_on else 0

    def arrange(
        self, state: RoomState, status: tuple[str, str] | None, now: float, width: int, rows: int, heard: Sequence[str]
    ) -> Foot:
        """Return the lines above the keys, at most so many; `heard` is what was said and is not in sight elsewhere."""
        inner = width - 2
        news: list[Text] = [status] if status else []
        if self.table.record is not None and not status:
            news = [self._describe_turn(state, inner - 2)]
        if self.table.hand.returned:
            news.append((self.table.hand.returned, "good"))
        before = len(news)
        news += [(line, "title") for line in heard]
        worth = fold(self._describe_worth(state), inner, max(1, rows - 2)) if self.table.review.is_on else []
        foot = self._arrange(state, news, now, inner, rows - len(worth))
        foot = replace(foot, notes=max(0, foot.notes - before))
        if not worth:
            return foot
        return replace(foot, banner=(*(foot.banner or (("", ""),)), *((line, "title") for line in worth)))

    def draw(self, picture: Picture, foot: Foot, state: RoomState) -> None:
        """Draw the lines, and the keys below them."""
        bottom = picture.height - 1
        y = bottom - len(foot.banner) - len(foot.status)
        for number, (text, role) in enumerate((*foot.banner, *foot.status)):
            picture.put(1, y + number, text, role)
        picture.put_right(bottom - 1, *foot.beside)
        picture.put(1, bottom, fit_keys(self._hints(state), picture.width - 2), "dim")

    def _arrange(self, state: RoomState, news: list[Text], now: float, width: int, rows: int) -> Foot:
        """Return the lines: what is typed and how the game ended are never covered by news, whose turn it is may be."""
        banner = self._banner(state, now, width)
        line = self._line_being_typed()
        if line is not None:
            count = self._count_said()
            typed = (shorten_left(line, width - 1 - (len(count[0]) + 2 if count[0] else 0)), "title")
            return arrange_foot(
                banner, typed, width, rows, beside=count, notes=news, over_banner=True, above_status=True
            )
        if self._is_at_end:
            return arrange_foot(banner, describe_end(self.table), width, rows, notes=news, over_banner=True)
        typed_move = self.table.hand.ahead.text
        beside = (f"move: {typed_move}_" if self.table.plays else "", "title" if typed_move else "dim")
        if self.table.record is not None and typed_move:
            beside = (f"go to move: {typed_move}_", "title")
        text, *more = news or [self._describe_turn(state, width - 2)]
        foot = arrange_foot(banner, text, width, rows, beside=beside, may_drop=not typed_move, notes=more)
        return replace(foot, notes=foot.notes + 1 if news else 0)

    @property
    def _is_at_end(self) -> bool:
        """Whether the end of a game is looked at."""
        state, table = self.table.state, self.table
        return table.record is None and state is not None and state.status == "over" and not table.timeline.is_back

    def _banner(self, state: RoomState, now: float, width: int) -> tuple[str, str] | None:
        if self.table.record is not None:
            return None
        holds_seat = self.table.plays or state.status == "waiting"
        lost = connection_banner(
            self.desk.link, now, width=width, ascii_only=self.desk.settings.ascii, holds_seat=holds_seat
        )
        return self._confirm_banner() or lost or self._errand_banner() or self._game_banner(now)

    def _count_said(self) -> tuple[str, str]:
        """Return how long the line to be said is, where that comes near to what may be said at once."""
        length = len(self.table.hand.line.text.strip()) if self.table.hand.mode == "chat" else 0
        if length < _NEARLY_TOO_LONG:
            return "", ""
        return f"{length}/{MAX_CHAT_LENGTH}", "bad" if length > MAX_CHAT_LENGTH else "dim"

    def _line_being_typed(self) -> str | None:
        if self.table.hand.mode == "chat":
            return f"say: {self.table.hand.line.text}_"
        return f":{self.table.hand.line.text}_" if self.table.hand.mode == "command" else None

    def _describe_worth(self, state: RoomState) -> str:
        """Return what the moment that is looked at is worth, and the cell that is pointed at."""
        analysis, rules = self.table.review.analysis, state.rules.to_rules()
        if analysis is None:
            if self.table.review.is_waiting:
                return "Worth: ..." if self.desk.settings.ascii else "Worth: …"
            back = self.desk.keymap.show("left", ascii_only=self.desk.settings.ascii)
            return "" if state.result is None else f"{back} goes back to what each move was worth."
        cell = self.table.hand.cursor
        pointed = "" if cell is None else f"   {describe_cell_worth(cell, analysis, rules)}."
        return f"{describe_position(analysis, rules)}{pointed}"

    def _compare_played(self, state: RoomState) -> str:
        analysis, played = self.table.review.analysis, self.table.timeline.played_next
        if not self.table.review.is_on or analysis is None or played is None:
            return ""
        return compare_played(played, analysis, state.rules.to_rules())

    def _errand_banner(self) -> tuple[str, str] | None:
        if self.table.hand.errand is None:
            return None
        dots = "..." if self.desk.settings.ascii else "…"
        return (f"{self.table.hand.errand}{dots}   {self.desk.keymap.show('back')} home", "warn")

    def _game_banner(self, now: float) -> tuple[str, str] | None:
        return game_banner(self.table, self.desk.keymap, now, another=self.another)

    def _confirm_banner(self) -> tuple[str, str] | None:
        if self.table.hand.confirming is None:
            return None
        state, table = self.table.state, self.table
        cost = "" if state is None else cost_of_going(state, table.viewer, aborts=table.aborts)
        loses = "Resign" if self.table.hand.confirming == "resign" else f"Leave and {cost or 'lose'} this game"
        yes, no = self.desk.keymap.show("confirm"), self.desk.keymap.show("back")
        return (f"{loses}?   {yes} yes   {no} play on", "bad")

    def _describe_turn(self, state: RoomState, width: int) -> tuple[str, str]:
        if state.status == "waiting":
            missing = sum(seat is None for seat in state.seats.values())
            whom = "someone" if missing == 1 else f"{missing} more"
            waited = format_duration(round((self.desk.now() - self._opened_at) * 1000))
            return f"Waiting for {whom}{'...' if self.desk.settings.ascii else '…'} {waited}", "title"
        if self.table.record is not None:
            told, compared = self.table.describe_moment()[0], self._compare_played(state)
            return (compared, "warn") if compared else (told, "title")
        if self.table.timeline.is_back:
            unseen = self.table.timeline.unseen
            fresh = f"   ({unseen} new move{'' if unseen == 1 else 's'})" if unseen else ""
            compared = self._compare_played(state)
            told = "   ".join(part for part in (f"Looking back at move {state.ply}.", compared) if part)
            return f"{compared if compared and measure(told) > width else told}{fresh}", "warn"
        if self.table.is_my_turn:
            own = f"YOUR MOVE ({state.turn}){self._describe_start()}"
            return (own if self.table.hand.pending is None else "Sending ..."), "title"
        if self.table.seat is not None and not self.table.plays:
            return f"You are out of this game: {name_of(state, state.turn)} to move ({state.turn})", "dim"
        if state.turn is None:
            return describe_turn(state, self.table.viewer), ""
        return f"{name_of(state, state.turn)}'s move ({state.turn}){self._describe_start()}", ""

    def _describe_start(self) -> str:
        """Return within what a first move is due, where one is."""
        left = self.table.start_ms(self.desk.now())
        return "" if left is None else f"   first move within {format_duration(left)}"

    def _hints(self, state: RoomState) -> str:
        keymap = self.desk.keymap
        if self.table.hand.confirming is not None:
            return hint_answers(keymap)
        if self.table.hand.mode != "board":
            return hint_line(self.table.hand.mode, keymap)
        if self.desk.link.phase == "away" and self.table.record is None:
            return f"{keymap.show('retry')} try now  {keymap.show('back')} leave"
        typed = self.table.hand.ahead.text
        if (
            self.table.is_my_turn
            and self.table.hand.pending is None
            and is_whole(typed, state.rules.to_rules(), self.desk.settings.keys)
        ):
            return hint_typed(typed, keymap)
        if typed and self.table.plays and not goes_on(typed.lstrip(), state.rules.to_rules()):
            return hint_typed("", keymap)
        if self.table.record is not None and not self.table.review.is_on:
            return hint_record(keymap, self.desk.settings, way_out="back" if len(self.desk.screens) > 1 else "leave")
        return hint_room(
            self.table,
            state,
            keymap,
            self.desk.settings,
            reviews=self.table.review.is_on,
            another=self.another,
        )
