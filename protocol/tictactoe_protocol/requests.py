"""What a client may ask: one frozen struct for each `type` of `docs/protocol.md`.

Unknown fields are refused. A field that may be left out is `UNSET` where its absence means something, so that
encoding a request sends only what was said. Numbers are bounded here, meanings (rules, rooms, turns) elsewhere.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_engine import Rules
from tictactoe_protocol.codes import MAX_CHAT_LENGTH, MAX_ID_LENGTH, MAX_LISTED_GAMES, MAX_LIVE_BOARDS

MAX_INTEGER = 2**31 - 1
MAX_CLOCK_MS = 24 * 60 * 60 * 1000
CLOCK_WORDS: Final = "A clock has initial_ms and increment_ms, or move_ms alone"

RequestId = Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)]
RoomText = Annotated[str, Meta(min_length=1, max_length=64)]
Integer = Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
OfferAction = Literal["offer", "accept", "decline"]
Feature = Annotated[str, Meta(max_length=32, pattern="^[a-z][a-z0-9-]*$")]
GameId = Annotated[str, Meta(min_length=1, max_length=64)]


class RulesFields(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules spelled out; what is missing is as in ``classic``. The engine decides whether they can be played."""

    rows: Integer = 3
    columns: Integer = 3
    line: Integer = 3
    marks: Annotated[str, Meta(max_length=64)] = "XO"
    blocked: Annotated[tuple[Integer, ...], Meta(max_length=1024)] = ()
    misere: bool = False
    gravity: bool = False
    exact: bool = False
    opening: Annotated[str, Meta(max_length=64)] | None = None

    @classmethod
    def of(cls, rules: Rules) -> RulesFields:
        """Return `rules` spelled out."""
        return cls(**spell_out(rules))

    def to_rules(self) -> Rules:
        """Return the engine's value; raises `InvalidRules`."""
        return Rules(**{name: getattr(self, name) for name in _TERMS})


def spell_out(rules: Rules) -> dict[str, Any]:
    """Return what the wire says of rules, by the names of its fields; `blocked` is ascending."""
    return {name: getattr(rules, name) for name in _TERMS} | {"blocked": tuple(sorted(rules.blocked))}


_TERMS: Final = RulesFields.__struct_fields__

RulesChoice = Annotated[str, Meta(max_length=64)] | RulesFields


class ClockTerms(Struct, frozen=True):
    """A clock for each seat (`initial_ms` with `increment_ms` a move) or for each move (`move_ms`)."""

    initial_ms: Annotated[int, Meta(ge=1, le=MAX_CLOCK_MS)] | UnsetType = UNSET
    increment_ms: Annotated[int, Meta(ge=0, le=MAX_CLOCK_MS)] | UnsetType = UNSET
    move_ms: Annotated[int, Meta(ge=1, le=MAX_CLOCK_MS)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        by_seat = self.initial_ms is not UNSET and self.increment_ms is not UNSET
        by_move = self.move_ms is not UNSET
        mixed = by_move and (self.initial_ms is not UNSET or self.increment_ms is not UNSET)
        if mixed or not (by_seat or by_move):
            raise ValueError(CLOCK_WORDS)


class ClockFields(ClockTerms, frozen=True, forbid_unknown_fields=True):
    """The clock that a request asks for: one for each seat (with an increment a move) or one for each move."""


class RequestFields(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", kw_only=True, gc=False, omit_defaults=True
):
    """What every request may have. With an `id` it is answered under that."""

    id: RequestId | UnsetType = UNSET


class Hello(RequestFields, frozen=True, tag="hello"):
    """Says who connects; the first request on every connection. With a `token`, the same player again.

    `features` are what the client understands beyond version 1.0. Servers up to 1.2 refuse the field.
    """

    name: str | UnsetType = UNSET
    token: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    client: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET
    features: Annotated[tuple[Feature, ...], Meta(max_length=64)] = ()


class Create(RequestFields, frozen=True, tag="create"):
    """Opens a room and takes a seat in it."""

    rules: RulesChoice | UnsetType = UNSET
    visibility: Literal["public", "private"] = "public"
    clock: ClockFields | None = None
    seat: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    bots: Annotated[tuple[Annotated[str, Meta(max_length=64)], ...], Meta(max_length=6)] = ()
    analysis: Literal["closed", "open"] = "closed"
    chat: Literal["all", "players"] = "all"


class Match(RequestFields, frozen=True, tag="match"):
    """Joins the oldest open public room with equal rules and clock, or opens one."""

    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None


class _RoomRequest(RequestFields, frozen=True):
    room: RoomText


class Join(_RoomRequest, frozen=True, tag="join"):
    """Takes a free seat, or attaches this connection to the seat that the player holds.

    `seq` is that of the newest state that the sender has seen of the room.
    """

    seq: Count | UnsetType = UNSET


class Watch(_RoomRequest, frozen=True, tag="watch"):
    """Spectates; `seq` as for ``join``."""

    seq: Count | UnsetType = UNSET


class Leave(_RoomRequest, frozen=True, tag="leave"):
    """Stops watching, frees the seat of a waiting room, or resigns and goes."""


class Move(_RoomRequest, frozen=True, tag="move"):
    """Plays `cell` (row-major from 0) as move number `ply` (from 0)."""

    cell: Integer
    ply: Count


class Choose(_RoomRequest, frozen=True, tag="choose"):
    """Takes a side in an opening, by its mark, or ``more``, when `ply` moves lie on the board."""

    take: Annotated[str, Meta(max_length=64)]
    ply: Count


class Resign(_RoomRequest, frozen=True, tag="resign"):
    """Gives the game up."""


class Draw(_RoomRequest, frozen=True, tag="draw"):
    """Offers a draw, or answers an offer; with `game` and `ply`, for which it is meant, it may be sent twice."""

    action: OfferAction
    game: Count | UnsetType = UNSET
    ply: Count | UnsetType = UNSET


class Undo(_RoomRequest, frozen=True, tag="undo"):
    """Asks to take back one's last move, or answers such a request; `game` and `ply` as for ``draw``."""

    action: OfferAction
    game: Count | UnsetType = UNSET
    ply: Count | UnsetType = UNSET


class Claim(_RoomRequest, frozen=True, tag="claim", rename={"as_": "as"}):
    """Ends a game whose opponent has been gone past the hold."""

    as_: Literal["win", "draw"]


class Rematch(_RoomRequest, frozen=True, tag="rematch"):
    """Asks for another game in the room, or agrees to it; with `game`, which is over, it may be sent twice."""

    game: Count | UnsetType = UNSET


class Chat(_RoomRequest, frozen=True, tag="chat"):
    """Says something to players and watchers; longer texts than 200 characters are refused with ``too_long``."""

    text: Annotated[str, Meta(min_length=1, extra_json_schema={"maxLength": MAX_CHAT_LENGTH})]


class Rooms(RequestFields, frozen=True, tag="rooms"):
    """Asks for the public rooms."""


class Lobby(RequestFields, frozen=True, tag="lobby"):
    """Subscribes to changes of the list of public rooms, and to so many boards of games that are on, or ends that."""

    on: bool
    boards: Annotated[int, Meta(ge=0, le=MAX_LIVE_BOARDS)] = 0


class Sync(_RoomRequest, frozen=True, tag="sync"):
    """Asks for the current state again."""


class Ping(RequestFields, frozen=True, tag="ping"):
    """Asks for the server's time."""


class History(RequestFields, frozen=True, tag="history"):
    """Asks for the player's finished games, newest first: at most `limit`, those older than the game `before`."""

    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED_GAMES)] = 20
    before: GameId | UnsetType = UNSET


class Record(RequestFields, frozen=True, tag="record"):
    """Asks for one finished game as text, by the `id` that a history gave."""

    game: GameId


class Share(RequestFields, frozen=True, tag="share"):
    """Shows one finished game to whoever knows its link, by the `id` that a history gave, or takes that back."""

    game: GameId
    on: bool = True


class Analyse(_RoomRequest, frozen=True, tag="analyse"):
    """Asks what a position of the room's game is worth, the current one or the one after `ply` moves."""

    ply: Count | UnsetType = UNSET


class Review(RequestFields, frozen=True, tag="review"):
    """Asks what a position of a finished game is worth, its last one or the one after `ply` moves.

    The game is one that the player played in, by the `id` that a history gave, or one that was shared, by its `replay`.
    """

    game: GameId | UnsetType = UNSET
    replay: GameId | UnsetType = UNSET
    ply: Count | UnsetType = UNSET


Request = (
    Hello
    | Create
    | Match
    | Join
    | Watch
    | Leave
    | Move
    | Choose
    | Resign
    | Draw
    | Undo
    | Claim
    | Rematch
    | Chat
    | Rooms
    | Lobby
    | Sync
    | Ping
    | History
    | Record
    | Share
    | Analyse
    | Review
)
