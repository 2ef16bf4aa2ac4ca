"""Going away in plain mode when nobody typed a word for it: at Ctrl-C, and after the end of the input.

What either would cost is said before it is done. The going itself is `sitting`'s.
"""

from __future__ import annotations

from tictactoe_client.settings import Settings
from tictactoe_client.streams.output import Output, is_terminal
from tictactoe_client.text.offers import cost_of_going
from tictactoe_client.text.wording import seat_of
from tictactoe_protocol.pushes import RoomState


class Parting:
    """The way out of one sitting for `viewer`; `leaves_at` is when it is gone, None while nothing leads there.

    `aborts` as for `cost_of_going`.
    """

    def __init__(self, viewer: str, settings: Settings, screen: Output, *, aborts: bool) -> None:
        self.leaves_at: float | None = None
        self._aborts = aborts
        self._viewer = viewer
        self._settings = settings
        self._screen = screen
        self._has_asked = False

    def note_typed(self) -> None:
        """Take note of a line: whoever types plays on, and is asked anew at the next Ctrl-C."""
        self._has_asked = False

    def ask_before_interrupt(self, state: RoomState | None) -> bool:
        """Ask once, on a terminal, where Ctrl-C would lose a running game; tell whether that was done now."""
        self._screen.note_interrupt()
        is_asked = self._settings.asks and is_terminal(0, 1) and not self._has_asked
        cost = "" if state is None else cost_of_going(state, self._viewer, aborts=self._aborts)
        if not cost or not is_asked:
            return False
        self._has_asked = True
        self._screen.print(f"Leaving now {cost}s the game. Ctrl-C again to leave.")
        return True

    def take_end_of_input(self, state: RoomState, now: float) -> None:
        """Say what becomes of a game that is not over, and from when on, as no line can come any more."""
        if seat_of(state, self._viewer) is None:
            self._screen.print("The input has ended: watching to the end of the game.")
        elif self._settings.stay:
            self._screen.print("The input has ended: staying to the end of the game.")
        else:
            seconds = self._settings.leaving_seconds
            cost = cost_of_going(state, self._viewer, aborts=self._aborts)
            told = f", which {cost}s the game" if cost else ""
            self._screen.print(f"The input has ended: leaving in {seconds:g} s{told}. (With --stay the client stays.)")
            self.leaves_at = now + seconds
