"""The events of a room and of the connection, which `Room.events` yields in order.

Each new state yields its `news` one by one, then `Updated`."""

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
    """A new state; all its news have been yielded before.

    Attributes:
        old: The state before, or None for the first.
        after_loss: Whether our connection was lost between the two states.
        news: The news since `old`. If states were missed, `Missed` and the events that explain the new state.
    """

    old: RoomState | None
    state: RoomState
    after_loss: bool = False
    news: tuple[News, ...] = ()


class Said(Struct, frozen=True):
    """A chat line."""

    line: ChatLine


class Told(Struct, frozen=True):
    """A message from the server that is neither an answer nor a state, for example an announcement."""

    push: Notice | Announcement | Error | Call | Challenged | Rated | Turns


class ChallengeEnded(Struct, frozen=True):
    """The end of a challenge to us or from us.

    Attributes:
        name: The challenged player's name, or "" if it is not known.
        leads: Whether the challenge was accepted and is this client's, so that the client enters `over.room`.
    """

    over: ChallengeOver
    challenge: OpenChallenge
    name: str = ""
    leads: bool = False


class Lost(Struct, frozen=True):
    """The connection was lost, and reconnecting begins.

    Attributes:
        hold_seconds: How long the server holds our seats.
        absent_seconds: When we give up if no server answers.
    """

    reason: str
    close_code: int | None
    hold_seconds: float
    absent_seconds: float


class Retrying(Struct, frozen=True):
    """The next attempt to reconnect follows in `in_seconds`; we give up in `left_seconds`."""

    attempt: int
    in_seconds: float
    left_seconds: float
    server: str


class Back(Struct, frozen=True):
    """The connection is back; the states of our rooms follow."""

    attempts: int
    seconds: float
    latency_seconds: float


class Gone(Struct, frozen=True):
    """The server refused to let us enter a room again."""

    room: str
    refused: Refused


class RoomMoved(Struct, frozen=True):
    """The room moved to another server, and we followed; its state follows."""

    room: str
    url: str


class RoomUnanswered(Struct, frozen=True):
    """The room's server does not answer; `RoomMoved` follows if another server takes the room over."""

    room: str
    there: Unanswered

    @property
    def message(self) -> str:
        """A sentence that says which server does not answer, and what happens next."""
        return describe_unanswered(self.room, self.there)


class Closed(Struct, frozen=True):
    """The room was closed; this is its last event."""

    reason: str


class Replaced(Struct, frozen=True):
    """A newer connection of ours, or a player with the same card, took the seat; this is the room's last event here."""

    by_card: bool = False


class Cut(Struct, frozen=True):
    """The connection is lost for good. Only listeners get this event; streams raise the error instead."""

    lost: ConnectionLost


ConnectionEvent = Lost | Retrying | Back | Gone | RoomMoved | RoomUnanswered | ChallengeEnded
RoomEvent = News | Updated | Said | Told | ConnectionEvent | Closed | Replaced | Cut
