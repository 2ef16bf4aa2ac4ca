"""The requests of a client: one frozen struct for each `type` of `docs/protocol.md`.

Unknown fields are refused. A field that may be left out is `UNSET` where its absence means something, so that
encoding a request sends only what was said. Numbers are bounded here, meanings (rules, rooms, turns) elsewhere.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from tictactoe_protocol.challenges import ChallengeRequest
from tictactoe_protocol.codes import MAX_CHAT_LENGTH, MAX_LISTED_GAMES, MAX_LIVE_BOARDS, ChatSentence
from tictactoe_protocol.events import EventRequest
from tictactoe_protocol.guests import MAX_GUESTS
from tictactoe_protocol.names import NameRequest
from tictactoe_protocol.rated import RatingRequest
from tictactoe_protocol.terms import (
    ClockFields,
    Count,
    Integer,
    OfferAction,
    RequestFields,
    RulesChoice,
    ShortText,
    Word,
)

Guests = Annotated[tuple[Annotated[str, Meta(max_length=128)], ...], Meta(max_length=MAX_GUESTS)]
"""The names of further players at the sender's keyboard."""


class Hello(RequestFields, frozen=True, tag="hello"):
    """Says who connects; the first request on every connection.

    Attributes:
        token: The secret of an earlier `welcome`: the connection is the same player again.
        bot: The player is a program, and is shown as one.
        link: A code made on another device of the player; takes the place of a token.
        rescue: A code that was issued when the `name` was claimed; takes the place of a token.
    """

    name: str | UnsetType = UNSET
    token: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    client: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    bot: bool = False
    link: ShortText | UnsetType = UNSET
    rescue: ShortText | UnsetType = UNSET


class Create(RequestFields, frozen=True, tag="create"):
    """Opens a room and takes a seat in it; `guests` take the next ones."""

    rules: RulesChoice | UnsetType = UNSET
    visibility: Literal["public", "private"] = "public"
    clock: ClockFields | None = None
    seat: Word | UnsetType = UNSET
    bots: Annotated[tuple[Word, ...], Meta(max_length=6)] = ()
    analysis: Literal["closed", "open"] = "closed"
    chat: Literal["all", "players"] = "all"
    rated: bool = False
    guests: Guests = ()


class Match(RequestFields, frozen=True, tag="match"):
    """Joins an open public room with equal rules and clock, rated or not, or opens one.

    It is the oldest such room; of rated rooms it is the one with the nearest rating.
    """

    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None
    rated: bool = False


NOT_OFFERED: Final = {"rated": "ladders off"}
"""The reason why a server without rooms of a purpose refuses them, by the purpose."""


def purpose_of(request: Any) -> str:
    """Return the purpose of the room that a request opens or looks for, "" for casual games."""
    return "rated" if request.rated else ""


class _RoomRequest(RequestFields, frozen=True):
    room: ShortText


class Join(_RoomRequest, frozen=True, tag="join"):
    """Takes free seats for the player and the `guests`, or attaches this connection to the seats that they hold.

    Attributes:
        seq: The `seq` of the newest state of the room that the sender has seen.
        unreachable: The URL of the room's server, if it does not answer the sender.
    """

    seq: Count | UnsetType = UNSET
    unreachable: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    guests: Guests = ()


class Watch(_RoomRequest, frozen=True, tag="watch"):
    """Watches; `seq` as for ``join``."""

    seq: Count | UnsetType = UNSET


class _SeatRequest(_RoomRequest, frozen=True, kw_only=True):
    """An action of the sender, or of the guest with the id `player`."""

    player: Word | UnsetType = UNSET


class Leave(_SeatRequest, frozen=True, tag="leave"):
    """Stops watching, frees the seat of a waiting room, or resigns and leaves; the sender's guests leave, too."""


class Move(_SeatRequest, frozen=True, tag="move"):
    """Plays `cell` (row-major from 0) as move number `ply` (from 0)."""

    cell: Integer
    ply: Count


class Choose(_SeatRequest, frozen=True, tag="choose"):
    """Takes a side in an opening, by its mark, or ``more``, after `ply` moves."""

    take: Word
    ply: Count


class Resign(_SeatRequest, frozen=True, tag="resign"):
    """Gives the game up."""


class _OfferRequest(_SeatRequest, frozen=True):
    action: OfferAction
    game: Count | UnsetType = UNSET
    ply: Count | UnsetType = UNSET


class Draw(_OfferRequest, frozen=True, tag="draw"):
    """Offers a draw, or answers an offer; idempotent with `game` and `ply`."""


class Undo(_OfferRequest, frozen=True, tag="undo"):
    """Asks to take the sender's last move back, or answers; idempotent with `game` and `ply`."""


class Claim(_SeatRequest, frozen=True, tag="claim", rename={"as_": "as"}):
    """Ends a game whose opponent has been away longer than the hold."""

    as_: Literal["win", "draw"]


class Rematch(_SeatRequest, frozen=True, tag="rematch"):
    """Asks for another game in the room, or agrees; idempotent with the `game` that is over."""

    game: Count | UnsetType = UNSET


class Chat(_RoomRequest, frozen=True, tag="chat"):
    """Says a text or a sentence, by its id, to everybody in the room.

    Longer texts than 200 characters are refused with ``too_long``.
    """

    text: Annotated[str, Meta(min_length=1, extra_json_schema={"maxLength": MAX_CHAT_LENGTH})] = ""
    sentence: ChatSentence | UnsetType = UNSET


class Rooms(RequestFields, frozen=True, tag="rooms"):
    """Asks for the public rooms."""


class Lobby(RequestFields, frozen=True, tag="lobby"):
    """Subscribes to changes of the list of public rooms, or ends the subscription.

    Attributes:
        boards: The number of boards of running games to send.
        demo: Whether to send a game between bots if there is no other board.
    """

    on: bool
    boards: Annotated[int, Meta(ge=0, le=MAX_LIVE_BOARDS)] = 0
    demo: bool = False


class Sync(_RoomRequest, frozen=True, tag="sync"):
    """Asks for the current state again."""


class Ping(RequestFields, frozen=True, tag="ping"):
    """Asks for the server's time."""


class History(RequestFields, frozen=True, tag="history"):
    """Asks for the player's finished games, newest first; with `before`, a `game_id`, only older ones."""

    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED_GAMES)] = 20
    before: ShortText | UnsetType = UNSET


class Record(RequestFields, frozen=True, tag="record"):
    """Asks for one finished game."""

    game_id: ShortText


class Share(RequestFields, frozen=True, tag="share"):
    """Shares one finished game by link, or stops sharing it."""

    game_id: ShortText
    on: bool = True


class Analyse(_RoomRequest, frozen=True, tag="analyse"):
    """Asks for the analysis of the room's position, the current one or the one after `ply` moves."""

    ply: Count | UnsetType = UNSET


class Review(RequestFields, frozen=True, tag="review"):
    """Asks for the analysis of a finished game's position, the last one or the one after `ply` moves.

    The game is one of the player's own, or a shared one by its `replay`.
    """

    game_id: ShortText | UnsetType = UNSET
    replay: ShortText | UnsetType = UNSET
    ply: Count | UnsetType = UNSET


_Visiting = Hello | Create | Match | Join | Watch | Leave
_Playing = Move | Choose | Resign | Draw | Undo | Claim | Rematch | Chat
_Asking = Rooms | Lobby | Sync | Ping | History | Record | Share | Analyse | Review

Request = _Visiting | _Playing | _Asking | EventRequest | NameRequest | ChallengeRequest | RatingRequest
