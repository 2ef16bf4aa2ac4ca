"""The lines at the foot of a room: what waits for an answer, how the game ended, whose move it is, and the keys.

Long texts take more than one line where there are lines to be had, and are cut between words where there are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, Literal

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
    keeps: Literal["", "above", "below"] = "",
) -> Foot:
    """Return the lines for a foot of at most `rows` lines, two or more, with `beside` right of the status.

    The banner has the first claim to what is left over, as it is what waits for an answer. `may_drop` leaves `beside`
    out where the status has no room next to it. Then come `notes` as long as they find room. A status that `keeps` its
    place has them above it or below, the first one before the banner.
    """
    reserved = 1 if notes and keeps else 0
    room = rows - 1 - reserved
    upper = fold(banner[0], width, max(1, room)) if banner is not None and (room or not reserved) else []
    taken = measure(beside[0]) + 2 if beside[0] else 0
    if may_drop and measure(status[0]) > width - taken:
        beside, taken = ("", ""), 0
    lines = [(line, status[1]) for line in fold(status[0], width - taken, max(1, rows - len(upper) - reserved))]
    told: list[Text] = []
    placed = 0
    for text, role in notes:
        left = rows - len(upper) - len(lines) - len(told)
        if left < 1 or (told and len(fold(text, width - taken, left + 1)) > left):
            break
        told += [(line, role) for line in fold(text, width - taken, left)]
        placed += 1
    role = banner[1] if banner is not None else ""
    whole = [*told, *lines] if keeps == "above" else [*lines, *told]
    return Foot(tuple((line, role) for line in upper), tuple(whole), beside, placed)


class RoomFoot:
    """What stands below the board of one room."""

    def __init__(self, desk: Desk, table: Table) -> None:
        self.desk = desk
        self.table = table
        self._opened_at = monotonic()

    @property
    def extra_lines(self) -> int:
        return 1 if self.table.review.is_on else 0

    def arrange(
        self, state: RoomState, status: Text | None, now: float, width: int, rows: int, heard: Sequence[str]
    ) -> Foot:
        """Return the lines above the keys, at most so many; `heard` is what was said and is not in sight elsewhere.

        What is typed and how the game ended are never covered by news, whose turn it is may be.
        """
        table, hand, line, width = self.table, self.table.hand, self.table.hand.line, width - 2
        notes = [status] if status else [self._describe_turn(state, width - 2)] if table.record is not None else []
        notes += [(hand.returned, "good")] if hand.returned else []
        before = len(notes)
        notes += [(said, "title") for said in heard]
        worth = fold(self._describe_worth(state), width, max(1, rows - 2)) if table.review.is_on else []
        beside, marked = ("", ""), None
        keeps: Literal["", "above", "below"] = ""
        if line.mode:
            length = len(line.value.strip())
            if line.mode == "chat" and length >= _NEARLY_TOO_LONG:
                beside = f"{length}/{MAX_CHAT_LENGTH}", "bad" if length > MAX_CHAT_LENGTH else "dim"
            typed, at, caret = line.lay_out(width - 1 - (measure(beside[0]) + 2 if beside[0] else 0))
            text, marked, keeps = (typed, "title"), (at, caret), "above"
        elif table.situation == "over" and not table.actions.timeline.is_back:
            text, keeps = describe_end(table), "below"
        else:
            before -= 1 if notes else 0
            text, *notes = notes or [self._describe_turn(state, width - 2)]
            if hand.ahead or table.room.plays:
                prompt = "move" if table.record is None else "go to move"
                beside = f"{prompt}: {hand.ahead}_", "title" if hand.ahead else "dim"
        foot = arrange_foot(
            *(self._banner(state, now, width), text, width, rows - len(worth)),
            beside=beside,
            may_drop=not (hand.ahead or line.mode),
            notes=notes,
            keeps=keeps,
        )
        banner = (*(foot.banner or (("", ""),)), *((line, "title") for line in worth)) if worth else foot.banner
        return replace(foot, banner=banner, notes=max(0, foot.notes - before), marked=marked)

    def draw(self, picture: Picture, foot: Foot) -> None:
        bottom = picture.height - 1
        for y, (text, role) in enumerate((*foot.banner, *foot.status), bottom - len(foot.banner) - len(foot.status)):
            picture.put(1, y, text, role)
        picture.put_right(bottom - 1, *foot.beside)
        if foot.marked is not None:
            picture.put(1 + foot.marked[0], bottom - 1, foot.marked[1], "chosen")

    def _banner(self, state: RoomState, now: float, width: int) -> Text | None:
        table, keymap, link = self.table, self.desk.keymap, self.desk.link
        if table.record is not None:
            return None
        if asked := describe_question(table, keymap):
            return asked, "bad"
        holds_seat = table.room.plays or state.status == "waiting"
        if lost := connection_banner(link, now, width=width, holds_seat=holds_seat):
            return lost
        if self.desk.errands.errand:
            return f"{self.desk.errands.errand}…   {keymap.show('back')} home", "warn"
        return game_banner(table, keymap, now)

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
