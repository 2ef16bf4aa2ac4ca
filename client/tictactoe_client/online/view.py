"""A room as one person sees it: the newest state, the moves so far, and what both mean for whoever looks."""

from __future__ import annotations

from tictactoe_client.online.moves import position_after, seat_of
from tictactoe_engine import Position
from tictactoe_protocol.pushes import RoomState


class RoomView:
    """What is known of the room `code` and of the game on its table; `viewer` is the public id of whoever looks.

    `state` is the newest state, None before the first. `moves` are the cells of its game in order, as far as they are
    known: all of them where `knows_moves`. With `is_watching` we came to watch, and so have no seat.
    """

    def __init__(self, code: str, viewer: str) -> None:
        self.code = code
        self.viewer = viewer
        self.state: RoomState | None = None
        self.moves: tuple[int, ...] = ()
        self.knows_moves = False
        self.is_watching = False
        self._position: tuple[RoomState, Position | None] | None = None

    @property
    def seat(self) -> str | None:
        """Our mark in the current game, or None for a watcher; a rematch may change it."""
        return None if self.is_watching or self.state is None else seat_of(self.state, self.viewer)

    @property
    def is_my_turn(self) -> bool:
        """Whether the server waits for our move."""
        return self.state is not None and self.state.turn is not None and self.state.turn == self.seat

    @property
    def plays(self) -> bool:
        """Whether we still play a game that is on; not one who is out of it, among three or more."""
        state, own = self.state, self.seat
        seat = state.seats.get(own) if state is not None and own is not None else None
        return state is not None and state.status == "playing" and seat is not None and not seat.out

    @property
    def looks_on(self) -> bool:
        """Whether there is nothing for us to play: we watch, or are out of the game, or it is over."""
        if self.state is None or (self.state.status == "waiting" and self.seat is not None):
            return False
        return not self.plays

    @property
    def position(self) -> Position | None:
        """The position of the newest state, or None where its moves are not known."""
        if self.state is None or not self.knows_moves:
            return None
        if self._position is None or self._position[0] is not self.state:
            self._position = (self.state, position_after(self.state, self.moves))
        return self._position[1]
