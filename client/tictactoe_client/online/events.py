"""What happens in a room and to the connection, as values: `Room.events` yields them, in order and none left out.

Each state brings what has changed, as `Change` values, and then `Updated`. A *mark* stands for whoever plays it."""

from __future__ import annotations

from tictactoe_client.online.errors import ConnectionLost, Refused
from tictactoe_protocol.challenges import Challenged, ChallengeOver, OpenChallenge
from tictactoe_protocol.events import Call
from tictactoe_protocol.happened import *  # noqa: F403
from tictactoe_protocol.happened import Change, Event
from tictactoe_protocol.pushes import Announcement, ChatLine, Error, Notice, RoomState
from tictactoe_protocol.rated import Rated
from tictactoe_protocol.scene import Unanswered, describe_unanswered


class Updated(Event, frozen=True):
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


class Said(Event, frozen=True):
    """Somebody said something in the room."""

    line: ChatLine


class Told(Event, frozen=True):
    """The server told what no request asked for.

    That it goes, what its operator says, what is wrong, who calls or challenges us, what a game here was worth, or
    how far somebody to play with is looked for.
    """

    push: Notice | Announcement | Error | Call | Challenged | Rated


class ChallengeEnded(Event, frozen=True):
    """A challenge to us or of ours is over; of whom we asked the `name` is told where we know it.

    It `leads` us to the room where it was accepted and this client has made or accepted it.
    """

    over: ChallengeOver
    challenge: OpenChallenge
    name: str = ""
    leads: bool = False


class Lost(Event, frozen=True):
    """The connection ended; a seat is held for `hold_seconds`, and without a server we try for `absent_seconds`."""

    reason: str
    close_code: int | None
    hold_seconds: float
    absent_seconds: float


class Retrying(Event, frozen=True):
    """Attempt number `attempt` comes in `in_seconds`, at `server`; `left_seconds` is how long it will be tried."""

    attempt: int
    in_seconds: float
    left_seconds: float
    server: str


class Back(Event, frozen=True):
    """The server knows us again, after so many attempts and seconds; states of the rooms we are in will follow."""

    attempts: int
    seconds: float
    latency_seconds: float


class Gone(Event, frozen=True):
    """A room could not be entered again after the connection came back."""

    room: str
    refused: Refused


class RoomMoved(Event, frozen=True):
    """The server at `url` has the room now, and we are in it there; its state follows."""

    room: str
    url: str


class RoomUnanswered(Event, frozen=True):
    """Nobody answers `there`, where the room is; once another server has taken it over, `RoomMoved` follows."""

    room: str
    there: Unanswered

    @property
    def message(self) -> str:
        """Where nobody answers, and what is done about it, in a sentence or two."""
        return describe_unanswered(self.room, self.there)


class Closed(Event, frozen=True):
    """The room is no more; nothing follows."""

    reason: str


class Replaced(Event, frozen=True):
    """A newer connection of ours has the seat; nothing follows."""


class Cut(Event, frozen=True):
    """The connection is lost for good; nothing follows. Iterators raise the error instead."""

    lost: ConnectionLost


ConnectionEvent = Lost | Retrying | Back | Gone | RoomMoved | RoomUnanswered | ChallengeEnded
"""What streams of messages tell beside messages."""
RoomEvent = Change | Updated | Said | Told | ConnectionEvent | Closed | Replaced | Cut
