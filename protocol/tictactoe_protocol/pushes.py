"""What the server sends: replies to requests, states of rooms and notices.

Clients ignore unknown fields and types and show unknown words as they are, because later servers of this protocol
version may add some. Statuses and reasons are therefore plain strings here, with the known values as examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.challenges import ChallengePush, OpenChallenge
from tictactoe_protocol.events import Call, Card, EventPush, EventSummary
from tictactoe_protocol.names import Device
from tictactoe_protocol.rated import Encounters, LadderStanding, LadderState, Rated
from tictactoe_protocol.terms import ClockState, ClockTerms, PushFields, RulesState

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tictactoe_engine import Analysis, Position, Value

ROOM_STATUSES: Final = ("waiting", "playing", "over")
VISIBILITIES: Final = ("public", "private")
RESULT_REASONS: Final = ("line", "full", "resigned", "timeout", "claimed", "agreed", "aborted", "forfeit")

RoomStatus = Annotated[str, Meta(examples=list(ROOM_STATUSES))]
Visibility = Annotated[str, Meta(examples=list(VISIBILITIES))]
ResultReason = Annotated[str, Meta(examples=list(RESULT_REASONS))]
HappeningType = Annotated[str, Meta(examples=["out", "chose"])]
OpeningStep = Annotated[str, Meta(examples=["place", "choose"])]
OUT_REASONS: Final = ("resigned", "late", "left", "away")
OutReason = Annotated[str, Meta(examples=list(OUT_REASONS))]
OfferEnd = Annotated[str, Meta(examples=["declined", "withdrawn"])]
ValueKind = Annotated[str, Meta(examples=["win", "draw", "loss", "unknown"])]

Datum = str | int | bool | list[str | int] | None
"""A value of `data`, which programs make their own sentences from."""

GUEST: Final = "guest"
"""The `bot` of a third party's program; the server's own bots have their level there."""


def is_server_bot(bot: str | None) -> bool:
    """Return whether the server itself plays a seat with this `bot`."""
    return bot is not None and bot != GUEST


class SeatState(Struct, frozen=True, omit_defaults=True):
    """Who holds a seat; `bot` is the level of a bot, or `GUEST`. `hold_ms` is how long it is kept for a player who
    dropped; `left` is one who went for good, `out` one who is passed over in the game on the table.
    """

    player: str
    name: str
    online: bool
    bot: str | None
    hold_ms: int | UnsetType = UNSET
    left: bool = False
    out: bool = False

    @property
    def is_server_bot(self) -> bool:
        """Whether the server plays here."""
        return is_server_bot(self.bot)


class Result(Struct, frozen=True):
    """How a game ended; `winner` is a mark or None, `line` every cell of the deciding line(s), else empty."""

    winner: str | None
    reason: ResultReason
    line: tuple[int, ...] = ()


class EndedOffer(Struct, frozen=True):
    """How an offer was answered with no: `by` is the mark that did, the offering one where `how` is ``withdrawn``."""

    by: str
    how: OfferEnd


class Happening(Struct, frozen=True, omit_defaults=True):
    """Something that the change to a state brought, beside what shows in it.

    The `type` is ``out``: who plays `mark` plays no more in this game, and `why`. Or it is ``chose``: who sat at `mark`
    took a side in the opening, or chose ``more``; where that is another mark, both have changed places.
    """

    type: HappeningType
    mark: str | UnsetType = UNSET
    why: OutReason | UnsetType = UNSET
    take: str | UnsetType = UNSET


class OpeningState(Struct, frozen=True):
    """An opening that is not decided, and what the seat whose turn it is has to do.

    At the step ``place`` it places `left` more marks, `places` the next; at ``choose`` it takes one of `options`: a
    mark, or ``more``.
    """

    rule: str
    step: OpeningStep
    places: str | None
    left: int
    options: tuple[str, ...]


def opening_state(position: Position) -> OpeningState | UnsetType:
    """Return what the wire says of a position's opening, nothing once it is decided."""
    opening = position.opening
    if opening is None:
        return UNSET
    return OpeningState(opening.rule, opening.step, opening.places, opening.left, opening.options)


class Offers(Struct, frozen=True):
    """The marks whose offer is open: one for a draw, one for an undo, all who asked for a rematch.

    `ended` says by their kind how offers in this position came to nothing, left out where none did.
    """

    draw: str | None = None
    undo: str | None = None
    rematch: tuple[str, ...] = ()
    ended: dict[str, EndedOffer] | UnsetType = UNSET


class RoomState(PushFields, frozen=True, tag="room"):
    """The whole state of a room, the same for all its players and watchers. See `docs/protocol.md`.

    `analysis` and `chat` are there where the room was opened with another than the usual choice, `happened` where the
    change to this very `seq` brought more than shows in it. `opening` is there while one is to be decided, `chosen`
    once something was chosen in it. `event` and `pairing` are there in a room of an event, `game_id` once the game is
    over and kept. `rated` is there, and true, where the room's games are rated.
    """

    room: str
    seq: int
    status: RoomStatus
    visibility: Visibility
    game: int
    rules: RulesState
    board: str
    ply: int
    turn: str | None
    last: int | None
    seats: dict[str, SeatState | None]
    result: Result | None
    offers: Offers
    clock: ClockState | None
    watchers: int
    score: dict[str, int]
    time_control: ClockTerms | None = None
    analysis: str | UnsetType = UNSET
    chat: str | UnsetType = UNSET
    happened: tuple[Happening, ...] | UnsetType = UNSET
    opening: OpeningState | UnsetType = UNSET
    chosen: tuple[str, ...] | UnsetType = UNSET
    event: str | UnsetType = UNSET
    pairing: str | UnsetType = UNSET
    game_id: str | UnsetType = UNSET
    rated: bool | UnsetType = UNSET


class ListedRoom(Struct, frozen=True):
    """What every list of public rooms says of one; `seats` has None for a free seat."""

    room: str
    status: RoomStatus
    rules: RulesState
    clock: ClockTerms | None
    seats: dict[str, SeatState | None]
    ply: int
    watchers: int


class RoomSummary(ListedRoom, frozen=True):
    """One row of the list of public rooms.

    Attributes:
        seats: None for a free seat.
        age_ms: Time since the room was opened.
        host_rating: Rating of the player who waits in a rated room, rounded.
        host_provisional: True while that rating is not certain enough to be shown elsewhere.
    """

    age_ms: int
    analysis: str | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    host_rating: int | UnsetType = UNSET
    host_provisional: bool | UnsetType = UNSET


class PastPlayer(Struct, frozen=True):
    """Who played a mark of a finished game, under the name of that time."""

    player: str
    name: str


class PastGame(Struct, frozen=True):
    """One row of a history: a finished game.

    Attributes:
        at: When the game ended, in ms since the epoch.
        moves: The number of moves.
        event: The code of the event, if it was a game of one; `pairing` is then the id of its pairing.
    """

    game_id: str
    room: str
    game: int
    at: int
    rules: RulesState
    players: dict[str, PastPlayer]
    result: Result
    moves: int
    event: str | UnsetType = UNSET
    pairing: str | UnsetType = UNSET


class PlayerProfile(Struct, frozen=True, omit_defaults=True, rename={"with_": "with"}):
    """A player's ladders and newest rated games, at most 20, newest first; `with_` are those of them with who asks."""

    player: str
    name: str
    ladders: tuple[LadderStanding, ...]
    games: tuple[PastGame, ...]
    with_: Encounters | UnsetType = UNSET


class PlayedGame(Struct, frozen=True, omit_defaults=True):
    """A finished game with all of its moves; the rest as in `PastGame`.

    Attributes:
        board: The final board.
        moves: The cells played, in order.
        passed: The players who were skipped: the number of moves on the board at that time, and the mark.
        chosen: What was chosen in the opening.
    """

    game_id: str
    room: str
    game: int
    at: int
    rules: RulesState
    players: dict[str, PastPlayer]
    board: str
    moves: tuple[int, ...]
    result: Result
    passed: tuple[tuple[int, str], ...] = ()
    chosen: tuple[str, ...] = ()
    event: str | UnsetType = UNSET
    pairing: str | UnsetType = UNSET


class CellValue(Struct, frozen=True, omit_defaults=True):
    """What a position or a move is worth to the player to move.

    `plies` counts all moves until the end for ``win`` and ``loss``; `estimate` runs from -1 (lost) to 1 (won), and is
    exact but for ``unknown``.
    """

    kind: ValueKind
    plies: int | None = None
    estimate: float = 0.0

    @classmethod
    def of(cls, value: Value) -> CellValue:
        """Return a value of the engine as the wire says it."""
        return cls(value.kind, value.plies, value.estimate)


class AnalysisState(Struct, frozen=True, omit_defaults=True):
    """What a search found after `ply` moves: the `value` for `turn`, that of each legal cell, and the `best` cells.

    Where nothing is known and more than half of the cells look equally good, none of them is best. `solved` tells
    whether every value is exact. Of a finished game: no cells, and `turn` is None. Where a choice of an opening is due,
    `options` and `best_options` stand in their place; where one was made, they stand in `before`.
    """

    ply: int
    turn: str | None
    value: CellValue
    cells: dict[int, CellValue]
    best: tuple[int, ...]
    solved: bool
    options: dict[str, CellValue] = {}
    best_options: tuple[str, ...] = ()
    before: AnalysisState | UnsetType = UNSET

    @classmethod
    def of(cls, position: Position, found: Analysis, before: AnalysisState | UnsetType = UNSET) -> AnalysisState:
        """Return what a search found of a position, and before the choice that was made there."""
        cells = {cell: CellValue.of(value) for cell, value in found.cells.items()}
        options = {take: CellValue.of(value) for take, value in found.options.items()}
        value = CellValue.of(found.value)
        best = (deciding(found.best_cells, cells, value), found.is_solved, options, found.best_options, before)
        return cls(position.ply, position.turn, value, cells, *best)


def deciding(best: Sequence[int], cells: Collection[int], value: CellValue) -> tuple[int, ...]:
    """Return the best of the cells, or none where they are more than half and nothing is known: nothing decides yet."""
    is_undecided = value.kind == "unknown" and 1 < len(best) > len(cells) / 2
    return () if is_undecided else tuple(best)


class HeldSeat(Struct, frozen=True):
    """A seat that the player holds in an unfinished room.

    Attributes:
        names: The names of the players by mark.
        turn: The mark to move, None while the room waits; left out if another server has the room.
    """

    room: str
    seat: str
    rules: RulesState
    names: dict[str, str]
    turn: str | UnsetType | None = UNSET


class Welcome(PushFields, frozen=True, tag="welcome", kw_only=True):
    """The answer to hello. What the operator has switched off shows in its fields.

    Attributes:
        token: The secret that makes a later connection the same player again.
        hold_ms: How long the seat of a disconnected player is held.
        held_ms: How long the player's own seats are still held, by room code; only rooms that they are away from.
        sharing: Whether finished games can be shared.
        ladders: The rules that have a ladder, by name; empty if no games are rated.
        challenges: The open challenges to and from the player; left out if the server has no challenges.
        servers: The URLs of the live servers of the cluster, this one first; left out by a single server.
        cluster: The cluster's id. Players and tokens are the same at all of its servers.
        calls: The player's calls to boards of tournaments.
        claimed: Whether the player has claimed this `name`; false if somebody else has, left out if nobody has.
        title: The server's name, chosen by its operator.
        greeting: The operator's words of welcome, some lines.
        chat: ``off`` or ``sentences`` where chat is restricted.
        names: ``given`` where the server names the players itself.
    """

    protocol: int
    server: str
    player: str
    name: str
    token: str
    rooms: tuple[HeldSeat, ...]
    hold_ms: int
    sharing: bool
    ladders: tuple[str, ...]
    held_ms: dict[str, int] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    servers: tuple[str, ...] | UnsetType = UNSET
    cluster: str | UnsetType = UNSET
    calls: tuple[Call, ...] | UnsetType = UNSET
    claimed: bool | UnsetType = UNSET
    title: str | UnsetType = UNSET
    greeting: str | UnsetType = UNSET
    chat: str | UnsetType = UNSET
    names: str | UnsetType = UNSET
    challenges: tuple[OpenChallenge, ...] | UnsetType = UNSET


class Ok(PushFields, frozen=True, tag="ok", kw_only=True, omit_defaults=True):
    """A request was carried out; which of the fields are there depends on the request.

    `seats` are the marks of a player who has guests and of these guests.
    """

    id: str
    room: str | UnsetType = UNSET
    seat: str | UnsetType | None = UNSET
    seats: tuple[str, ...] | UnsetType = UNSET
    moves: tuple[int, ...] | UnsetType = UNSET
    rooms: tuple[RoomSummary, ...] | UnsetType = UNSET
    time: int | UnsetType = UNSET
    games: tuple[PastGame, ...] | UnsetType = UNSET
    record: str | UnsetType = UNSET
    played: PlayedGame | UnsetType = UNSET
    analysis: AnalysisState | UnsetType = UNSET
    replay: str | UnsetType = UNSET
    link: str | UnsetType = UNSET
    event: str | UnsetType = UNSET
    events: tuple[EventSummary, ...] | UnsetType = UNSET
    ticket: str | UnsetType = UNSET
    cards: tuple[Card, ...] | UnsetType = UNSET
    rescue: tuple[str, ...] | UnsetType = UNSET
    link_code: str | UnsetType = UNSET
    expires_ms: int | UnsetType = UNSET
    devices: tuple[Device, ...] | UnsetType = UNSET
    claimed: str | UnsetType = UNSET
    codes_left: int | UnsetType = UNSET
    export: dict[str, Any] | UnsetType = UNSET
    before: str | UnsetType = UNSET
    challenge: str | UnsetType = UNSET
    blocks: tuple[str, ...] | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    ladder: LadderState | UnsetType = UNSET
    profile: PlayerProfile | UnsetType = UNSET


class Error(PushFields, frozen=True, tag="error", kw_only=True, omit_defaults=True):
    """A request was refused and changed nothing; `code` is one of `ErrorCode`, or newer than this client.

    `url` is there with ``moved``: the server that has the room. `data` is what the message was made from.
    """

    id: str | UnsetType = UNSET
    code: str
    message: str
    room: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    retry_ms: int | UnsetType = UNSET
    url: str | UnsetType = UNSET
    data: dict[str, Datum] | UnsetType = UNSET


class ChatLine(PushFields, frozen=True, tag="chat", kw_only=True, rename={"from_": "from"}):
    """Something said in a room.

    Attributes:
        from_: The sender's name.
        seat: The sender's mark, None for a watcher.
        text: The text, or the English of the `sentence`.
        at: Milliseconds since the epoch.
        player: The sender's public id.
    """

    room: str
    from_: str
    seat: str | None
    text: str
    at: int
    player: str
    sentence: str | UnsetType = UNSET


class LobbyChange(PushFields, frozen=True, tag="lobby"):
    """What changed in the list of public rooms since the last of these."""

    changed: tuple[RoomSummary, ...]
    closed: tuple[str, ...]


class LiveBoard(Struct, frozen=True):
    """The board of a public game; the fields are those of a state. `names` are the players' by mark.

    `result` is there once the game is over, `clock` where the room has clocks: as they were when this row changed.
    """

    room: str
    game: int
    preset: str | None
    rows: int
    columns: int
    board: str
    ply: int
    turn: str | None
    last: int | None
    names: dict[str, str]
    result: Result | UnsetType = UNSET
    clock: ClockState | UnsetType = UNSET


class LiveBoards(PushFields, frozen=True, tag="boards"):
    """The boards of some public games that are on, all that one is shown from now on.

    `demo` is a game of computers for who asked for it, where there is none of people. It is no room: its `room` is
    empty.
    """

    boards: tuple[LiveBoard, ...]
    demo: LiveBoard | UnsetType = UNSET


class Replaced(PushFields, frozen=True, tag="replaced"):
    """The player's seat is now attached to a newer connection."""

    room: str


class Moved(PushFields, frozen=True, tag="moved"):
    """Another server has the room from now on: whoever plays or watches there goes on at `url`."""

    room: str
    url: str


class Closed(PushFields, frozen=True, tag="closed"):
    """The room is gone; `reason` is for people, `code` and `data` say the same for programs."""

    room: str
    reason: str
    code: str
    data: dict[str, Datum]


class Notice(PushFields, frozen=True, tag="notice"):
    """The server is about to go; come back after `retry_ms`, unless the code is ``stopping``: then for good.

    With `in_ms` it goes when the games that are on are over, at the latest after so long; null is no such limit.
    """

    code: str
    retry_ms: int
    in_ms: int | UnsetType | None = UNSET


class Announcement(PushFields, frozen=True, tag="announcement"):
    """Something that the operator says to everybody; `at` is in ms since the epoch.

    With a `code` it is the server that says it, to this player; `text` says the same in words.
    """

    text: str
    at: int
    code: str | UnsetType = UNSET


_Answer = Welcome | Ok | Error
_OfRooms = RoomState | ChatLine | LobbyChange | LiveBoards | Replaced | Moved | Closed

Push = _Answer | _OfRooms | Notice | Announcement | EventPush | ChallengePush | Rated
