"""The lines at the foot of a room: what waits for an answer, how the game ended, whose move it is, and the keys.

Long texts take more than one line where there are lines to be had, and are cut between words where there are not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tictactoe_client.board.board import mark_role
from tictactoe_client.input.cells import goes_on, is_whole
from tictactoe_client.online.address import Address
from tictactoe_client.session import Session
from tictactoe_client.text.answers import split_lines
from tictactoe_client.text.arrival import describe_return_command
from tictactoe_client.text.news import (
    absent_opponents,
    ask_before_going,
    cost_of_going,
    describe_result,
    describe_take_back,
    is_asked,
)
from tictactoe_client.text.wording import describe_turn, format_duration, is_draw, loser_of, name_of, seat_of
from tictactoe_client.text.worth import compare_played, describe_cell_worth, describe_position
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Picture, fold, measure, shorten, shorten_left
from tictactoe_client.tui.room.hints import hint_answers, hint_line, hint_record, hint_room, hint_typed
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import format_cell
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState

Text = tuple[str, str]
"""A text and its role."""

_HELP = re.compile(r"\S+ help")


@dataclass(frozen=True, slots=True)
class Foot:
    """The lines above the keys, from the top: those of the banner, then those of the status; `beside` at its right.

    `notes` is how many of the notes have their place among them.
    """

    banner: tuple[Text, ...]
    status: tuple[Text, ...]
    beside: Text = ("", "")
    notes: int = 0

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
    told, count = _place_notes(notes, width - taken, rows - len(banner_lines) - len(status_lines))
    lines = tuple((line, status[1]) for line in status_lines)
    role = banner[1] if banner is not None else ""
    whole = (*told, *lines) if above_status else (*lines, *told)
    return Foot(tuple((line, role) for line in banner_lines), whole, beside, count)


def _place_notes(notes: Sequence[Text], width: int, rows: int) -> tuple[tuple[Text, ...], int]:
    """Return the lines of as many notes as find room, the first one cut where it must be, and how many they are."""
    told: list[Text] = []
    for count, (text, role) in enumerate(notes):
        left = rows - len(told)
        if left < 1 or (count and len(fold(text, width, left + 1)) > left):
            return tuple(told), count
        told += [(line, role) for line in fold(text, width, left)]
    return tuple(told), len(notes)


def fit_keys(text: str, width: int) -> str:
    """Return the names of keys, two spaces apart, that fit: items go from the right, but help, else the last, stays.

    An item that would leave no room for another goes first.

    >>> fit_keys("r refresh  ? help  t theme  Ctrl+Q quit", 22)
    'r refresh  ? help'
    >>> fit_keys("r refresh  ? help  t theme", 10)
    '? help'
    """
    if measure(text) <= width:
        return text
    items = [item for item in re.split(" {2,}", text.strip()) if item]
    kept = next((item for item in items if _HELP.fullmatch(item)), items[-1])
    items = [item for item in items if item == kept or measure(f"{item}  {kept}") <= width]
    while len(items) > 1 and measure("  ".join(items)) > width:
        del items[-1 if items[-1] != kept else -2]
    return shorten("  ".join(items), width)


def connection_banner(link: Session, now: float, *, width: int, ascii_only: bool, holds_seat: bool) -> Text | None:
    """Return what to say while the connection is lost, in fewer words where the width wants it, else None.

    With `holds_seat` it says for how long the seat is kept.
    """
    if link.phase == "away" and link.retrying is not None:
        seconds = max(0, math.ceil(link.retries_at - now))
        held = format_duration(round((link.held_until - now) * 1000)) if holds_seat and link.held_until > now else ""
        cross = "x" if ascii_only else "╳"
        trying = f"Trying again in {seconds} s" if seconds else "Trying now"
        lost, attempt = f"{cross} CONNECTION LOST. {trying}", f" (attempt {link.retrying.attempt})"
        kept = f" Your seat is held {held}." if held else ""
        ways = [f"{lost}{attempt}.{kept}", f"{lost}.{kept}"]
        if held:
            ways += [
                f"{cross} LOST. {trying}. Seat held {held}.",
                f"{cross} LOST, again in {seconds} s, held {held}.",
                f"{cross} LOST. Held {held}.",
            ]
        else:
            ways += [f"{cross} LOST. {trying}.", f"{cross} LOST."]
        return next((text for text in ways if measure(text) <= width), ways[-1]), "bad"
    if link.phase == "connecting" and link.client is not None:
        return ("Connecting again ...", "warn")
    return None


def game_banner(table: Table, keymap: Keymap, now: float, *, another: str = "new opponent") -> Text | None:
    """Return the open offer or absence that concerns the viewer, else None."""
    state = table.state
    if state is None or table.seat is None:
        return None
    if state.status == "over":
        return _rematch_banner(state, table, keymap, another=another)
    yes, no = keymap.show("accept"), keymap.show("decline")
    if is_asked(state, table.viewer, state.offers.draw):
        return (f"{name_of(state, state.offers.draw)} offers a draw:   {yes} accept   {no} decline", "warn")
    if is_asked(state, table.viewer, state.offers.undo):
        asker = name_of(state, state.offers.undo)
        taken_back = describe_take_back(state, str(state.offers.undo), table.moves)
        return (f"{asker} asks to take back {taken_back}:   {yes} let them   {no} no", "warn")
    if state.offers.draw == table.seat:
        return (f"You offered a draw. Waiting for the answer ...   {no} withdraw", "dim")
    if state.offers.undo == table.seat:
        taken_back = describe_take_back(state, table.seat, table.moves)
        return (f"You asked to take back {taken_back}. Waiting for the answer ...   {no} withdraw", "dim")
    return _absence_banner(state, table, keymap, now)


def may_claim_by_key(table: Table, now: float) -> bool:
    """Tell whether keys may claim the game: somebody is gone for good, and no key is wanted for a move of ours."""
    state = table.state
    if state is None or table.is_my_turn or not table.plays:
        return False
    gone = absent_opponents(state, table.viewer)
    return bool(gone) and _held_ms(table, gone, now) == 0


def _absence_banner(state: RoomState, table: Table, keymap: Keymap, now: float) -> Text | None:
    gone = absent_opponents(state, table.viewer)
    if not gone:
        return None
    names, has = _join(state, gone), "has" if len(gone) == 1 else "have"
    left = _held_ms(table, gone, now)
    if left > 0:
        needless = "(you needn't do anything)"
        is_are = "is" if len(gone) == 1 else "are"
        absent = f"{is_are} not here" if table.unblamed.issuperset(gone) else f"{has} dropped"
        return (f"{names} {absent}. Waiting for them: {format_duration(left)}.   {needless}", "warn")
    draws = len(state.seats) == 2
    if may_claim_by_key(table, now):
        ways = [f"{keymap.show('claim')} claim the win", f"{keymap.show('claim_draw')} call it a draw"]
    else:
        ways = [f"{keymap.show('command')}claim win", f"{keymap.show('command')}claim draw"]
    seconds = round((table.whole_hold_ms or 0) / 1000)
    how_long = f"for {seconds} s" if seconds else "too long"
    return (f"{names} {has} been gone {how_long}.   {'   '.join(ways if draws else ways[:1])}   or just wait", "warn")


def _held_ms(table: Table, gone: Iterable[str], now: float) -> int:
    return min(table.hold_ms(mark, now) or 0 for mark in gone)


def _rematch_banner(state: RoomState, table: Table, keymap: Keymap, *, another: str) -> Text | None:
    back = keymap.show("back")
    asked = [mark for mark in state.offers.rematch if mark != table.seat]
    if table.seat in state.offers.rematch:
        return (f"You asked for a rematch. Waiting ...   {back} leave", "dim")
    if asked:
        wants = "wants" if len(asked) == 1 else "want"
        return (f"{_join(state, asked)} {wants} a rematch:   {keymap.show('rematch')} accept", "warn")
    gone = [mark for mark, seat in state.seats.items() if seat is not None and seat.left]
    if gone and not (len(gone) == 1 and ended_by_leaving(table)):
        new = f"{keymap.show('another')} {another}   " if another else ""
        return (f"{_join(state, gone)} left.   {new}{back} home", "dim")
    return None


def _join(state: RoomState, marks: Iterable[str]) -> str:
    return " and ".join(name_of(state, mark) for mark in marks)


_LONGEST_LINE = 6


def sum_up_end(table: Table) -> tuple[tuple[str, ...], str]:
    """Return in one or two words how the game ended, to be written large, and their role."""
    state, own = table.state, table.seat
    if state is None or state.result is None:
        return (), ""
    result = state.result
    if result.winner is None:
        return (("DRAW",) if is_draw(result) else ("OVER",)), "warn"
    if own is not None and (result.winner == own or len(state.seats) == 2):
        return ("YOU", "WIN" if result.winner == own else "LOSE"), "good" if result.winner == own else "bad"
    return (result.winner, "WINS"), mark_role(result.winner, state.rules.to_rules(), strong=True)


def describe_end(table: Table) -> Text:
    """Return how the game ended and that line's role: ``YOU WIN   <X> A1 <X> B2 <X> C3   (5 moves, 0:12)``."""
    state = table.state
    if state is None or state.result is None:
        return "", ""
    result, own = state.result, table.seat
    if result.winner is None:
        head, role = ("DRAW" if is_draw(result) else "NO RESULT"), "warn"
    elif result.winner == own:
        head, role = "YOU WIN", "good"
    elif own is not None and len(state.seats) == 2:
        head, role = "YOU LOSE", "bad"
    else:
        head, role = f"{name_of(state, result.winner).upper()} WINS", "good" if own is None else "bad"
    moves = "1 move" if state.ply == 1 else f"{state.ply} moves"
    took = ""
    if table.started_at is not None and table.ended_at is not None:
        took = f", {format_duration(round((table.ended_at - table.started_at) * 1000))}"
    if ended_by_leaving(table):
        return f"{describe_result(table.ending or state, table.viewer)}   ({moves}{took})", role
    rules = state.rules.to_rules()
    runs = split_lines(result.line, rules) if result.line else []
    if len(runs) == 1 and len(runs[0]) <= _LONGEST_LINE:
        why = " ".join(f"<{state.board[cell]}> {format_cell(cell, rules)}" for cell in runs[0])
    else:
        why = describe_result(table.ending or state, table.viewer).rpartition(". ")[0] or "The board is full"
    return f"{head}   {why.rstrip('.')}   ({moves}{took})", role


def ended_by_leaving(table: Table) -> bool:
    """Tell whether the game ended because the one who lost it left."""
    ending = table.ending
    loser = loser_of(ending) if ending is not None else None
    if ending is None or ending.result is None or loser is None:
        return False
    seat = ending.seats.get(loser)
    return ending.result.reason == "resigned" and seat is not None and seat.left


def describe_farewell(state: RoomState, viewer: str, address: Address, *, is_told: bool, aborts: bool = False) -> str:
    """Return the line for one who went away from this state, or nothing; `is_told` is whether the server knows it.

    `aborts` as for `cost_of_going`.
    """
    room, own = f"Room {state.room}", seat_of(state, viewer)
    if state.status == "over":
        return f"{room}: {describe_result(state, viewer)}"
    if own is None:
        goes_on = state.status == "playing"
        return f"The game goes on: {describe_return_command(state, viewer, address)}" if goes_on else ""
    if not is_told:
        kept = "Your seat is held for a while"
        return f"{kept}. The game goes on: {describe_return_command(state, viewer, address)}"
    if state.status == "waiting":
        return f"{room}: you left before a game began."
    if cost_of_going(state, viewer, aborts=aborts) == "abort":
        return f"{room}: you left before everybody had moved. The game was aborted."
    others = [mark for mark, seat in state.seats.items() if seat is not None and mark != own and not seat.out]
    names = " and ".join(name_of(state, mark) for mark in others)
    seat = state.seats.get(own)
    if seat is not None and seat.out:
        return f"{room}: you were out; {names} play on."
    return f"{room}: you left; {names} {'wins' if len(others) == 1 else 'play on'}."


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

    def _banner(self, state: RoomState, now: float, width: int) -> Text | None:
        if self.table.record is not None:
            return None
        holds_seat = self.table.plays or state.status == "waiting"
        lost = connection_banner(
            self.desk.link, now, width=width, ascii_only=self.desk.settings.ascii, holds_seat=holds_seat
        )
        game = game_banner(self.table, self.desk.keymap, now, another=self.another)
        return self._confirm_banner() or lost or self._errand_banner() or game

    def _count_said(self) -> Text:
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

    def _errand_banner(self) -> Text | None:
        if self.table.hand.errand is None:
            return None
        dots = "..." if self.desk.settings.ascii else "…"
        return (f"{self.table.hand.errand}{dots}   {self.desk.keymap.show('back')} home", "warn")

    def _confirm_banner(self) -> Text | None:
        state, table = self.table.state, self.table
        if table.hand.confirming is None:
            return None
        question = ask_before_going(table.hand.confirming, state, table.viewer, aborts=table.aborts)
        yes, no = self.desk.keymap.show("confirm"), self.desk.keymap.show("back")
        return (f"{question}   {yes} yes   {no} play on", "bad")

    def _describe_turn(self, state: RoomState, width: int) -> Text:
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
