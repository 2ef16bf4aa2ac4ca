"""A tournament ("event") as an immutable value: its terms, entrants and pairings. Commands return the next value.

Points and tables are always computed from the pairings and never stored. Times are in ms of served time, the clock
that stops while the server is down.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode, events
from tictactoe_protocol.plans import count_rounds, fitting_kind, most_entrants
from tictactoe_protocol.pushes import is_server_bot
from tictactoe_protocol.room_codes import ROOM_CODE_ALPHABET, read_code
from tictactoe_protocol.standings import Game
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.people.confusables import keys_of
from tictactoe_server.rooms.room import Refused

_LEGIBLE: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", ROOM_CODE_ALPHABET)  # from base 32


class Entrant(Struct, frozen=True, omit_defaults=True):
    """A participant in a tournament.

    Attributes:
        bot: The level of a server's bot, `GUEST` for another program, or None for a person, as in `SeatState`.
        joined_round: The player's first round, or 0 if the organiser expelled the player before the tournament began.
    """

    player: str
    name: str
    bot: str | None = None
    status: events.EntrantStatus = "in"
    joined_round: int = 1

    @property
    def is_server_bot(self) -> bool:
        return is_server_bot(self.bot)

    @property
    def is_gone(self) -> bool:
        return self.status in ("out", "expelled")


class Pairing(Struct, frozen=True, omit_defaults=True):
    """A game in a round, or a bye, which has only one player.

    Attributes:
        id: ``r2-1``: round 2, match 1; later games of a knock-out match add their number, as in ``r2-1-3``.
        players: The players' ids by their marks at the beginning of the game.
        match: The number of the match in its round, from 1.
        number: The number of the game in its match, from 1.
        room: The code of the game's room, assigned before the room is opened.
        result: The winner's mark, ``draw``, ``none`` if neither player scores, or None before the pairing is scored.
        reason: How the game ended, as in `Result.reason`, or the organiser's action.
        by: What decided the result: ``game``, ``forfeit``, ``bye`` or ``organiser``.
        opened_at: When the players were last called to the room.
    """

    id: str
    round: int
    players: dict[str, str]
    match: int = 1
    number: int = 1
    room: str = ""
    state: events.PairingState = "due"
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
    def message_fields(self) -> dict[str, Any]:
        """The public fields, under their names in messages."""
        known = {name: getattr(self, name) for name in ("id", "round", "players", "state", "result")}
        return known | {name: getattr(self, name) or None for name in ("reason", "by", "game_id")}

    @property
    def winner(self) -> str | None:
        return self.players.get(self.result or "")

    def scored(self, result: str, by: str, reason: str = "", game_id: str = "") -> Pairing:
        return replace(self, state="scored", result=result, by=by, reason=reason, game_id=game_id)

    def result_for(self, player: str) -> int:
        """Return the half points that a player has scored in this pairing: 0, 1 or 2."""
        return 1 if self.result == "draw" else 2 * (self.winner == player)


def pair_up(round: int, pairs: Iterable[tuple[str, str]], marks: str, *, bye: str = "none") -> tuple[Pairing, ...]:
    """Return the pairings of a round.

    Args:
        pairs: The ids of two players each. The first plays the first of the `marks`. A player paired with "" has a bye.
        bye: The result of byes: the first mark for a point, or ``none``.
    """
    pairings = []
    for match, pair in enumerate(pairs, 1):
        players = {mark: player for mark, player in zip(marks, pair, strict=True) if player}
        one = Pairing(f"r{round}-{match}", round, players, match)
        pairings.append(one.scored(bye, "bye") if one.is_bye else one)
    return tuple(pairings)


class Event(Struct, frozen=True, omit_defaults=True):
    """A tournament. `EventOpen`, the request that opens one, describes the fields that are not explained here.

    Attributes:
        organisers: The ids of the players who may control the tournament.
        seed: The random seed for numbering the players by lot.
        secret: The secret key for deriving tickets.
        rounds: The number of rounds that the organiser asked for, or 0 to derive it from the number of players.
        roster: The names on the entry cards, each of which has a ticket.
        entrants: Everybody who has entered. Their order gives the players' numbers.
        round: The number of the current round, 0 before the first.
        seq: Increases with every change.
        due_at: When the next round begins automatically, or None.
        is_deserted: Whether the server paused the tournament because no player was present.
    """

    code: str
    title: str
    kind: events.EventKind
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
    break_ms: int = events.BREAK_MS
    chat: str = "all"
    entrants: tuple[Entrant, ...] = ()
    pairings: tuple[Pairing, ...] = ()
    status: events.EventStatus = "open"
    round: int = 0
    seq: int = 1
    due_at: int | None = None
    is_deserted: bool = False

    @property
    def marks(self) -> str:
        return self.rules.marks

    @property
    def opening(self) -> str | None:
        """The opening rule, such as ``pie``; in a knock-out, the one for the last games of a match."""
        return self.rules.opening or ("pie" if self.kind == "knock_out" else None)

    @property
    def limit(self) -> int:
        most = most_entrants(self.kind)
        return min(self.size or most, most)

    @property
    def field(self) -> tuple[Entrant, ...]:
        """Everybody who has a row in the table, by number; players expelled before the beginning have none."""
        return tuple(entrant for entrant in self.entrants if entrant.joined_round)

    @property
    def names(self) -> dict[str, str]:
        """The names of the entrants by id."""
        return {entrant.player: entrant.name for entrant in self.entrants}

    @property
    def people(self) -> tuple[str, ...]:
        """The ids of the players with the status ``in``, except for the server's bots."""
        return tuple(entrant.player for entrant in self.field if entrant.status == "in" and not entrant.is_server_bot)

    @property
    def needed(self) -> int:
        """How many people must be present before a deserted tournament resumes, or 0 if it is not deserted.

        This is half of the `people`, but at least two.
        """
        people = len(self.people) if self.is_deserted and self.status == "paused" else 0
        return min(people, max(2, (people + 1) // 2))

    @property
    def is_over(self) -> bool:
        return self.status in ("over", "void")

    @property
    def all_rounds(self) -> int:
        """The total number of rounds, 0 while unknown."""
        players = len([entrant for entrant in self.field if entrant.joined_round == 1])
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
    def may(self) -> dict[str, tuple[str, ...]]:
        """The possible requests of each role, as in `EventState`."""
        if self.is_over:
            return {}
        is_decidable = bool(self.open_pairings)
        has_roster, join = self.entry == "roster", ("join",) if self.takes_entrants else ()
        actions = {
            "begin": self.status == "open" and len(self.field) > 1,
            "next": due_at(self) is not None,
            "pause": self.status == "running",
            "resume": self.status == "paused",
            "expel": bool(self.field or self.expected),
            "forfeit": is_decidable,
            "void": is_decidable,
            "close": True,
            "add": has_roster and self.takes_entrants and len(self.roster) < self.limit,
            "cards": has_roster,
        }
        organiser = tuple(action for action, is_possible in actions.items() if is_possible)
        card = ("join",) if has_roster else join
        return {"organiser": organiser, "in": ("leave", "away"), "away": ("leave", "ready"), "card": card, "": join}

    @property
    def expected(self) -> tuple[str, ...]:
        """The unused names on the roster."""
        known = {entrant.name for entrant in self.entrants}
        return tuple(name for name in self.roster if name not in known)

    def entrant(self, player: str) -> Entrant | None:
        return next((entrant for entrant in self.entrants if entrant.player == player), None)

    def pairing(self, id: str) -> Pairing | None:
        return next((one for one in reversed(self.pairings) if one.id == id), None)  # open pairings are the last

    @property
    def open_pairings(self) -> list[Pairing]:
        """The pairings without a result: ``due`` before their room is open, then ``open``."""
        return [pairing for pairing in self.pairings if pairing.state != "scored"]

    def pairings_of(self, player: str) -> list[Pairing]:
        return [pairing for pairing in self.pairings if player in pairing.players.values()]

    def in_round(self, round: int) -> list[Pairing]:
        return [pairing for pairing in self.pairings if pairing.round == round]

    def sitting_in(self, pairing: Pairing) -> dict[str, Entrant]:
        known = {entrant.player: entrant for entrant in self.entrants}
        return {mark: known[id] for mark, id in pairing.players.items()}

    def ticket_of(self, name: str = "") -> str:
        """Return the ticket for a name on the roster, or the general ticket if `name` is empty."""
        return digest(self.secret, f"{self.code}:{name}").translate(_LEGIBLE)

    def is_ticket(self, ticket: str, name: str = "") -> bool:
        """Return True if `ticket`, in any spelling, equals ``ticket_of(name)``."""
        return hmac.compare_digest(self.ticket_of(name).encode(), read_code(ticket).encode())

    @property
    def wall_key(self) -> str:
        """The key that lets people outside the tournament see hidden names, ids and rooms."""
        return digest(self.secret, f"wall:{self.code}").translate(_LEGIBLE)

    def is_wall_key(self, key: str) -> bool:
        """Return True if `key`, in any spelling, is the wall key, or the general ticket if one is required."""
        is_wall = hmac.compare_digest(self.wall_key.encode(), read_code(key).encode())
        return is_wall or (self.entry == "code" and self.is_ticket(key))

    def has_part(self, player: str) -> bool:
        """Return True if the player with this id is an organiser or has entered."""
        return player in self.organisers or self.entrant(player) is not None

    @property
    def is_for_outsiders(self) -> bool:
        """Whether this value was returned by `for_outsiders`, which removes the organisers."""
        return not self.organisers

    def name_on(self, ticket: str) -> str:
        """Return the name on the roster that has this ticket, or ""."""
        return next((name for name in self.roster if self.is_ticket(ticket, name)), "")

    def holder_of(self, ticket: str) -> Entrant | None:
        """Return the player who has entered with this ticket and has not left, or None."""
        name = self.name_on(ticket)
        return next((one for one in self.field if one.name == name and not one.is_server_bot and not one.is_gone), None)

    @property
    def voided(self) -> frozenset[str]:
        """The ids of the players who left a round robin with fewer than half of their games played.

        Their games do not count for their opponents either.
        """
        if self.kind != "round_robin" or self.status == "open":
            return frozenset()
        games = (len(self.field) - 1) * (2 if self.double else 1)
        return frozenset(
            entrant.player
            for entrant in self.field
            if entrant.is_gone and 2 * sum(pairing.by == "game" for pairing in self.pairings_of(entrant.player)) < games
        )

    def counted_games(self) -> Iterator[Game]:
        """Yield the games that count for the table, in the form that `standings` needs.

        In a Swiss, a player without a pairing in a round gets a game without points.
        """
        void, unpaired = self.voided, {(one.player, round + 1) for one in self.field for round in range(self.round)}
        for pairing in self.pairings:
            unpaired -= {(player, pairing.round) for player in pairing.players.values()}
            is_over = pairing.state == "scored"
            if not void.intersection(pairing.players.values()):
                first, *others = pairing.players.values()
                second = others[0] if others else None
                halves = pairing.result_for(first), pairing.result_for(second or "")
                yield Game(first, second, *halves, pairing.by == "game" if is_over else None, pairing.round)
        if self.kind == "swiss":
            yield from (Game(player, None, 0, 0, is_played=False, round=round) for player, round in unpaired)


def with_stand_in(event: Event, id: str, stand_in: str) -> Event:
    """Return the event with `stand_in` instead of the name and the id of a player who has been erased."""
    own = {entrant.name for entrant in event.entrants if entrant.player == id}
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
    """Return the event with numbers instead of people's names and ids, and without rooms, games and organisers."""
    ids = {entrant.player: f"#{number}" for number, entrant in enumerate(event.entrants, 1)}
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
            replace(pairing, players={mark: ids[id] for mark, id in pairing.players.items()}, room="", game_id="")
            for pairing in event.pairings
        ),
    )


def open_event(
    code: str, organiser: str, request: events.EventOpen, rules: Rules, *, now: int, seed: int, secret: str
) -> Event:
    """Return a new event with its bots entered, or raise `Refused` if the request contradicts itself."""
    if len(rules.marks) != 2:
        raise Refused(ErrorCode.NOT_ALLOWED, "event marks", path="rules")
    asked = {name: value for name in Event.__struct_fields__ if (value := getattr(request, name, UNSET)) is not UNSET}
    if request.kind != "swiss":
        if asked.get("late_until"):
            raise Refused(ErrorCode.NOT_ALLOWED, "event late", path="late_until")
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
    """Raise `Refused` if a name could be confused with an earlier one or one of `others`; `paths` are their fields."""
    known = {key for name in others for key in keys_of(name)}
    for index, name in enumerate(names):
        if not known.isdisjoint(keys_of(name)):
            raise Refused(ErrorCode.BAD_NAME, "taken", path=paths[index] if paths else "name", name=name)
        known.update(keys_of(name))


def digest(secret: str, text: str) -> str:
    """Return a keyed hash of a text: the first twelve characters in base 32."""
    return b32encode(hmac.digest(secret.encode(), text.encode(), "sha256")).decode()[:12]


def due_at(event: Event) -> int | None:
    """Return when the next round begins or the event ends, or None if neither has a time.

    A Swiss waits while fewer than two players are ready and others are away.
    """
    present = sum(entrant.status == "in" for entrant in event.field)
    is_waiting = event.kind == "swiss" and present < 2 and any(entrant.status == "away" for entrant in event.field)
    return None if event.status != "running" or is_waiting else event.due_at
