"""What waits above the foot of a room: a lost connection, a question, an offer, an absence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tictactoe_client.session import Session
from tictactoe_client.text.choices import absent_opponents, ask_before_going
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.room.ending import ended_by_leaving
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import describe_take_back
from tictactoe_protocol.wording import format_duration, join_words, name_of

Text = tuple[str, str]
"""A text and its role."""


def describe_question(table: Table, keymap: Keymap) -> str:
    """Return what is asked before a game is given up, with the keys that answer; empty where nothing is."""
    if table.hand.question is None:
        return ""
    kind, state = table.hand.question[0], table.room.state
    asked = ask_before_going(kind, state, table.room.viewer, aborts=table.actions.aborts)
    return f"{asked}   {keymap.show('confirm')} yes   {keymap.show('back')} play on"


def connection_banner(link: Session, now: float, *, width: int, holds_seat: bool) -> Text | None:
    """Return what to say while the connection is lost, in fewer words where the width wants it, else None.

    With `holds_seat` it says for how long the seat is kept.
    """
    if link.phase != "away" or link.retrying is None:
        is_returning = link.phase == "connecting" and link.client is not None
        return ("Connecting again ...", "warn") if is_returning else None
    seconds = max(0, math.ceil(link.retries_at - now))
    trying = f"Trying again in {seconds} s" if seconds else "Trying now"
    lost, attempt = f"CONNECTION LOST. {trying}", f" (attempt {link.retrying.attempt})"
    if holds_seat and link.held_until > now:
        held = format_duration(round((link.held_until - now) * 1000))
        kept = f"Your seat is held {held}."
        short = [f"LOST. {trying}. Seat held {held}.", f"LOST, again in {seconds} s, held {held}."]
        ways = [f"{lost}{attempt}. {kept}", f"{lost}. {kept}", *short, f"LOST. Held {held}."]
    else:
        ways = [f"{lost}{attempt}.", f"{lost}.", f"LOST. {trying}.", "LOST."]
    return f"╳ {next((text for text in ways if measure(text) + 2 <= width), ways[-1])}", "bad"


def game_banner(table: Table, keymap: Keymap, now: float) -> Text | None:
    """Return the open offer or absence that concerns the viewer, else None."""
    state = table.room.state
    if state is None or table.room.seat is None:
        return None
    if state.status == "over":
        return _rematch_banner(state, table, keymap)
    own, offers = table.room.seat, state.offers
    yes, no = keymap.show("accept"), keymap.show("decline")
    if offers.draw not in (None, own):
        return f"{name_of(state, offers.draw)} offers a draw:   {yes} accept   {no} decline", "warn"
    if offers.undo not in (None, own):
        taken_back = describe_take_back(state, str(offers.undo), table.room.moves)
        return f"{name_of(state, offers.undo)} asks to take back {taken_back}:   {yes} let them   {no} no", "warn"
    if own in (offers.draw, offers.undo):
        asked = "offered a draw"
        if offers.draw != own:
            asked = f"asked to take back {describe_take_back(state, own, table.room.moves)}"
        return f"You {asked}. Waiting for the answer ...   {no} withdraw", "dim"
    return _absence_banner(state, table, keymap, now)


def may_claim_by_key(table: Table, now: float) -> bool:
    """Tell whether keys may claim the game: somebody is gone for good, and no key is wanted for a move of ours."""
    state = table.room.state
    if state is None or table.room.is_my_turn or not table.room.plays:
        return False
    gone = absent_opponents(state, table.room.viewer)
    return bool(gone) and _held_ms(table, gone, now) == 0


def _absence_banner(state: RoomState, table: Table, keymap: Keymap, now: float) -> Text | None:
    gone = absent_opponents(state, table.room.viewer)
    if not gone:
        return None
    names, has = _names(state, gone), "has" if len(gone) == 1 else "have"
    left = _held_ms(table, gone, now)
    if left > 0:
        absent = f"{'is' if len(gone) == 1 else 'are'} not here"
        absent = absent if table.actions.unblamed.issuperset(gone) else f"{has} dropped"
        return f"{names} {absent}. Waiting for them: {format_duration(left)}.   (you needn't do anything)", "warn"
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


def _rematch_banner(state: RoomState, table: Table, keymap: Keymap) -> Text | None:
    back, another = keymap.show("back"), table.another
    asked = [mark for mark in state.offers.rematch if mark != table.room.seat]
    if table.room.seat in state.offers.rematch:
        return (f"You asked for a rematch. Waiting ...   {back} leave", "dim")
    if asked:
        wants = "wants" if len(asked) == 1 else "want"
        return (f"{_names(state, asked)} {wants} a rematch:   {keymap.show('rematch')} accept", "warn")
    gone = [mark for mark, seat in state.seats.items() if seat is not None and seat.left]
    if gone and not (len(gone) == 1 and ended_by_leaving(table)):
        new = f"{keymap.show('another')} {another}   " if another else ""
        return (f"{_names(state, gone)} left.   {new}{back} home", "dim")
    return None


def _names(state: RoomState, marks: Iterable[str]) -> str:
    return join_words([name_of(state, mark) for mark in marks])
