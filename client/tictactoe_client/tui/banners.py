"""The line above the status line: what needs an answer or explains a wait, the most pressing thing first. Pure."""

from __future__ import annotations

import math

from tictactoe_client.choices import absent_opponents, is_asked
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.link import Link
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.table import Table
from tictactoe_client.wording import format_duration, name_of
from tictactoe_protocol.pushes import RoomState

Banner = tuple[str, str]
"""A text and its role."""


def connection_banner(link: Link, now: float, *, width: int, ascii_only: bool) -> Banner | None:
    """Return what to say while the connection is lost, in fewer words where the width wants it, else None."""
    if link.phase == "away" and link.retrying is not None:
        seconds = max(0, math.ceil(link.retries_at - now))
        held = format_duration(round((link.held_until - now) * 1000))
        cross = "x" if ascii_only else "╳"
        trying = f"Trying again in {seconds} s" if seconds else "Trying now"
        ways = (
            f"{cross} CONNECTION LOST. {trying} (attempt {link.retrying.attempt}). Your seat is held {held}.",
            f"{cross} CONNECTION LOST. {trying}. Your seat is held {held}.",
            f"{cross} LOST. {trying}. Seat held {held}.",
            f"{cross} LOST, again in {seconds} s, held {held}.",
            f"{cross} LOST. Held {held}.",
        )
        return next((text for text in ways if measure(text) <= width), ways[-1]), "bad"
    if link.phase == "connecting" and link.client is not None:
        return ("Connecting again ...", "warn")
    return None


def game_banner(table: Table, keymap: Keymap, now: float) -> Banner | None:
    """Return the open offer or absence that concerns the viewer, else None."""
    state = table.state
    if state is None or table.seat is None:
        return None
    if state.status == "over":
        return _rematch_banner(state, table)
    yes, no = keymap.show("accept"), keymap.show("decline")
    if is_asked(state, table.viewer, state.offers.draw):
        return (f"{name_of(state, state.offers.draw)} offers a draw:   {yes} accept   {no} decline", "warn")
    if is_asked(state, table.viewer, state.offers.undo):
        return (f"{name_of(state, state.offers.undo)} asks to take a move back:   {yes} let them   {no} no", "warn")
    if state.offers.draw == table.seat:
        return ("You offered a draw. Waiting for the answer ...", "dim")
    if state.offers.undo == table.seat:
        return ("You asked to take a move back. Waiting for the answer ...", "dim")
    return _absence_banner(state, table, now)


def _absence_banner(state: RoomState, table: Table, now: float) -> Banner | None:
    gone = absent_opponents(state, table.viewer)
    if not gone:
        return None
    names = " and ".join(name_of(state, mark) for mark in gone)
    left = min(table.hold_ms(mark, now) or 0 for mark in gone)
    if left > 0:
        return (f"{names} has dropped. Waiting for them: {format_duration(left)}.   (you needn't do anything)", "warn")
    ways = "w claim the win   d call it a draw" if may_claim_by_letter(table) else ":claim the win   :claim draw"
    return (f"{names} has been gone too long.   {ways}   or just wait", "warn")


def may_claim_by_letter(table: Table) -> bool:
    """Tell whether single letters are free to mean something else than a cell."""
    return not table.is_my_turn


def _rematch_banner(state: RoomState, table: Table) -> Banner | None:
    asked = [mark for mark in state.offers.rematch if mark != table.seat]
    if table.seat in state.offers.rematch:
        return ("You asked for a rematch. Waiting ...   Esc leave", "dim")
    if asked:
        return (f"{' and '.join(name_of(state, mark) for mark in asked)} wants a rematch:   r accept", "warn")
    gone = [name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and seat.left]
    if gone:
        return (f"{' and '.join(gone)} left.   n new opponent   Esc home", "dim")
    return None
