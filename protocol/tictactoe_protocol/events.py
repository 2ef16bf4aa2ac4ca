"""The requests and pushes for tournaments, which the protocol calls events.

See `docs/reference/protocol/tournaments.md`.
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
MAX_ROSTER_LENGTH: Final = 14_000
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
    """Opens a tournament with the sender as its organiser.

    Attributes:
        double: Whether the players in a round robin meet twice.
        rounds: The number of rounds, only for a Swiss.
        entry: ``open`` lets everyone enter, ``code`` people with the `ticket` in the reply, and ``roster`` the people
            named in `roster`, each with a card.
        bots: The levels of the server's bots that take part.
        start: ``full`` starts the tournament when `size` players have entered, ``hand`` when the organiser begins it.
        advance: ``auto`` starts the next round `break_ms` after the last result, ``hand`` when the organiser does.
        ready_ms: The time for each player's first move.
        late_until: The last round that still lets new players enter.
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


class EventPlan(RequestFields, frozen=True, tag="event_plan"):
    """Asks what a tournament with these terms would be, without opening it; see `EventOpen`.

    Attributes:
        roster: A pasted list of names, or of people in columns.
    """

    kind: Literal["round_robin", "swiss", "knock_out"]
    clock: ClockFields
    rules: RulesChoice | UnsetType = UNSET
    double: bool = False
    rounds: Annotated[int, Meta(ge=1, le=MAX_ROUNDS)] | UnsetType = UNSET
    roster: Annotated[str, Meta(max_length=MAX_ROSTER_LENGTH)] = ""
    bots: Annotated[tuple[Word, ...], Meta(max_length=MAX_ENTRANTS)] = ()
    break_ms: Annotated[int, Meta(ge=0, le=MAX_BREAK_MS)] = BREAK_MS


class _EventRequest(RequestFields, frozen=True):
    event: ShortText


class EventJoin(_EventRequest, frozen=True, tag="event_join"):
    """Enters a tournament, or returns to it.

    Attributes:
        ticket: The code of the tournament or of a card; required unless the tournament is open to everyone.
        name: The player's name in this tournament. A card has its own name.
        here: Whether to take over a card that is in use on another device.
    """

    ticket: ShortText | UnsetType = UNSET
    name: Word | UnsetType = UNSET
    here: bool = False


class EventLeave(_EventRequest, frozen=True, tag="event_leave"):
    """Leaves a tournament, and forfeits a running game in it."""


class EventReady(_EventRequest, frozen=True, tag="event_ready"):
    """Pauses the sender, whom a Swiss then pairs only if the others need it, or with `on` true ends the pause."""

    on: bool


class EventRun(_EventRequest, frozen=True, tag="event_run"):
    """Runs a tournament as its organiser.

    Attributes:
        seq: The `seq` of the newest state that the sender has seen.
        action: What to do. ``cards`` returns the cards of the roster.
        player: The player to expel, or the loser of the `pairing`.
        pairing: The pairing to forfeit or to make void.
        name: The name to add to the roster, or, with ``expel`` and no player, the unused name to remove from it.
    """

    seq: Count
    action: RunAction
    player: ShortText | UnsetType = UNSET
    pairing: PairingId | UnsetType = UNSET
    name: Word | UnsetType = UNSET


class EventWatch(_EventRequest, frozen=True, tag="event_watch"):
    """Subscribes to the states of a tournament, or ends the subscription.

    Attributes:
        on: True to subscribe, False to unsubscribe.
        key: The secret key for a display on a wall, or the tournament's `ticket`. Only servers that hide names need
            one of them, to send the names.
    """

    on: bool
    key: ShortText | UnsetType = UNSET


class Events(RequestFields, frozen=True, tag="events"):
    """Asks for the open and running tournaments."""


EventRequest = EventOpen | EventPlan | EventJoin | EventLeave | EventReady | EventRun | EventWatch | Events


class PlannedEvent(Struct, frozen=True):
    """What a tournament would be.

    Attributes:
        names: The names in the roster.
        kind: The requested kind, or ``swiss`` if only a Swiss takes this many players.
        text: Players, rounds and rough duration in the language of `Hello`; "" for fewer than two players.
    """

    names: tuple[str, ...]
    kind: str
    text: str


class EventSummary(Struct, frozen=True):
    """A row in the list of tournaments; `players` is the number of entrants."""

    event: str
    title: str
    kind: EventKind
    status: EventStatus
    round: int
    players: int


class Card(Struct, frozen=True):
    """A card, whose `ticket` admits the player with this `name` in the roster."""

    name: str
    ticket: str


class EventHead(Struct, frozen=True, omit_defaults=True):
    """The terms of a tournament; see `EventOpen` for its options.

    Attributes:
        organisers: The ids of the organisers.
        players: The number of entrants.
        present: The number of entrants who are connected.
        rounds: The total number of rounds, or 0 while it is unknown.
        expected: The number of people in the roster who have not entered yet and still may.
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
    """A row of the table.

    Attributes:
        player: The id of the player.
        played: The number of games played.
        tie: The tie-breaks, each with its name, its value, and the sum that produced the value.
    """

    place: int
    player: str
    name: str
    bot: str | None
    points: float
    played: int
    tie: tuple[tuple[str, float, str], ...]
    status: EntrantStatus = "in"


class EventPairing(Struct, frozen=True, omit_defaults=True):
    """A pairing in a tournament.

    Attributes:
        players: The ids of the players by mark; a single player has a bye.
        names: The names of the players by mark.
        result: The winner's mark, ``draw``, or ``none`` for 0-0.
        reason: How the game ended.
        by: What decided the result.
        game_id: The id of the game, once it is over.
        room: The code of the room, which may have closed.
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
    """The progress of the game in an open pairing."""

    ply: int
    turn: str | None
    clock: ClockState | UnsetType = UNSET


class EventMatch(Struct, frozen=True, omit_defaults=True):
    """A match in a knock-out.

    Attributes:
        players: The ids of both players, each None until it is known; a single player has a bye.
        names: The names of the players, in the order of `players`.
        points: The points of the players, in the order of `players`.
        goes_on: The id of the winner, or None until the match is decided.
        by: ``draw`` if the match was level and the players' starting numbers decided it.
    """

    players: tuple[str | None, ...]
    names: tuple[str | None, ...]
    points: tuple[float, ...] = ()
    goes_on: str | None = None
    by: MatchDecidedBy | None = None


class EventState(PushFields, frozen=True, tag="event"):
    """The state of a tournament.

    Attributes:
        event: The code of the tournament.
        due_ms: The time until the next round begins or the current wait ends, or None if nothing is due.
        table: The top of the table, and the recipient's row.
        pairings: The pairings in this round, the recipient's first.
        needed: If the tournament is paused because all players were absent, the number of players who must be present
            for it to go on; otherwise left out.
        expected: The names in the roster that have not entered yet; left out if there are none.
        away: How long each absent player has been disconnected, in ms by player id; left out if all are present.
        games: The running games by the id of their pairing; left out if there are none.
        bracket: The last rounds of a knock-out, and the rounds to come.
        key: The wall key, if the server hides names; left out for recipients who may not see them.
        may: The possible requests, in display order, of an ``organiser``, of a player by status, of the holder of an
            unused ``card``, and of others under "".
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
    may: dict[str, tuple[str, ...]] | UnsetType = UNSET


class EventRows(PushFields, frozen=True, tag="event_rows", kw_only=True):
    """The changes to a tournament since the previous message: the changed rows of the table and pairings.

    `needed`, `away` and `games` are complete and left out if empty; `bracket` and `may` are left out if unchanged.
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
    may: dict[str, tuple[str, ...]] | UnsetType = UNSET


class Call(PushFields, frozen=True, tag="call"):
    """Calls the recipient to a tournament game.

    Attributes:
        mark: The mark that the recipient plays.
        against: The name of the opponent.
        due_ms: The time left for joining the room; 0 if another connection of the recipient is there.
    """

    event: str
    pairing: str
    room: str
    mark: str
    against: str
    due_ms: int


EventPush = EventState | EventRows | Call


def round_of(pairing: str) -> str:
    """Return how records name a pairing: its round and its number in the round.

    >>> round_of("r3-2")
    '3.2'
    """
    return pairing.removeprefix("r").replace("-", ".")


def id_of(pairing: str) -> str:
    """Return the id of a pairing from the id itself or from the pairing's name in records.

    >>> id_of("3.2"), id_of("r3-2")
    ('r3-2', 'r3-2')
    """
    return "r" + round_of(pairing).replace(".", "-")
