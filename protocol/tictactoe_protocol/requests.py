"""The requests of clients: one frozen struct for each `type` in `docs/reference/protocol.md`.

Unknown fields are refused. An optional field is `UNSET` if it is left out and has no default value; encoding leaves it
out again. The structs check only the ranges of values; rules, rooms and turns are checked elsewhere.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from tictactoe_protocol.challenges import ChallengeRequest
from tictactoe_protocol.codes import MAX_CHAT_LENGTH, MAX_LISTED_GAMES, MAX_LIVE_BOARDS, ChatSentence
from tictactoe_protocol.days import DayRequest
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
    """Identifies the player. This is the first request on every connection.

    Attributes:
        token: The secret in an earlier `welcome`, which makes this connection the same player again.
        client: The name of the client program.
        language: The language of the texts that the server makes for this connection, such as ``de``.
        bot: Whether the player is a program; others see that it is one.
        link: A code from another device of the player, used instead of a token.
        rescue: A code that was issued when `name` was claimed, used instead of a token.
    """

    name: str | UnsetType = UNSET
    token: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    client: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    language: ShortText | UnsetType = UNSET
    bot: bool = False
    link: ShortText | UnsetType = UNSET
    rescue: ShortText | UnsetType = UNSET


class Create(RequestFields, frozen=True, tag="create"):
    """Opens a room and takes a seat in it.

    Attributes:
        seat: The mark to play, by default the first.
        bots: The levels of the server's bots that take seats.
        analysis: ``open`` lets everyone in the room see the analysis of the running game.
        chat: ``all`` lets players and watchers chat, ``players`` only players.
        guests: The names of further players at the sender's keyboard; they take the next seats.
    """

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
    """Joins a waiting public room with the same rules, clock and `rated`, or opens such a room.

    If there are several rooms, it joins the oldest one, or of rated rooms the one whose player has the nearest rating.
    """

    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None
    rated: bool = False


NOT_OFFERED: Final = {"rated": "ladders off"}
"""For each purpose that a room can have, the `why` of the refusal if a server offers no rooms with this purpose."""


def purpose_of(request: Any) -> str:
    """Return the purpose of the room that a request opens or looks for: ``rated``, or "" for casual games."""
    return "rated" if request.rated else ""


class _RoomRequest(RequestFields, frozen=True):
    room: ShortText


class Join(_RoomRequest, frozen=True, tag="join"):
    """Takes free seats for the player and the `guests`, or returns to the seats that they hold.

    Attributes:
        seq: The `seq` of the newest state of the room that the sender has seen.
        unreachable: The URL of the server that has the room, if the sender cannot reach it.
    """

    seq: Count | UnsetType = UNSET
    unreachable: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    guests: Guests = ()


class Watch(_RoomRequest, frozen=True, tag="watch"):
    """Watches a room; `seq` is the same as in `Join`."""

    seq: Count | UnsetType = UNSET


class _SeatRequest(_RoomRequest, frozen=True, kw_only=True):
    """An action in a room.

    Attributes:
        player: The id of the sender's guest who acts; left out if the sender acts.
    """

    player: Word | UnsetType = UNSET


class Leave(_SeatRequest, frozen=True, tag="leave"):
    """Stops watching, frees a seat in a waiting room, or resigns and leaves. The sender's guests leave, too."""


class Move(_SeatRequest, frozen=True, tag="move"):
    """Plays `cell` (row-major from 0) as move number `ply` (from 0)."""

    cell: Integer
    ply: Count


class Choose(_SeatRequest, frozen=True, tag="choose"):
    """Chooses an option in an opening.

    Attributes:
        take: The mark of the side to take, or ``more``.
        ply: The number of moves before the choice.
    """

    take: Word
    ply: Count


class Resign(_SeatRequest, frozen=True, tag="resign"):
    """Resigns the game."""


class _OfferRequest(_SeatRequest, frozen=True):
    action: OfferAction
    game: Count | UnsetType = UNSET
    ply: Count | UnsetType = UNSET


class Draw(_OfferRequest, frozen=True, tag="draw"):
    """Offers a draw, or answers an offer. Idempotent if it has `game` and `ply`."""


class Undo(_OfferRequest, frozen=True, tag="undo"):
    """Asks to take back the sender's last move, or answers such a request. Idempotent if it has `game` and `ply`."""


class Claim(_SeatRequest, frozen=True, tag="claim", rename={"as_": "as"}):
    """Claims a win or a draw because the opponent has been disconnected for longer than the hold."""

    as_: Literal["win", "draw"]


class Rematch(_SeatRequest, frozen=True, tag="rematch"):
    """Asks for another game in the room, or agrees. Idempotent if it has `game`, the number of the finished game."""

    game: Count | UnsetType = UNSET


class Chat(_RoomRequest, frozen=True, tag="chat"):
    """Sends a chat line to everyone in the room: a `text`, or the id of a `sentence`.

    A text of more than 200 characters is refused with ``too_long``.
    """

    text: Annotated[str, Meta(min_length=1, extra_json_schema={"maxLength": MAX_CHAT_LENGTH})] = ""
    sentence: ChatSentence | UnsetType = UNSET


class Rooms(RequestFields, frozen=True, tag="rooms"):
    """Asks for the list of public rooms."""


class Lobby(RequestFields, frozen=True, tag="lobby"):
    """Subscribes to changes to the list of public rooms, or ends the subscription.

    Attributes:
        boards: The number of running games whose boards are sent, too.
        demo: Whether to send a game between bots if there is no other board.
    """

    on: bool
    boards: Annotated[int, Meta(ge=0, le=MAX_LIVE_BOARDS)] = 0
    demo: bool = False


class Sync(_RoomRequest, frozen=True, tag="sync"):
    """Asks for the current state of a room again."""


class Ping(RequestFields, frozen=True, tag="ping"):
    """Asks for the server's time."""


class History(RequestFields, frozen=True, tag="history"):
    """Asks for the player's finished games, newest first.

    Attributes:
        limit: The largest number of games to return.
        before: A `game_id`; only games that ended before this game are returned.
    """

    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED_GAMES)] = 20
    before: ShortText | UnsetType = UNSET


class Record(RequestFields, frozen=True, tag="record"):
    """Asks for a finished game with its moves."""

    game_id: ShortText


class Share(RequestFields, frozen=True, tag="share"):
    """Creates a link to a finished game that anyone can open, or with `on` false withdraws it."""

    game_id: ShortText
    on: bool = True


class Analyse(_RoomRequest, frozen=True, tag="analyse"):
    """Asks for the analysis of a position in the room's game.

    Attributes:
        ply: The number of moves before the position, by default all.
        stones: Whether texts call the marks black and white.
    """

    ply: Count | UnsetType = UNSET
    stones: bool = False


class Review(RequestFields, frozen=True, tag="review"):
    """Asks for the analysis of a position in a finished game.

    Attributes:
        game_id: The id of a game of the player.
        replay: The id of a shared game, instead of `game_id`.
        ply: The number of moves before the position, by default all.
        stones: Whether texts call the marks black and white.
    """

    game_id: ShortText | UnsetType = UNSET
    replay: ShortText | UnsetType = UNSET
    ply: Count | UnsetType = UNSET
    stones: bool = False


class DrawQr(RequestFields, frozen=True, tag="qr"):
    """Asks for the QR code of a text, such as a link with a secret, which must not be in the path of a picture."""

    text: Annotated[str, Meta(max_length=128)]


_Visiting = Hello | Create | Match | Join | Watch | Leave
_Playing = Move | Choose | Resign | Draw | Undo | Claim | Rematch | Chat
_Asking = Rooms | Lobby | Sync | Ping | History | Record | Share | Analyse | Review | DrawQr

Request = _Visiting | _Playing | _Asking | EventRequest | NameRequest | ChallengeRequest | RatingRequest | DayRequest
