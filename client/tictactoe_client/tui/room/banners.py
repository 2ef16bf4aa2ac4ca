"""The line above the status line: what needs an answer or explains a wait, the most pressing thing first. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tictactoe_client.session import Session
from tictactoe_client.text.news import absent_opponents, describe_take_back, is_asked
from tictactoe_client.text.wording import format_duration, name_of
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.room.ending import ended_by_leaving
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.pushes import RoomState

Banner = tuple[str, str]
"""A text and its role."""


def connection_banner(link: Session, now: float, *, width: int, ascii_only: bool, holds_seat: bool) -> Banner | None:
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


def game_banner(table: Table, keymap: Keymap, now: float, *, another: str = "new opponent") -> Banner | None:
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


def _absence_banner(state: RoomState, table: Table, keymap: Keymap, now: float) -> Banner | None:
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


def _rematch_banner(state: RoomState, table: Table, keymap: Keymap, *, another: str) -> Banner | None:
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
