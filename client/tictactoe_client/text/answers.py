"""What is asked about a position, answered from its state alone: in a game, without a connection, in a record. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tictactoe_client.board.board import BoardStyle, BoardView, render_board
from tictactoe_client.settings import Settings
from tictactoe_client.text.aloud import list_runs
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.wording import (
    describe_cell,
    describe_turn,
    format_duration,
    list_free,
    name_of,
    seat_of,
)
from tictactoe_engine import Keys, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

MOST_FREE_CELLS: Final = 30


def answer_query(
    kind: str,
    state: RoomState,
    viewer: str,
    settings: Settings,
    unblamed: Collection[str] = (),
    passed_seconds: float = 0.0,
) -> list[str]:
    """Return the answer to a query of `intents`, so many seconds after the state came; `unblamed` are not blamed."""
    if kind == "board":
        return draw_board(state, settings)
    if kind == "last":
        return [describe_last(state, viewer)]
    if kind == "clock":
        return [describe_clocks(state, passed_seconds)]
    if kind == "who":
        return [describe_company(state, viewer, unblamed)]
    if kind == "free":
        return [list_free(state, MOST_FREE_CELLS)]
    if kind == "runs":
        return list_runs(state)
    if kind == "help":
        return describe_help(state, settings, viewer)
    return [describe_turn(state, viewer)]


def draw_board(state: RoomState, settings: Settings) -> list[str]:
    """Return the board as plain mode shows it: keys beside it where other than digits from the top were chosen."""
    rules = state.rules.to_rules()
    keys = settings.keys if settings.keys != Keys.PHONE and state.status != "over" else None
    style = BoardStyle(colour=settings.colour, keys=keys, mark_last=not has_single_keys(rules))
    return render_board(BoardView.of(state), style)


def describe_last(state: RoomState, viewer: str) -> str:
    """Return the last move: ``Last: ana played C1, top right.``"""
    if state.last is None:
        return "No move has been played yet."
    mark = state.board[state.last]
    who = "you" if mark == seat_of(state, viewer) else name_of(state, mark)
    return f"Last: {who} played {describe_cell(state.last, state.rules.to_rules())}."


def describe_clocks(state: RoomState, passed_seconds: float = 0.0) -> str:
    """Return what is left on each clock, so many seconds after the state: the one that runs has gone on."""
    if state.clock is None:
        return "There is no clock."
    passed = {state.clock.running: round(passed_seconds * 1000)}
    left = {mark: ms - passed.get(mark, 0) for mark, ms in state.clock.remaining_ms.items()}
    return f"Left: {', '.join(f'{name_of(state, mark)} {format_duration(ms)}' for mark, ms in left.items())}."


def describe_company(state: RoomState, viewer: str, unblamed: Collection[str] = ()) -> str:
    """Return who is here, whether they are online, and how many watch.

    `unblamed` are the marks of those who have been away since a loss of the viewer's own connection: it may have been
    the server that was lost to all.
    """
    parts = []
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer and not seat.left:
            parts.append(f"You are {mark}.")
        elif seat is None:
            parts.append(f"The seat {mark} is free.")
        else:
            away = "is not here" if mark in unblamed else "has dropped"
            presence = "has left" if seat.left else "is online" if seat.online else away
            bot = f" (computer, {clean_text(seat.bot)})" if seat.bot else ""
            parts.append(f"{clean_text(seat.name)}{bot} is {mark} and {presence}.")
    if state.watchers:
        parts.append(f"{state.watchers} watching.")
    return " ".join(parts)
