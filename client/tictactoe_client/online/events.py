"""The events of a room and of the connection, which `Room.events` yields in order.

Each state yields its `news`, then `Updated`."""

from __future__ import annotations

from msgspec import Struct

from tictactoe_client.online.errors import ConnectionLost, Refused
from tictactoe_protocol.challenges import Challenged, ChallengeOver, OpenChallenge
from tictactoe_protocol.days import Turns
from tictactoe_protocol.events import Call
from tictactoe_protocol.pushes import Announcement, ChatLine, Error, Happening, Notice, RoomState
from tictactoe_protocol.rated import Rated
from tictactoe_words.scene import Unanswered, describe_unanswered
from tictactoe_words.telling import Missed, News

__all__ = ["Back", "ChallengeEnded", "Closed", "ConnectionEvent", "Cut", "Gone", "Happening", "Lost", "Missed"]
__all__ += ["News", "Replaced", "Retrying", "RoomEvent", "RoomMoved", "RoomUnanswered", "Said", "Told", "Updated"]


class Updated(Struct, frozen=True):
    """All news of a state have been yielded.

    Attributes:
        old: The state before, or None.
        after_loss: Whether our connection was lost in between.
        news: The news since `old`. After a gap, `Missed` and the events that explain the new state.
    """

    old: RoomState | None
    state: RoomState
    after_loss: bool = False
    news: tuple[News, ...] = ()


class Said(Struct, frozen=True):
    """A chat line."""

    line: ChatLine


class Told(Struct, frozen=True):
    """A message that answers no request."""

    push: Notice | Announcement | Error | Call | Challenged | Rated | Turns


class ChallengeEnded(Struct, frozen=True):
    """The end of a challenge to us or from us.

    Attributes:
        name: The challenged player's name, if we know it.
        leads: Whether it was accepted and this client made or accepted it, so that it leads to `over.room`.
    """

    over: ChallengeOver
    challenge: OpenChallenge
    name: str = ""
    leads: bool = False


class Lost(Struct, frozen=True):
    """The connection ended; seats are held for `hold_seconds`, and we try for `absent_seconds` without a server."""

    reason: str
    close_code: int | None
    hold_seconds: float
    absent_seconds: float


class Retrying(Struct, frozen=True):
    """The next attempt follows in `in_seconds`; we give up in `left_seconds`."""

    attempt: int
    in_seconds: float
    left_seconds: float
    server: str


class Back(Struct, frozen=True):
    """The connection is back, and states of our rooms follow."""

    attempts: int
    seconds: float
    latency_seconds: float


class Gone(Struct, frozen=True):
    """A room could not be entered again."""

    room: str
    refused: Refused


class RoomMoved(Struct, frozen=True):
    """Another server has the room now, and we are in it there; its state follows."""

    room: str
    url: str


class RoomUnanswered(Struct, frozen=True):
    """The room's server does not answer; `RoomMoved` follows if another one takes the room over."""

    room: str
    there: Unanswered

    @property
    def message(self) -> str:
        """The server that does not answer, and what happens next."""
        return describe_unanswered(self.room, self.there)


class Closed(Struct, frozen=True):
    """The room was closed; nothing follows."""

    reason: str


class Replaced(Struct, frozen=True):
    """A newer connection of ours took the seat; nothing follows."""


class Cut(Struct, frozen=True):
    """The connection is lost for good. Only listeners get this; iterators raise the error."""

    lost: ConnectionLost


ConnectionEvent = Lost | Retrying | Back | Gone | RoomMoved | RoomUnanswered | ChallengeEnded
RoomEvent = News | Updated | Said | Told | ConnectionEvent | Closed | Replaced | Cut
