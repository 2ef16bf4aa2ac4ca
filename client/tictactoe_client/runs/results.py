"""Which exit code the end of a visit deserves, or of a run with several games; pure."""

from __future__ import annotations

from tictactoe_client.settings import ExitCode
from tictactoe_client.text.wording import is_draw, seat_of
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
    if state.result.winner is None and not is_draw(state.result):
        return ExitCode.ABANDONED
    if state.result.winner is None:
        return ExitCode.DRAW
    return ExitCode.NORMAL if state.result.winner == own else ExitCode.LOSS


def _seat_left(state: RoomState, viewer: str) -> str | None:
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer:
            return mark
    return None


class LastGame:
    """The last game of a run; `exit_code` is what it was for us, 0 where we took no seat in the whole run.

    A room in which no game began is abandoned, unless there was a game before it.
    """

    def __init__(self) -> None:
        self._exit_code: ExitCode | None = None

    @property
    def exit_code(self) -> ExitCode:
        """Won, lost, drawn or abandoned."""
        return ExitCode.NORMAL if self._exit_code is None else self._exit_code

    def note(self, state: RoomState | None, viewer: str) -> None:
        """Take note of a room as it is when we go away from it."""
        if state is None or not _sat(state, viewer):
            return
        if state.status != "waiting" or self._exit_code is None:
            self._exit_code = exit_code_of(state, viewer, with_result=True)


def _sat(state: RoomState, viewer: str) -> bool:
    return (seat_of(state, viewer) or _seat_left(state, viewer)) is not None
