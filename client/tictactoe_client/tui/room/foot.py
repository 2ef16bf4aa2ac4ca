"""The lines at the foot of a room: what waits for an answer, how the game ended, whose move it is, and the keys.

Long texts take more than one line where there are lines to be had, and are cut between words where there are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from tictactoe_client.text.worth import compare_played, describe_cell_worth, describe_position
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture, fold, measure
from tictactoe_client.tui.room.banners import Text, connection_banner, describe_question, game_banner
from tictactoe_client.tui.room.ending import describe_end
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import count, describe_turn, format_duration, name_of

_NEARLY_TOO_LONG: Final = MAX_CHAT_LENGTH - 40


@dataclass(frozen=True, slots=True)
class Foot:
    """The lines above the keys, from the top: those of the banner, then those of the status; `beside` at its right.

    `notes` is how many of the notes have their place among them, `marked` what is marked in the last one, and where.
    """

    banner: tuple[Text, ...]
    status: tuple[Text, ...]
    beside: Text = ("", "")
    notes: int = 0
    marked: tuple[int, str] | None = None

    @property
    def height(self) -> int:
        """How many lines it takes; the banner keeps its line also when there is none."""
        return max(2, len(self.banner) + len(self.status))


def arrange_foot(
    banner: Text | None,
    status: Text,
    width: int,
    rows: int,
    *,
    beside: Text = ("", ""),
    may_drop: bool = False,
    notes: Sequence[Text] = (),
    over_banner: bool = False,
    above_status: bool = False,
) -> Foot:
    """Return the lines for a foot of at most `rows` lines, two or more, with `beside` right of the status.

    The banner has the first claim to what is left over, as it is what waits for an answer. `may_drop` leaves `beside`
    out where the status has no room next to it. Then come `notes`, one after the other as long as they find room, under
    the status or with `above_status` above it; with `over_banner` the first of them goes before the banner.
    """
    reserved = 1 if notes and over_banner else 0
    room = rows - 1 - reserved
    banner_lines = fold(banner[0], width, max(1, room)) if banner is not None and (room or not reserved) else []
    taken = measure(beside[0]) + 2 if beside[0] else 0
    if may_drop and measure(status[0]) > width - taken:
        beside, taken = ("", ""), 0
    status_lines = fold(status[0], width - taken, max(1, rows - len(banner_lines) - reserved))
    told, placed = _place_notes(notes, width - taken, rows - len(banner_lines) - len(status_lines))
    lines = tuple((line, status[1]) for line in status_lines)
    role = banner[1] if banner is not None else ""
    whole = (*told, *lines) if above_status else (*lines, *told)
    return Foot(tuple((line, role) for line in banner_lines), whole, beside, placed)


def _place_notes(notes: Sequence[Text], width: int, rows: int) -> tuple[tuple[Text, ...], int]:
    """Return the lines of as many notes as find room, the first one cut where it must be, and how many they are."""
    told: list[Text] = []
    for number, (text, role) in enumerate(notes):
        left = rows - len(told)
        if left < 1 or (number and len(fold(text, width, left + 1)) > left):
            return tuple(told), number
        told += [(line, role) for line in fold(text, width, left)]
    return tuple(told), len(notes)


class RoomFoot:
    """What stands below the board of one room."""

    def __init__(self, desk: Desk, table: Table) -> None:
        self.desk = desk
        self.table = table
        self._opened_at = monotonic()

    @property
    def extra_lines(self) -> int:
        """How many lines it has beside those that every room has."""
        return 1 if self.table.review.is_on else 0

    def arrange(
        self, state: RoomState, status: Text | None, now: float, width: int, rows: int, heard: Sequence[str]
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

    def draw(self, picture: Picture, foot: Foot) -> None:
        """Draw the lines, above that of the keys."""
        bottom = picture.height - 1
        y = bottom - len(foot.banner) - len(foot.status)
        for number, (text, role) in enumerate((*foot.banner, *foot.status)):
            picture.put(1, y + number, text, role)
        picture.put_right(bottom - 1, *foot.beside)
        if foot.marked is not None:
            picture.put(1 + foot.marked[0], bottom - 1, foot.marked[1], "chosen")

    def _arrange(self, state: RoomState, news: list[Text], now: float, width: int, rows: int) -> Foot:
        """Return the lines: what is typed and how the game ended are never covered by news, whose turn it is may be."""
        banner = self._banner(state, now, width)
        hand = self.table.hand
        if hand.line.mode:
            said = self._count_said()
            typed, at, marked = hand.line.lay_out(width - 1 - (len(said[0]) + 2 if said[0] else 0))
            line = typed, "title"
            foot = arrange_foot(banner, line, width, rows, beside=said, notes=news, over_banner=True, above_status=True)
            return replace(foot, marked=(at, marked))
        if self.table.situation == "over" and not self.table.actions.timeline.is_back:
            return arrange_foot(banner, describe_end(self.table), width, rows, notes=news, over_banner=True)
        prompt = "go to move: " if self.table.record is not None else "move: "
        shows_prompt = hand.ahead if self.table.record is not None else self.table.room.plays
        beside = (f"{prompt}{hand.ahead}_" if shows_prompt else "", "title" if hand.ahead else "dim")
        text, *more = news or [self._describe_turn(state, width - 2)]
        foot = arrange_foot(banner, text, width, rows, beside=beside, may_drop=not hand.ahead, notes=more)
        return replace(foot, notes=foot.notes + 1 if news else 0)

    def _banner(self, state: RoomState, now: float, width: int) -> Text | None:
        table, keymap = self.table, self.desk.keymap
        if table.record is not None:
            return None
        holds_seat = table.room.plays or state.status == "waiting"
        lost = connection_banner(self.desk.link, now, width=width, holds_seat=holds_seat)
        if asked := describe_question(table, keymap):
            return asked, "bad"
        if lost:
            return lost
        if self.desk.errands.errand:
            return f"{self.desk.errands.errand}…   {keymap.show('back')} home", "warn"
        return game_banner(table, keymap, now)

    def _count_said(self) -> Text:
        """Return how long the line to be said is, where that comes near to what may be said at once."""
        length = len(self.table.hand.line.value.strip()) if self.table.hand.line.mode == "chat" else 0
        if length < _NEARLY_TOO_LONG:
            return "", ""
        return f"{length}/{MAX_CHAT_LENGTH}", "bad" if length > MAX_CHAT_LENGTH else "dim"

    def _describe_worth(self, state: RoomState) -> str:
        """Return what the moment that is looked at is worth, and the cell that is pointed at."""
        analysis, rules = self.table.review.analysis, state.rules.to_rules()
        if analysis is None:
            if self.table.review.is_waiting:
                return "Worth: …"
            back = self.desk.keymap.show("left", ascii_only=self.desk.settings.ascii)
            return "" if state.result is None else f"{back} goes back to what each move was worth."
        cell = self.table.hand.cursor
        pointed = "" if cell is None else f"   {describe_cell_worth(cell, analysis, rules)}."
        return f"{describe_position(analysis, rules)}{pointed}"

    def _compare_played(self, state: RoomState) -> str:
        analysis, played = self.table.review.analysis, self.table.actions.timeline.played_next
        if not self.table.review.is_on or analysis is None or played is None:
            return ""
        return compare_played(played, analysis, state.rules.to_rules())

    def _describe_turn(self, state: RoomState, width: int) -> Text:
        if state.status == "waiting":
            missing = sum(seat is None for seat in state.seats.values())
            whom = "someone" if missing == 1 else f"{missing} more"
            waited = format_duration(round((monotonic() - self._opened_at) * 1000))
            return f"Waiting for {whom}… {waited}", "title"
        if self.table.record is not None:
            compared = self._compare_played(state)
            return (compared, "warn") if compared else (self.table.describe_moment()[0], "title")
        timeline = self.table.actions.timeline
        if timeline.is_back:
            fresh = f"   ({count(timeline.unseen, 'new move')})" if timeline.unseen else ""
            compared = self._compare_played(state)
            told = "   ".join(part for part in (f"Looking back at move {state.ply}.", compared) if part)
            return f"{compared if compared and measure(told) > width else told}{fresh}", "warn"
        if self.table.room.is_my_turn:
            own = f"YOUR MOVE ({state.turn}){self._describe_start()}"
            return (own if self.table.hand.pending is None else "Sending ..."), "title"
        if self.table.room.seat is not None and not self.table.room.plays:
            return f"You are out of this game: {name_of(state, state.turn)} to move ({state.turn})", "dim"
        if state.turn is None:
            return describe_turn(state, self.table.room.viewer), ""
        return f"{name_of(state, state.turn)}'s move ({state.turn}){self._describe_start()}", ""

    def _describe_start(self) -> str:
        """Return within what a first move is due, where one is."""
        left = self.table.start_ms(monotonic())
        return "" if left is None else f"   first move within {format_duration(left)}"
