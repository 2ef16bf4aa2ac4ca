"""Requests and messages of events, which are tournaments.

See `docs/protocol/tournaments.md`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import (
    ClockFields,
    ClockState,
    ClockTerms,
    Count,
    PushFields,
    RequestFields,
    RulesChoice,
    RulesState,
    ShortText,
    Word,
)

MAX_ENTRANTS: Final = 200
MAX_ROUNDS: Final = 50
MAX_TITLE_LENGTH: Final = 60
MIN_READY_MS: Final = 1_000
MAX_READY_MS: Final = 60 * 60 * 1000
BREAK_MS: Final = 5_000
MAX_BREAK_MS: Final = 10 * 60 * 1000

EVENT_KINDS: Final = ("round_robin", "swiss", "knock_out")
EVENT_STATUSES: Final = ("open", "running", "paused", "over", "void")
ENTRANT_STATUSES: Final = ("in", "away", "out", "expelled")
PAIRING_STATES: Final = ("due", "open", "scored")
SCORED_BY: Final = ("game", "forfeit", "bye", "organiser")

EventKind = Annotated[str, Meta(examples=list(EVENT_KINDS))]
EventStatus = Annotated[str, Meta(examples=list(EVENT_STATUSES))]
EntrantStatus = Annotated[str, Meta(examples=list(ENTRANT_STATUSES))]
PairingState = Annotated[str, Meta(examples=list(PAIRING_STATES))]
ScoredBy = Annotated[str, Meta(examples=list(SCORED_BY))]
MatchDecidedBy = Annotated[str, Meta(examples=["draw"])]
PairingResult = Annotated[str, Meta(examples=["X", "O", "draw", "none"])]

PairingId = Annotated[str, Meta(min_length=1, max_length=32)]
RunAction = Literal["begin", "next", "pause", "resume", "expel", "forfeit", "void", "close", "add", "cards"]


class EventOpen(RequestFields, frozen=True, tag="event_open"):
    """Opens an event; the sender is its organiser.

    Attributes:
        rounds: The number of rounds, for a Swiss only.
        entry: ``open`` to all, with a ``code`` (the `ticket` of the answer), or for the names of the `roster`, each
            with a card.
        start: ``full`` starts the event when `size` players have entered, ``hand`` when the organiser says so.
        advance: Whether the next round starts `break_ms` after the last result, or by ``hand``.
        ready_ms: The time within which a first move is due.
        late_until: The last round before which players may still enter.
    """

    kind: Literal["round_robin", "swiss", "knock_out"]
    title: Annotated[str, Meta(min_length=1, max_length=MAX_TITLE_LENGTH)]
    clock: ClockFields
    rules: RulesChoice | UnsetType = UNSET
    double: bool = False
    rounds: Annotated[int, Meta(ge=1, le=MAX_ROUNDS)] | UnsetType = UNSET
    entry: Literal["open", "code", "roster"] = "open"
    roster: Annotated[tuple[Word, ...], Meta(max_length=MAX_ENTRANTS)] = ()
    bots: Annotated[tuple[Word, ...], Meta(max_length=MAX_ENTRANTS)] = ()
    start: Literal["hand", "full"] = "hand"
    size: Annotated[int, Meta(ge=2, le=MAX_ENTRANTS)] | UnsetType = UNSET
    advance: Literal["auto", "hand"] = "auto"
    ready_ms: Annotated[int, Meta(ge=MIN_READY_MS, le=MAX_READY_MS)] = 60_000
    late_until: Annotated[int, Meta(ge=0, le=MAX_ROUNDS)] = 0
    break_ms: Annotated[int, Meta(ge=0, le=MAX_BREAK_MS)] = BREAK_MS
    chat: Literal["all", "players"] = "all"


class _EventRequest(RequestFields, frozen=True):
    event: ShortText


class EventJoin(_EventRequest, frozen=True, tag="event_join"):
    """Enters an event.

    Attributes:
        ticket: The code of the event or of a card; needed unless the event is open to all.
        name: The player's name in this event; a card has its own.
        here: Takes over a card that is in use on another device.
    """

    ticket: ShortText | UnsetType = UNSET
    name: Word | UnsetType = UNSET
    here: bool = False


class EventLeave(_EventRequest, frozen=True, tag="event_leave"):
    """Leaves an event; a running game is forfeited."""


class EventReady(_EventRequest, frozen=True, tag="event_ready"):
    """Pauses the sender's pairings, or ends the pause."""

    on: bool


class EventRun(_EventRequest, frozen=True, tag="event_run"):
    """An action of the organiser; `seq` is that of the newest state. ``cards`` returns the cards of a roster."""

    seq: Count
    action: RunAction
    player: ShortText | UnsetType = UNSET
    pairing: PairingId | UnsetType = UNSET
    name: Word | UnsetType = UNSET


class EventWatch(_EventRequest, frozen=True, tag="event_watch"):
    """Subscribes to an event's states, or ends the subscription.

    Attributes:
        key: The event's wall key, or its code, which shows names on a server that hides them.
    """

    on: bool
    key: ShortText | UnsetType = UNSET


class Events(RequestFields, frozen=True, tag="events"):
    """Asks for the open and running events."""


EventRequest = EventOpen | EventJoin | EventLeave | EventReady | EventRun | EventWatch | Events


class EventSummary(Struct, frozen=True):
    """One row of the list of events; `players` is the number of entrants."""

    event: str
    title: str
    kind: EventKind
    status: EventStatus
    round: int
    players: int


class Card(Struct, frozen=True):
    """A card: the `ticket` admits the roster's player of this `name`."""

    name: str
    ticket: str


class EventHead(Struct, frozen=True, omit_defaults=True):
    """The terms of an event.

    Attributes:
        organisers: Ids of the organisers.
        players: The number of entrants.
        present: How many of the entrants are connected.
        rounds: The number of rounds in all, 0 while it is unknown.
        expected: The number of names of the roster that have not entered yet and still may.
    """

    title: str
    kind: EventKind
    rules: RulesState
    clock: ClockTerms
    organisers: tuple[str, ...]
    players: int
    present: int
    rounds: int = 0
    double: bool = False
    entry: str = "open"
    size: int | UnsetType = UNSET
    start: str = "hand"
    advance: str = "auto"
    ready_ms: int = 60_000
    late_until: int = 0
    break_ms: int = BREAK_MS
    expected: int = 0


class EventRow(Struct, frozen=True, omit_defaults=True):
    """One row of the table; each tie-break in `tie` has a name, a value, and the sum that produced it."""

    place: int
    player: str
    name: str
    bot: str | None
    points: float
    played: int
    tie: tuple[tuple[str, float, str], ...]
    status: EntrantStatus = "in"


class EventPairing(Struct, frozen=True, omit_defaults=True):
    """A pairing of an event.

    Attributes:
        players: Player ids by mark; a single player has a bye.
        result: A mark, ``draw``, or ``none`` for 0-0.
        game_id: Only once the game is over.
        room: Only while the room is open or its game can still be seen.
    """

    id: str
    round: int
    players: dict[str, str]
    names: dict[str, str]
    state: PairingState
    result: PairingResult | None = None
    reason: str | None = None
    by: ScoredBy | None = None
    game_id: str | None = None
    room: str | UnsetType = UNSET


class EventGame(Struct, frozen=True):
    """The progress of an open pairing's game."""

    ply: int
    turn: str | None
    clock: ClockState | UnsetType = UNSET


class EventMatch(Struct, frozen=True, omit_defaults=True):
    """One match of a knock-out.

    Attributes:
        players: The ids of both players, None if undecided; a single player has a bye.
        names: The names, in the order of `players`.
        points: The points of both, in the order of `players`.
        goes_on: The id of the winner, None while undecided.
        by: ``draw`` if the players' numbers decided a level match.
    """

    players: tuple[str | None, ...]
    names: tuple[str | None, ...]
    points: tuple[float, ...] = ()
    goes_on: str | None = None
    by: MatchDecidedBy | None = None


class EventState(PushFields, frozen=True, tag="event"):
    """An event: the top of the table and the recipient's row, and this round's pairings, the recipient's first.

    Attributes:
        due_ms: The time until the next round begins, or until the current wait ends; None if nothing is due.
        needed: In an event that is paused because no player was present, how many people must be present for it to go
            on; left out otherwise.
        expected: Names of the roster that have not entered yet; left out if there are none.
        away: How long absent players have been disconnected, in ms by player id; left out if there are none.
        games: The running games by pairing; left out if there are none.
        bracket: The last rounds of a knock-out and those to come.
        key: The wall key, on a server that hides names from people without a part in the event; left out for these.
    """

    event: str
    seq: int
    status: EventStatus
    round: int
    due_ms: int | None
    head: EventHead
    table: tuple[EventRow, ...]
    pairings: tuple[EventPairing, ...]
    needed: int | UnsetType = UNSET
    expected: tuple[str, ...] | UnsetType = UNSET
    away: dict[str, int] | UnsetType = UNSET
    games: dict[str, EventGame] | UnsetType = UNSET
    bracket: tuple[tuple[EventMatch, ...], ...] | UnsetType = UNSET
    key: str | UnsetType = UNSET


class EventRows(PushFields, frozen=True, tag="event_rows", kw_only=True):
    """The changes of an event since the previous message: rows of the table, and pairings.

    `needed`, `away` and `games` are complete, and left out if empty; `bracket` is left out if unchanged.
    """

    event: str
    seq: int
    status: EventStatus
    round: int
    due_ms: int | None
    present: int
    rows: tuple[EventRow, ...]
    pairings: tuple[EventPairing, ...]
    needed: int | UnsetType = UNSET
    away: dict[str, int] | UnsetType = UNSET
    games: dict[str, EventGame] | UnsetType = UNSET
    bracket: tuple[tuple[EventMatch, ...], ...] | UnsetType = UNSET


class Call(PushFields, frozen=True, tag="call"):
    """A call to a board: the player has `due_ms` to join the room and play `mark`."""

    event: str
    pairing: str
    room: str
    mark: str
    against: str
    due_ms: int


EventPush = EventState | EventRows | Call


def round_of(pairing: str) -> str:
    """Return the name of a pairing in records: its round and its number in it.

    >>> round_of("r3-2")
    '3.2'
    """
    return pairing.removeprefix("r").replace("-", ".")


def id_of(pairing: str) -> str:
    """Return the id of a pairing from its id or its name in records.

    >>> id_of("3.2"), id_of("r3-2")
    ('r3-2', 'r3-2')
    """
    return "r" + round_of(pairing).replace(".", "-")
