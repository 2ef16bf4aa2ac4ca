"""Which exit code the end of a visit deserves; pure."""

from __future__ import annotations

from tictactoe_client.settings import ExitCode
from tictactoe_client.words.wording import seat_of
from tictactoe_protocol.pushes import RoomState


def exit_code_of(state: RoomState | None, viewer: str, *, with_result: bool) -> ExitCode:
    """Return 0, or with `--result-code` what the game was for the viewer: won, lost, drawn or abandoned.

    A watcher always ends with 0.
    """
    if not with_result:
        return ExitCode.NORMAL
    if state is None:
        return ExitCode.ABANDONED
    own = seat_of(state, viewer) or _seat_left(state, viewer)
    if own is None:
        return ExitCode.NORMAL
    if state.result is None:
        return ExitCode.ABANDONED
    if state.result.winner is None:
        return ExitCode.DRAW
    return ExitCode.NORMAL if state.result.winner == own else ExitCode.LOSS


def _seat_left(state: RoomState, viewer: str) -> str | None:
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer:
            return mark
    return None
