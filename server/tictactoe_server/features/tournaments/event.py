"""A tournament as an immutable value: entrants, pairings and results. Commands return the next value.

Tables and a player's record are folded from the pairings; nothing is a counter. Times are in ms of served time.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.events import (
    BREAK_MS,
    EntrantStatus,
    EventKind,
    EventOpen,
    EventStatus,
    PairingState,
)
from tictactoe_protocol.plans import count_rounds, fitting_kind, most_entrants
from tictactoe_protocol.pushes import is_server_bot
from tictactoe_protocol.room_codes import ROOM_CODE_ALPHABET, read_code
from tictactoe_protocol.standings import Game
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.people.confusables import keys_of
from tictactoe_server.rooms.room import Refused

_LEGIBLE: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", ROOM_CODE_ALPHABET)  # for base 32


class Entrant(Struct, frozen=True, omit_defaults=True):
    """A participant.

    Attributes:
        bot: The kind of bot, as in `SeatState`, or None.
        joined_round: The first round, 0 if expelled before the event began.
    """

    player: str
    name: str
    bot: str | None = None
    status: EntrantStatus = "in"
    joined_round: int = 1

    @property
    def is_server_bot(self) -> bool:
        return is_server_bot(self.bot)

    @property
    def is_gone(self) -> bool:
        return self.status in ("out", "expelled")


class Pairing(Struct, frozen=True, omit_defaults=True):
    """A game of a round, or a bye, which has one player.

    Attributes:
        players: The players' ids by mark at the beginning.
        match: The number of the match in its round.
        number: The number of the game in its match.
        room: The code of the room, assigned before the room is opened.
        result: The winner's mark, ``draw``, ``none`` for 0-0, or None while open.
        by: ``game``, ``forfeit``, ``bye`` or ``organiser``.
    """

    id: str
    round: int
    players: dict[str, str]
    match: int = 1
    number: int = 1
    room: str = ""
    state: PairingState = "due"
    result: str | None = None
    reason: str = ""
    game_id: str = ""
    by: str = ""
    opened_at: int = 0

    def mark_of(self, player: str) -> str | None:
        return next((mark for mark, one in self.players.items() if one == player), None)

    @property
    def is_bye(self) -> bool:
        return len(self.players) == 1

    @property
    def told(self) -> dict[str, Any]:
        """The public fields, as the wire and the texts name them."""
        known = {name: getattr(self, name) for name in ("id", "round", "players", "state", "result")}
        return known | {name: getattr(self, name) or None for name in ("reason", "by", "game_id")}

    @property
    def winner(self) -> str | None:
        return self.players.get(self.result or "")

    def scored(self, result: str, by: str, reason: str = "", game_id: str = "") -> Pairing:
        return replace(self, state="scored", result=result, by=by, reason=reason, game_id=game_id)

    def result_for(self, player: str) -> int:
        """Return a player's half points from a scored pairing."""
        return 1 if self.result == "draw" else 2 * (self.winner == player)


def pair_up(round: int, pairs: Iterable[tuple[str, str]], marks: str, *, bye: str = "none") -> tuple[Pairing, ...]:
    """Return the pairings of a round from pairs of ids in the order of the marks.

    A player paired with "" has a bye with the result `bye`: the first mark for a point.
    """
    pairings = []
    for match, pair in enumerate(pairs, 1):
        players = {mark: player for mark, player in zip(marks, pair, strict=True) if player}
        one = Pairing(f"r{round}-{match}", round, players, match)
        pairings.append(one.scored(bye, "bye") if one.is_bye else one)
    return tuple(pairings)


class Event(Struct, frozen=True, omit_defaults=True):
    """An event; `EventOpen` describes its terms.

    Attributes:
        seed: Seed of the draw by lot.
        secret: The key from which tickets are derived.
        rounds: The requested number of rounds, 0 if unspecified.
        roster: The names that have cards.
        round: The number of the latest round, 0 before the first.
        seq: Grows with every change.
        due_at: When the next round begins automatically.
        is_deserted: Whether the event is paused because no player was present.
    """

    code: str
    title: str
    kind: EventKind
    rules: RulesState
    clock: ClockFields
    organisers: tuple[str, ...]
    seed: int
    secret: str
    opened_at: int
    double: bool = False
    rounds: int = 0
    entry: str = "open"
    roster: tuple[str, ...] = ()
    start: str = "hand"
    size: int = 0
    advance: str = "auto"
    ready_ms: int = 60_000
    late_until: int = 0
    break_ms: int = BREAK_MS
    chat: str = "all"
    entrants: tuple[Entrant, ...] = ()
    pairings: tuple[Pairing, ...] = ()
    status: EventStatus = "open"
    round: int = 0
    seq: int = 1
    due_at: int | None = None
    is_deserted: bool = False

    @property
    def marks(self) -> str:
        return self.rules.marks

    @property
    def opening(self) -> str | None:
        """The opening; in a knock-out, that of a match's last games."""
        return self.rules.opening or ("pie" if self.kind == "knock_out" else None)

    @property
    def limit(self) -> int:
        most = most_entrants(self.kind)
        return min(self.size or most, most)

    @property
    def field(self) -> tuple[Entrant, ...]:
        """All current and former participants, by number."""
        return tuple(one for one in self.entrants if one.joined_round)

    @property
    def people(self) -> tuple[str, ...]:
        """The ids of the people who are playing, and have not paused for themselves."""
        return tuple(one.player for one in self.field if one.status == "in" and not one.is_server_bot)

    @property
    def needed(self) -> int:
        """How many people must be present for a deserted event to go on: half, but at least two; 0 for other events."""
        people = len(self.people) if self.is_deserted and self.status == "paused" else 0
        return min(people, max(2, (people + 1) // 2))

    @property
    def is_over(self) -> bool:
        return self.status in ("over", "void")

    @property
    def all_rounds(self) -> int:
        """The total number of rounds, 0 while unknown."""
        players = len([one for one in self.field if one.joined_round == 1])
        if self.status == "open" or players < 2:
            return self.rounds
        return count_rounds(self.kind, players, double=self.double, rounds=self.rounds)

    @property
    def takes_entrants(self) -> bool:
        if self.status == "open" or self.is_over:
            return self.status == "open"
        is_late = self.round and (self.round > self.late_until or self.round >= self.all_rounds)
        return not is_late and len(self.entrants) < self.limit

    @property
    def expected(self) -> tuple[str, ...]:
        known = {one.name for one in self.entrants}
        return tuple(name for name in self.roster if name not in known)

    def entrant(self, player: str) -> Entrant | None:
        return next((one for one in self.entrants if one.player == player), None)

    def pairing(self, id: str) -> Pairing | None:
        return next((one for one in reversed(self.pairings) if one.id == id), None)  # open pairings are the last

    @property
    def open_pairings(self) -> list[Pairing]:
        """The pairings without a result; ``due`` pairings need a room."""
        return [one for one in self.pairings if one.state != "scored"]

    def pairings_of(self, player: str) -> list[Pairing]:
        return [one for one in self.pairings if player in one.players.values()]

    def in_round(self, round: int) -> list[Pairing]:
        return [one for one in self.pairings if one.round == round]

    def sitting_in(self, pairing: Pairing) -> dict[str, Entrant]:
        known = {one.player: one for one in self.entrants}
        return {mark: known[id] for mark, id in pairing.players.items()}

    def ticket_of(self, name: str = "") -> str:
        """Return the ticket for a name on the roster, or the event's own ticket if `name` is empty."""
        return digest(self.secret, f"{self.code}:{name}").translate(_LEGIBLE)

    def is_ticket(self, ticket: str, name: str = "") -> bool:
        """Return whether a ticket, in any spelling, is that of a name or of the event."""
        return hmac.compare_digest(self.ticket_of(name).encode(), read_code(ticket).encode())

    @property
    def wall_key(self) -> str:
        """The key that shows names, ids and rooms to people without a part in the event."""
        return digest(self.secret, f"wall:{self.code}").translate(_LEGIBLE)

    def is_wall_key(self, key: str) -> bool:
        """Return whether a text, in any spelling, is the event's wall key, or the ticket that admits every player."""
        is_wall = hmac.compare_digest(self.wall_key.encode(), read_code(key).encode())
        return is_wall or (self.entry == "code" and self.is_ticket(key))

    def has_part(self, player: str) -> bool:
        return player in self.organisers or self.entrant(player) is not None

    @property
    def is_for_outsiders(self) -> bool:
        """Whether this value was made by `for_outsiders`; every other event has an organiser."""
        return not self.organisers

    def name_on(self, ticket: str) -> str:
        """Return the roster's name whose ticket this is, or ""."""
        return next((name for name in self.roster if self.is_ticket(ticket, name)), "")

    def holder_of(self, ticket: str) -> Entrant | None:
        name = self.name_on(ticket)
        return next((one for one in self.field if one.name == name and not one.is_server_bot and not one.is_gone), None)

    @property
    def voided(self) -> frozenset[str]:
        """The players who left a round robin before half of their games; none of these games count."""
        if self.kind != "round_robin" or self.status == "open":
            return frozenset()
        games = (len(self.field) - 1) * (2 if self.double else 1)
        return frozenset(
            one.player
            for one in self.field
            if one.is_gone and 2 * sum(pairing.by == "game" for pairing in self.pairings_of(one.player)) < games
        )

    def counted_games(self) -> Iterator[Game]:
        """Yield the games that count, as `standings` takes them."""
        void, unpaired = self.voided, {(one.player, round + 1) for one in self.field for round in range(self.round)}
        for one in self.pairings:
            unpaired -= {(player, one.round) for player in one.players.values()}
            is_over = one.state == "scored"
            if not void.intersection(one.players.values()):
                first, *others = one.players.values()
                second = others[0] if others else None
                halves = one.result_for(first), one.result_for(second or "")
                yield Game(first, second, *halves, one.by == "game" if is_over else None, one.round)
        if self.kind == "swiss":
            yield from (Game(player, None, 0, 0, is_played=False, round=round) for player, round in unpaired)


def with_stand_in(event: Event, id: str, stand_in: str) -> Event:
    """Replace a forgotten player's name and id everywhere in the event."""
    own = {one.name for one in event.entrants if one.player == id}
    return replace(
        event,
        organisers=tuple(stand_in if one == id else one for one in event.organisers),
        roster=tuple(stand_in if name in own else name for name in event.roster),
        entrants=tuple(
            replace(one, player=stand_in, name=stand_in) if one.player == id else one for one in event.entrants
        ),
        pairings=tuple(
            replace(one, players={mark: stand_in if player == id else player for mark, player in one.players.items()})
            for one in event.pairings
        ),
        seq=event.seq + 1,
    )


def for_outsiders(event: Event) -> Event:
    """Return the event with numbers for names and ids, and without rooms, games and organisers."""
    ids = {one.player: f"#{number}" for number, one in enumerate(event.entrants, 1)}
    expected = range(len(ids) + 1, len(ids) + 1 + len(event.expected))
    return replace(
        event,
        organisers=(),
        roster=tuple(f"#{number}" for number in expected),
        entrants=tuple(
            replace(one, player=ids[one.player], name=one.name if one.is_server_bot else ids[one.player])
            for one in event.entrants
        ),
        pairings=tuple(
            replace(one, players={mark: ids[id] for mark, id in one.players.items()}, room="", game_id="")
            for one in event.pairings
        ),
    )


def open_event(
    code: str, organiser: str, request: EventOpen, rules: Rules, *, now: int, seed: int, secret: str
) -> Event:
    """Return a new event with its bots entered; raises `Refused`."""
    if len(rules.marks) != 2:
        raise Refused(ErrorCode.NOT_ALLOWED, "event marks", path="rules")
    asked = {name: value for name in Event.__struct_fields__ if (value := getattr(request, name, UNSET)) is not UNSET}
    if request.kind != "swiss":
        asked |= {"rounds": 0, "late_until": 0}
    bots, roster = request.bots, request.roster
    if request.start == "full" and request.size is UNSET:
        asked["size"] = len(bots) + len(roster)
        if asked["size"] < 2:
            raise Refused(ErrorCode.NOT_ALLOWED, "event few", path="size")
    asked |= {"code": code, "rules": RulesState.of(rules), "organisers": (organiser,), "opened_at": now}
    event = Event(seed=seed, secret=secret, **asked)
    players = max(event.size, len(bots) + len(roster))
    if (kind := fitting_kind(event.kind, players)) != event.kind:
        raise Refused(ErrorCode.EVENT_FULL, "kind", path="kind", size=event.limit, kind=kind, most=most_entrants(kind))
    if players > event.limit:
        raise Refused(ErrorCode.EVENT_FULL, path="size", size=event.limit)
    numbers = [bots[: index + 1].count(level) if bots.count(level) > 1 else 0 for index, level in enumerate(bots)]
    names = [f"{level}-bot-{number}" if number else f"{level}-bot" for level, number in zip(bots, numbers, strict=True)]
    check_names(roster, names, [f"roster[{index}]" for index in range(len(roster))])
    entrants = (Entrant(f"bot-{digest(secret, name)}", name, bot) for name, bot in zip(names, bots, strict=True))
    return replace(event, entrants=tuple(entrants))


def check_names(names: Sequence[str], others: Iterable[str] = (), paths: Sequence[str] = ()) -> None:
    """Raise `Refused` for duplicate or confusable names in a list, or with the other names."""
    known = {key for name in others for key in keys_of(name)}
    for index, name in enumerate(names):
        if not known.isdisjoint(keys_of(name)):
            raise Refused(ErrorCode.BAD_NAME, "taken", path=paths[index] if paths else "name", name=name)
        known.update(keys_of(name))


def digest(secret: str, text: str) -> str:
    """Return a keyed hash of a text, as twelve letters and digits."""
    return b32encode(hmac.digest(secret.encode(), text.encode(), "sha256")).decode()[:12]


def due_at(event: Event) -> int | None:
    """Return when the event next changes by time (see `commands.Paired`), or None."""
    present = sum(one.status == "in" for one in event.field)
    is_waiting = event.kind == "swiss" and present < 2 and any(one.status == "away" for one in event.field)
    return None if event.status != "running" or is_waiting else event.due_at
