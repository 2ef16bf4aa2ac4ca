"""The messages from the server: replies to requests, states of rooms, and notices.

Later servers of this protocol version may add fields, types and values. So clients ignore unknown fields and types, and
display unknown values as they are. For the same reason, statuses and reasons are plain strings here, with the known
values as examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.challenges import ChallengePush, OpenChallenge
from tictactoe_protocol.days import DayPush, Turn
from tictactoe_protocol.events import Call, Card, EventPush, EventSummary, PlannedEvent
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
HAPPENING_TYPES: Final = (
    *("moved", "chose", "out", "offered", "declined", "withdrawn", "lapsed", "taken back"),
    *("joined", "left", "dropped", "back", "renamed", "ended", "began"),
)
HappeningType = Annotated[str, Meta(examples=list(HAPPENING_TYPES))]
OpeningStep = Annotated[str, Meta(examples=["place", "choose"])]
OUT_REASONS: Final = ("resigned", "late", "left", "away")
OutReason = Annotated[str, Meta(examples=[*OUT_REASONS, "move", "taking back"])]
OfferKind = Annotated[str, Meta(examples=["draw", "undo", "rematch"])]
OfferEnd = Annotated[str, Meta(examples=["declined", "withdrawn"])]
ValueKind = Annotated[str, Meta(examples=["win", "draw", "loss", "unknown"])]

Datum = str | int | bool | list[str | int] | None
"""A value in `data`, which contains the parts of a sentence for programs that form their own sentences."""

GUEST: Final = "guest"
"""The value of `bot` for a program that is not one of the server's own bots; those have their level."""


def is_server_bot(bot: str | None) -> bool:
    """Return whether a seat with this value of `bot` is played by the server itself."""
    return bot is not None and bot != GUEST


class SeatState(Struct, frozen=True, omit_defaults=True):
    """The player who holds a seat.

    Attributes:
        player: The id of the player.
        online: Whether the player is connected.
        bot: The level of a server's bot, `GUEST` for another program, or None for a person.
        hold_ms: For a disconnected player, how long the seat is still held.
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
        return self.bot is not None and self.bot != GUEST


class Result(Struct, frozen=True):
    """How a game ended.

    Attributes:
        winner: The winner's mark, or None if there is no winner.
        line: Every cell of the deciding lines; empty if no line decided.
    """

    winner: str | None
    reason: ResultReason
    line: tuple[int, ...] = ()


class EndedOffer(Struct, frozen=True):
    """An offer that was declined or withdrawn.

    Attributes:
        by: The mark that declined or withdrew it.
        how: ``declined`` or ``withdrawn``.
    """

    by: str
    how: OfferEnd


class Happening(Struct, frozen=True, omit_defaults=True):
    """An event in the change to a state. `type` says which of the other fields there are.

    - ``moved``: `mark` was placed on `cell`; in an opening, `by` is the mark of the player, if it is another one.
    - ``chose``: the player who had `mark` chose `take` in the opening: a mark or ``more``. Taking the other mark swaps
      the seats.
    - ``out``: the player with `mark` is out of this game; `why` is the reason.
    - ``offered``, ``declined``, ``withdrawn``: `mark` offered a draw, an undo of `cells` or a rematch (`kind`), or
      ended such an offer.
    - ``lapsed``: the offer of `mark` ended because of a ``move`` or a ``taking back`` (`why`) or another event.
    - ``taken back``: the moves on `cells` were taken back, as `mark` had asked.
    - ``joined``, ``left``, ``dropped``, ``back``: a player took a seat, left it for good, lost the connection, or came
      back; the first two have a `name`.
    - ``renamed``: the player with `mark`, who was called `before`, is called `name` now.
    - ``ended``: the game ended with `result`.
    - ``began``: the game with the number `game` began. In a later game of the room, the seats may have moved on.
    """

    type: HappeningType
    mark: str | UnsetType = UNSET
    why: OutReason | UnsetType = UNSET
    take: str | UnsetType = UNSET
    cell: int | UnsetType = UNSET
    by: str | UnsetType = UNSET
    kind: OfferKind | UnsetType = UNSET
    cells: tuple[int, ...] | UnsetType = UNSET
    name: str | UnsetType = UNSET
    before: str | UnsetType = UNSET
    result: Result | UnsetType = UNSET
    game: int | UnsetType = UNSET


class OpeningState(Struct, frozen=True):
    """An undecided opening and the next step of the player to move.

    Attributes:
        rule: ``pie`` or ``swap2``.
        step: ``place`` a mark, or ``choose`` one of the `options`.
        places: The mark to place next; None in the step ``choose``.
        left: The number of marks to place before the next choice.
        options: The options to choose from: marks, and possibly ``more``; empty in the step ``place``.
    """

    rule: str
    step: OpeningStep
    places: str | None
    left: int
    options: tuple[str, ...]


def opening_state(position: Position) -> OpeningState | UnsetType:
    """Return the opening in a position as in messages, or `UNSET` if it is decided or there is none."""
    opening = position.opening
    if opening is None:
        return UNSET
    return OpeningState(opening.rule, opening.step, opening.places, opening.left, opening.options)


class OpeningChoice(Struct, frozen=True):
    """A choice in an opening.

    Attributes:
        ply: The number of moves before the choice.
        by: The current mark of the player who chose.
        mark: The mark that the player had before.
        take: The chosen mark, or ``more``.
    """

    ply: int
    by: str
    mark: str
    take: str


def opening_fields(position: Position, *, is_over: bool) -> dict[str, Any]:
    """Return the fields of a message about the opening of a game, without empty ones."""
    opening = UNSET if is_over else opening_state(position)
    choices = tuple(OpeningChoice(ply, position.sits_now(mark), mark, take) for ply, mark, take in position.choices)
    end = position.ply if position.opening else choices[-1].ply if choices else 0
    placed = "".join(map(position.player_of, range(end)))
    fields = {"opening": opening, "chosen": position.chosen, "choices": choices, "placed": placed}
    return {name: value for name, value in fields.items() if value}


class Offers(Struct, frozen=True):
    """The open offers.

    Attributes:
        draw: The mark that offers a draw, or None.
        undo: The mark that asks to take back a move, or None.
        rematch: The marks that have asked for a rematch.
        ended: The offers declined or withdrawn in this position, by kind; left out if there are none.
    """

    draw: str | None = None
    undo: str | None = None
    rematch: tuple[str, ...] = ()
    ended: dict[str, EndedOffer] | UnsetType = UNSET


class RoomState(PushFields, frozen=True, tag="room"):
    """The complete state of a room, the same for all players and watchers. See `docs/reference/protocol.md`.

    Attributes:
        seq: The number of the state, which grows with every change.
        game: The number of the game in this room, from 1.
        ply: The number of moves on the board.
        turn: The mark to move, or None.
        last: The cell of the last move, or None.
        seats: The player of each mark, or None for a free seat.
        score: The number of games won, by player id, and under ``draws`` the number of draws.
        analysis: ``open`` if the room was opened with this option, otherwise left out.
        chat: ``players`` if the room was opened with this option, otherwise left out.
        moves: The cells played in the current game, in order.
        may: The names of the requests that each mark may make now, in display order. Empty for free seats.
        news: The events in the change to this `seq`, in display order.
        opening: The opening, while it is undecided.
        chosen: What was chosen in the opening, in order.
        choices: The same choices, with the players who made them.
        placed: The current mark of the player who made each move of the opening.
        event: The code of the tournament, in a room for a tournament game.
        pairing: The id of the pairing, in a room for a tournament game.
        game_id: The id of the game, once it is over and stored.
        rated: True if the games in this room are rated, otherwise left out.
        since: For watchers, the `seq` that the news follow, if states in between were not sent.
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
    moves: tuple[int, ...] = ()
    may: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    news: tuple[Happening, ...] = ()
    analysis: str | UnsetType = UNSET
    chat: str | UnsetType = UNSET
    opening: OpeningState | UnsetType = UNSET
    chosen: tuple[str, ...] | UnsetType = UNSET
    event: str | UnsetType = UNSET
    pairing: str | UnsetType = UNSET
    game_id: str | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    since: int | UnsetType = UNSET
    choices: tuple[OpeningChoice, ...] | UnsetType = UNSET
    placed: str | UnsetType = UNSET

    @property
    def counts_days(self) -> bool:
        """Whether the players need not be connected at the same time; see `ClockTerms`."""
        return self.time_control is not None and self.time_control.counts_days


class ListedRoom(Struct, frozen=True):
    """The common fields of a public room in a list."""

    room: str
    status: RoomStatus
    rules: RulesState
    clock: ClockTerms | None
    seats: dict[str, SeatState | None]
    ply: int
    watchers: int


class RoomSummary(ListedRoom, frozen=True):
    """A row in the list of public rooms.

    Attributes:
        seats: The player of each mark, or None for a free seat.
        age_ms: The time since the room was opened.
        host_rating: The rounded rating of the player who is waiting in a rated room.
        host_provisional: True if that rating is provisional; clients show it with a question mark.
    """

    age_ms: int
    analysis: str | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    host_rating: int | UnsetType = UNSET
    host_provisional: bool | UnsetType = UNSET


class PastPlayer(Struct, frozen=True, omit_defaults=True):
    """A player in a finished game, with the name at that time; `bot` is as in `SeatState`."""

    player: str
    name: str
    bot: str | None = None


class PastGame(Struct, frozen=True):
    """A finished game in a player's history.

    Attributes:
        at: The end of the game, in ms since 1970.
        players: The players by mark.
        moves: The number of moves.
        event: The code of the tournament, for a tournament game.
        pairing: The id of the pairing, for a tournament game.
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
        games: Up to 20 rated games, newest first.
        with_: The results of the player who sent the request against this player.
        text: In an answer, `with_` as a sentence in the language of `Hello`, or "".
    """

    player: str
    name: str
    ladders: tuple[LadderStanding, ...]
    games: tuple[PastGame, ...]
    with_: Encounters | UnsetType = UNSET
    text: str = ""


class PlayedGame(Struct, frozen=True, omit_defaults=True):
    """A finished game with its moves; all other fields are as in `PastGame`.

    Attributes:
        board: The final board.
        moves: The cells played, in order.
        passed: The players who were skipped, each as the number of moves made before and the mark.
        chosen: What was chosen in the opening, in order; `choices` and `placed` are as in `RoomState`.
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
    choices: tuple[OpeningChoice, ...] = ()
    placed: str = ""


class CellValue(Struct, frozen=True, omit_defaults=True):
    """The value of a position or a move for the player to move.

    Attributes:
        plies: For ``win`` and ``loss``, the number of moves of all players to the end of the game.
        estimate: A number from -1 (lost) to 1 (won); exact unless the kind is ``unknown``.
        text: For a cell, the value in the language of `Hello`, or "".
        sign: The same in short, such as ``+3`` or ``~``.
    """

    kind: ValueKind
    plies: int | None = None
    estimate: float = 0.0
    text: str = ""
    sign: str = ""

    @classmethod
    def of(cls, value: Value) -> CellValue:
        return cls(value.kind, value.plies, value.estimate)


class PlayedMove(Struct, frozen=True):
    """A judgement of the move that was played.

    Attributes:
        kind: A mistake gives away a win or a draw, a slip something less; other moves are the best or fine.
        lost: How much the value of the position fell, from 0 to 2.
        text: A comparison with the best move, or "".
    """

    kind: Literal["best", "fine", "slip", "mistake"]
    lost: float
    text: str


class AnalysisState(Struct, frozen=True, omit_defaults=True):
    """The analysis of the position after `ply` moves.

    Attributes:
        turn: The mark to move, or None at the end of the game.
        value: The value of the position for `turn`.
        cells: The value of each legal cell; empty at the end of the game, and if a choice is due.
        best: The best cells; empty if the value is unknown and more than half of the cells seem equally good.
        solved: Whether every value is exact.
        options: The value of each option, if a choice in an opening is due.
        best_options: The options with the best value.
        before: The analysis of the position before the choice, if a choice was made at this `ply`.
        text: The value and the best moves in the language of `Hello`.
        played: The next move of the game, if `Hello` had a language and the move's value is known.
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
    text: str | UnsetType = UNSET
    played: PlayedMove | UnsetType = UNSET

    @classmethod
    def of(cls, position: Position, found: Analysis, before: AnalysisState | UnsetType = UNSET) -> AnalysisState:
        """Return the analysis `found` of `position` as in messages; for `before`, see `AnalysisState`."""
        cells = {cell: CellValue.of(value) for cell, value in found.cells.items()}
        options = {take: CellValue.of(value) for take, value in found.options.items()}
        value = CellValue.of(found.value)
        best = (deciding(found.best_cells, cells, value), found.is_solved, options, found.best_options, before)
        return cls(position.ply, position.turn, value, cells, *best)


def deciding(best: Sequence[int], cells: Collection[int], value: CellValue) -> tuple[int, ...]:
    """Return `best`, or no cells if the value is unknown and more than half of the cells are equally good."""
    is_undecided = value.kind == "unknown" and 1 < len(best) > len(cells) / 2
    return () if is_undecided else tuple(best)


class HeldSeat(Struct, frozen=True):
    """A seat that the player holds in a room whose game is not over.

    Attributes:
        seat: The player's mark.
        names: The names of the players by mark; empty for a game over days that nobody has open.
        turn: The mark to move, or None while the room is waiting; left out if another server has the room.
    """

    room: str
    seat: str
    rules: RulesState
    names: dict[str, str]
    turn: str | UnsetType | None = UNSET


class Welcome(PushFields, frozen=True, tag="welcome", kw_only=True):
    """The reply to `Hello`. It also tells clients which features the operator has switched off.

    Attributes:
        protocol: The version of the protocol.
        server: The name and version of the server program.
        player: The player's public id.
        token: The secret that makes a later connection the same player again.
        rooms: The player's seats in rooms whose games are not over.
        hold_ms: How long this server holds the seat of a disconnected player.
        sharing: Whether finished games can be shared.
        ladders: The names of the rules that have a ladder; empty if no games are rated.
        held_ms: For the rooms that the player is away from, how long the player's seat is still held, by room code.
        servers: The URLs of the running servers in the cluster, this server first; left out by a single server.
        cluster: The id of the cluster. Players and tokens are valid on all of its servers.
        calls: The tournament games that wait for the player.
        claimed: True if the player has claimed this `name`, false if another player has, otherwise left out.
        device_news: ``device_added`` or ``device_refused`` if the player has to know about newer devices.
        title: The server's name, chosen by its operator.
        greeting: A welcome text by the operator, which may have several lines.
        chat: ``off`` or ``sentences`` if chat is restricted.
        names: ``given`` if the server assigns the names of its players.
        opens_events: False if the operator has not allowed this player to open tournaments, otherwise left out.
        challenges: The open challenges to and from the player; left out if the server has no challenges.
        turns: The games over days that await the player's move, the longest wait first; left out if the server has
            no such games.
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
    turns: tuple[Turn, ...] | UnsetType = UNSET


class Ok(PushFields, frozen=True, tag="ok", kw_only=True, omit_defaults=True):
    """The reply to a request that was carried out. Its fields depend on the request.

    Attributes:
        seats: The marks of the player and their guests, if there are guests.
        online: The number of people connected to this server, including the player.
        feed: The address of the player's Atom feed, or False without one.
        quiet: The minutes of the day (UTC) when the player's quiet hours begin and end.
        plan: The player's conditional moves.
        qr: A data URL with an SVG image.
        push_key: The server's public key for subscriptions to push messages, in base64url.
    """

    id: str
    room: str | UnsetType = UNSET
    seat: str | UnsetType | None = UNSET
    seats: tuple[str, ...] | UnsetType = UNSET
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
    event_plan: PlannedEvent | UnsetType = UNSET
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
    feed: str | bool | UnsetType = UNSET
    webhook: str | UnsetType | None = UNSET
    push: dict[str, Any] | UnsetType | None = UNSET
    push_key: str | UnsetType = UNSET
    quiet: tuple[int, int] | UnsetType | None = UNSET
    plan: tuple[tuple[int, ...], ...] | UnsetType = UNSET
    qr: str | UnsetType = UNSET


class Error(PushFields, frozen=True, tag="error", kw_only=True, omit_defaults=True):
    """The reply to a request that was refused and changed nothing.

    Attributes:
        code: An `ErrorCode`, or a code that only newer servers send.
        message: A sentence for people.
        path: The invalid field of the request.
        retry_ms: The time to wait before the request is sent again.
        url: The server that has the room; only with the code ``moved``.
        data: The values in the message; left out if the error would be too long.
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
    """A chat line in a room.

    Attributes:
        from_: The sender's name.
        seat: The sender's mark, or None for a watcher.
        text: The text, or the English words of `sentence`.
        at: The time in ms since 1970.
        player: The sender's public id.
        sentence: The id of the sentence, if the sender chose one.
    """

    room: str
    from_: str
    seat: str | None
    text: str
    at: int
    player: str
    sentence: str | UnsetType = UNSET


class LobbyChange(PushFields, frozen=True, tag="lobby"):
    """The changes to the list of public rooms since the previous message.

    Attributes:
        changed: The new and changed rows.
        closed: The codes of the rooms that are no longer in the list.
    """

    changed: tuple[RoomSummary, ...]
    closed: tuple[str, ...]


class LiveBoard(Struct, frozen=True):
    """The board of a public game; other fields are as in `RoomState`.

    Attributes:
        names: The names of the players by mark.
        result: The result, once the game is over.
        clock: The clock at the last change of the board, if the room has a clock.
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
    """The boards of running public games, which replace all boards sent earlier.

    Attributes:
        demo: A game between bots, if there is no other board and the subscriber asked for it. Its `room` is empty.
    """

    boards: tuple[LiveBoard, ...]
    demo: LiveBoard | UnsetType = UNSET


class Replaced(PushFields, frozen=True, tag="replaced"):
    """A newer connection of the same player has taken over the seat.

    Attributes:
        by_card: Whether another player has the seat instead, who used the same card of a tournament.
    """

    room: str
    by_card: bool = False


class Moved(PushFields, frozen=True, tag="moved"):
    """Another server has taken over the room; players and watchers continue at `url`."""

    room: str
    url: str


class Closed(PushFields, frozen=True, tag="closed"):
    """The room was closed. `reason` is for people; `code` and `data` say the same for programs."""

    room: str
    reason: str
    code: str
    data: dict[str, Datum]


class Notice(PushFields, frozen=True, tag="notice"):
    """The server is shutting down.

    Attributes:
        code: ``restarting``, to reconnect after `retry_ms`, or ``stopping``, not to reconnect.
        in_ms: The longest time that the server waits for running games to end, or None for no limit; left out if it
            does not wait.
    """

    code: str
    retry_ms: int
    in_ms: int | UnsetType | None = UNSET


class Announcement(PushFields, frozen=True, tag="announcement"):
    """A message from the operator to all players, or with a `code` from the server to this player.

    Attributes:
        at: The time in ms since 1970.
    """

    text: str
    at: int
    code: str | UnsetType = UNSET


_Answer = Welcome | Ok | Error
_OfRooms = RoomState | ChatLine | LobbyChange | LiveBoards | Replaced | Moved | Closed

Push = _Answer | _OfRooms | Notice | Announcement | EventPush | ChallengePush | Rated | DayPush
