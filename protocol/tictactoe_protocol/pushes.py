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

    from tictactoe_engine import Position
    from tictactoe_engine.search import Analysis, Value

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
"""A value of `data`: a part of a message, for programs with sentences of their own."""

GUEST: Final = "guest"
"""The `bot` of a third party's program; the server's own bots have their level there."""


def is_server_bot(bot: str | None) -> bool:
    """Return whether the server itself plays a seat with this `bot`."""
    return bot is not None and bot != GUEST


class SeatState(Struct, frozen=True, omit_defaults=True):
    """The holder of a seat.

    Attributes:
        bot: The level of a server's bot, `GUEST` for another program, else None.
        hold_ms: How long the seat of a disconnected player is still held.
        left: Whether the player has left for good.
        out: Whether the player is skipped in the current game.
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
        return is_server_bot(self.bot)


class Result(Struct, frozen=True):
    """How a game ended.

    Attributes:
        winner: A mark, None without a winner.
        line: Every cell of the deciding lines, else empty.
    """

    winner: str | None
    reason: ResultReason
    line: tuple[int, ...] = ()


class EndedOffer(Struct, frozen=True):
    """An offer that was declined by the mark `by`, or withdrawn by its maker."""

    by: str
    how: OfferEnd


class Happening(Struct, frozen=True, omit_defaults=True):
    """An event of the change to a state that the state does not show.

    - ``out``: the player of `mark` is out of this game; `why` is the reason.
    - ``chose``: the player who sat at `mark` has taken the side `take` in the opening, or ``more``. Taking the other
      mark swaps the seats.
    """

    type: HappeningType
    mark: str | UnsetType = UNSET
    why: OutReason | UnsetType = UNSET
    take: str | UnsetType = UNSET


class OpeningState(Struct, frozen=True):
    """An undecided opening: what the player whose turn it is has to do.

    Attributes:
        rule: ``pie`` or ``swap2``.
        step: ``place`` a mark, or ``choose`` one of the `options`.
        places: The mark to place next, None at ``choose``.
        left: The number of marks to place before the next choice.
        options: The choices: marks, and perhaps ``more``; empty at ``place``.
    """

    rule: str
    step: OpeningStep
    places: str | None
    left: int
    options: tuple[str, ...]


def opening_state(position: Position) -> OpeningState | UnsetType:
    """Return the wire form of a position's opening, `UNSET` once it is decided."""
    opening = position.opening
    if opening is None:
        return UNSET
    return OpeningState(opening.rule, opening.step, opening.places, opening.left, opening.options)


class Offers(Struct, frozen=True):
    """The open offers.

    Attributes:
        draw: The mark that offers a draw.
        undo: The mark that asks to take a move back.
        rematch: The marks that have asked for a rematch.
        ended: The declined and withdrawn offers of this position, by kind; left out if there are none.
    """

    draw: str | None = None
    undo: str | None = None
    rematch: tuple[str, ...] = ()
    ended: dict[str, EndedOffer] | UnsetType = UNSET


class RoomState(PushFields, frozen=True, tag="room"):
    """The whole state of a room, the same for all its players and watchers. See `docs/protocol.md`.

    Attributes:
        analysis: ``open``, only if the room was opened with it.
        chat: ``players``, only if the room was opened with it.
        happened: Events of the change to this `seq` that the state does not show.
        opening: Only while an opening is undecided.
        chosen: The choices made in the opening, in order.
        event: Only in a room of an event, with its `pairing`.
        game_id: Only once the game is over and kept.
        rated: True if the room's games are rated, else left out.
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
    """The common fields of lists of public rooms; a free seat is None."""

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
    """The player of a mark in a finished game, with the name at that time."""

    player: str
    name: str


class PastGame(Struct, frozen=True):
    """One row of a history: a finished game.

    Attributes:
        at: When the game ended, in ms since the epoch.
        moves: The number of moves.
        event: The code of the event, if any; `pairing` is then the id of its pairing.
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
    """A player's ladders and rated games.

    Attributes:
        games: At most 20, newest first.
        with_: The results against the asking player.
    """

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
    """The value of a position or a move for the player to move.

    Attributes:
        plies: For ``win`` and ``loss``, the number of moves until the end, by all players.
        estimate: From -1 (lost) to 1 (won); exact unless the kind is ``unknown``.
    """

    kind: ValueKind
    plies: int | None = None
    estimate: float = 0.0

    @classmethod
    def of(cls, value: Value) -> CellValue:
        return cls(value.kind, value.plies, value.estimate)


class AnalysisState(Struct, frozen=True, omit_defaults=True):
    """The analysis of the position after `ply` moves.

    Attributes:
        turn: The mark to move, None at the end of the game.
        value: The value for `turn`.
        cells: The value of each legal cell; empty at the end of the game, and while a choice is due.
        best: The best cells; empty if the value is unknown and more than half of the cells look equal.
        solved: Whether every value is exact.
        options: The value of each choice of an opening, while one is due; `best_options` are the best ones.
        before: The analysis before the choice, if one was made at this `ply`.
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
        """Return the wire form of an analysis; `before` is that of the position before the choice."""
        cells = {cell: CellValue.of(value) for cell, value in found.cells.items()}
        options = {take: CellValue.of(value) for take, value in found.options.items()}
        value = CellValue.of(found.value)
        best = (deciding(found.best_cells, cells, value), found.is_solved, options, found.best_options, before)
        return cls(position.ply, position.turn, value, cells, *best)


def deciding(best: Sequence[int], cells: Collection[int], value: CellValue) -> tuple[int, ...]:
    """Return the best cells, or none if the value is unknown and more than half of the cells are equally good."""
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
        claimed: True if the player has claimed this `name`, false if another player has, else left out.
        device_news: What the player has to know about newer devices: ``device_added`` or ``device_refused``.
        title: The server's name, chosen by its operator.
        greeting: The operator's words of welcome, some lines.
        chat: ``off`` or ``sentences`` where chat is restricted.
        names: ``given`` where the server names the players itself.
        opens_events: False where the operator has not allowed this player to open tournaments, else left out.
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
    device_news: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    greeting: str | UnsetType = UNSET
    chat: str | UnsetType = UNSET
    names: str | UnsetType = UNSET
    opens_events: bool | UnsetType = UNSET
    challenges: tuple[OpenChallenge, ...] | UnsetType = UNSET


class Ok(PushFields, frozen=True, tag="ok", kw_only=True, omit_defaults=True):
    """A request was carried out; the fields depend on the request.

    Attributes:
        seats: The marks of the player and the guests, if there are guests.
        online: The number of people connected to this server, the player included.
    """

    id: str
    room: str | UnsetType = UNSET
    seat: str | UnsetType | None = UNSET
    seats: tuple[str, ...] | UnsetType = UNSET
    moves: tuple[int, ...] | UnsetType = UNSET
    rooms: tuple[RoomSummary, ...] | UnsetType = UNSET
    online: int | UnsetType = UNSET
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
    strangers: bool | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    ladder: LadderState | UnsetType = UNSET
    profile: PlayerProfile | UnsetType = UNSET


class Error(PushFields, frozen=True, tag="error", kw_only=True, omit_defaults=True):
    """A request was refused and changed nothing.

    Attributes:
        code: One of `ErrorCode`, or unknown to this client.
        url: Only with ``moved``: the server that has the room.
        data: The parts of the message; left out if the error would be too long.
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
    """The changes of the list of public rooms since the previous message."""

    changed: tuple[RoomSummary, ...]
    closed: tuple[str, ...]


class LiveBoard(Struct, frozen=True):
    """The board of a public game; the fields are those of a state.

    Attributes:
        names: The players' names by mark.
        result: Only once the game is over.
        clock: Only if the room has a clock; as of the last change of this board.
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
    """The boards of running public games; they replace all earlier boards.

    Attributes:
        demo: A game between bots, for subscribers that asked for one, if there is no other board. Its `room` is empty.
    """

    boards: tuple[LiveBoard, ...]
    demo: LiveBoard | UnsetType = UNSET


class Replaced(PushFields, frozen=True, tag="replaced"):
    """The player's seat is now attached to a newer connection."""

    room: str


class Moved(PushFields, frozen=True, tag="moved"):
    """Another server has the room from now on; players and watchers continue at `url`."""

    room: str
    url: str


class Closed(PushFields, frozen=True, tag="closed"):
    """The room is gone; `reason` is for people, `code` and `data` say the same for programs."""

    room: str
    reason: str
    code: str
    data: dict[str, Datum]


class Notice(PushFields, frozen=True, tag="notice"):
    """The server is going down.

    Attributes:
        code: ``restarting``: reconnect after `retry_ms`. ``stopping``: do not reconnect.
        in_ms: The server waits for the running games, at most this long; None is without a limit.
    """

    code: str
    retry_ms: int
    in_ms: int | UnsetType | None = UNSET


class Announcement(PushFields, frozen=True, tag="announcement"):
    """A message of the operator to all players, or with a `code` of the server to this player.

    Attributes:
        at: Milliseconds since the epoch.
    """

    text: str
    at: int
    code: str | UnsetType = UNSET


_Answer = Welcome | Ok | Error
_OfRooms = RoomState | ChatLine | LobbyChange | LiveBoards | Replaced | Moved | Closed

Push = _Answer | _OfRooms | Notice | Announcement | EventPush | ChallengePush | Rated
