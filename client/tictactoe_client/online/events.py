"""What happens in a room and to the connection, as values: `Room.events` yields them, in order and none left out.

Each state brings what has changed, as `Change` values, and then `Updated`. A *mark* stands for whoever plays it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tictactoe_client.online.errors import ConnectionLost, Refused
from tictactoe_protocol.pushes import Announcement, ChatLine, Error, Notice, Result, RoomState, SeatState

OfferKind = Literal["draw", "undo", "rematch"]


class _Event(Struct, frozen=True):
    def __repr__(self) -> str:
        """Show all but the states, which are long."""
        shown = (name for name in self.__struct_fields__ if name not in ("old", "state"))
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


class Change(_Event, frozen=True, kw_only=True):
    """What happened between the states `old` and `state`; of a game that is new `old` is its beginning."""

    old: RoomState
    state: RoomState


class Started(Change, frozen=True):
    """A game begins: the first one when all seats are taken, or a rematch; games of a room count from 1."""

    game: int


class Missed(Change, frozen=True):
    """Games whose end was not seen; of a single one `winner` is the mark that won, as it was then, if any did."""

    first_game: int
    last_game: int
    winner: str | None
    is_draw: bool


class TakenBack(Change, frozen=True):
    """The last `count` moves, of these `cells` where they are known, were taken back, as `by` had asked if that is."""

    count: int
    cells: tuple[int, ...]
    by: str | None


class _OfMark(Change, frozen=True):
    mark: str


class Moved(_OfMark, frozen=True):
    """A cell was played; with it `ply` moves lay on the board. `decides` a move that ended the game by a line."""

    cell: int
    ply: int
    decides: bool


class PassedOver(_OfMark, frozen=True):
    """Somebody is out of a game that the others play on."""


class Joined(_OfMark, frozen=True):
    """Somebody took the seat."""


class Renamed(_OfMark, frozen=True):
    """Somebody goes by another name; `before` is the old one."""

    before: str


class Dropped(_OfMark, frozen=True):
    """Somebody's connection is gone; the seat is held for so long, None where that is not said."""

    hold_ms: int | None


class Returned(_OfMark, frozen=True):
    """One who had dropped is back."""


class Left(_OfMark, frozen=True):
    """Somebody went for good; `seat` is what they had. `frees` the seat, or else it stays theirs in the game."""

    seat: SeatState
    frees: bool


class _OfOffer(Change, frozen=True):
    kind: OfferKind
    by: str


class Offered(_OfOffer, frozen=True):
    """Somebody offers a draw, asks for a rematch, or to take back `count` moves, of these `cells` where known."""

    count: int = 0
    cells: tuple[int, ...] = ()


class Declined(_OfOffer, frozen=True):
    """The mark `by` declined an offer."""


class Withdrawn(_OfOffer, frozen=True):
    """The mark `by` took their own offer back."""


class Lapsed(_OfOffer, frozen=True):
    """An offer of the mark `by` came to nothing: by the move of `mover`, by moves taken back, or as is not known."""

    cause: Literal["move", "taking back", "unknown"]
    mover: str | None = None


class Ended(Change, frozen=True):
    """The game is over."""

    result: Result


class Updated(_Event, frozen=True):
    """All `changes` that one state brought have been told; `old` is the one before, None for the first that is seen.

    `moves` are the cells of the state's game in order, and `before` those of the old one's, each None where not known.
    With `after_loss` our own connection was lost in between; with `is_gap` other states were, and were not seen.
    """

    old: RoomState | None
    state: RoomState
    moves: tuple[int, ...] | None = None
    before: tuple[int, ...] | None = None
    after_loss: bool = False
    is_gap: bool = False
    changes: tuple[Change, ...] = ()


class Said(_Event, frozen=True):
    """Somebody said something in the room."""

    line: ChatLine


class Told(_Event, frozen=True):
    """The server told something that no request asked for: that it goes, what its operator says, or what is wrong."""

    push: Notice | Announcement | Error


class Lost(_Event, frozen=True):
    """The connection ended; a seat is held for `hold_seconds`, and without a server we try for `absent_seconds`."""

    reason: str
    close_code: int | None
    hold_seconds: float
    absent_seconds: float


class Retrying(_Event, frozen=True):
    """Attempt number `attempt` comes in `in_seconds`, at `server`; `left_seconds` is how long it will be tried."""

    attempt: int
    in_seconds: float
    left_seconds: float
    server: str


class Back(_Event, frozen=True):
    """The server knows us again, after so many attempts and seconds; states of the rooms we are in will follow."""

    attempts: int
    seconds: float
    latency_seconds: float


class Gone(_Event, frozen=True):
    """A room could not be entered again after the connection came back."""

    room: str
    refused: Refused


class RoomMoved(_Event, frozen=True):
    """The server at `url` has the room now, and we are in it there; its state follows."""

    room: str
    url: str


class Closed(_Event, frozen=True):
    """The room is no more; nothing follows."""

    reason: str


class Replaced(_Event, frozen=True):
    """A newer connection of ours has the seat; nothing follows."""


class Cut(_Event, frozen=True):
    """The connection is lost for good; nothing follows. Iterators raise the error instead."""

    lost: ConnectionLost


ConnectionEvent = Lost | Retrying | Back | Gone | RoomMoved
"""What streams of messages tell beside messages."""
RoomEvent = Change | Updated | Said | Told | ConnectionEvent | Closed | Replaced | Cut
