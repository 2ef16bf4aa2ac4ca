"""Random commands in any order keep an event consistent, and it can always be played to its end."""

from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from tests.server.events.authors import ORGANISER, new_event, opened, tick
from tictactoe_protocol.events import EventLeave, EventReady, EventRun
from tictactoe_server.features.tournaments.commands import (
    EnterEvent,
    Opened,
    Paired,
    RoomCodes,
    Score,
    apply,
    pair_next,
)
from tictactoe_server.features.tournaments.event import Entrant, Event, Pairing, due_at
from tictactoe_server.features.tournaments.table import rows
from tictactoe_server.rooms.room import Refused

PLAYERS = [f"p{number}" for number in range(1, 10)]
ACTIONS = ["begin", "next", "pause", "resume", "expel", "forfeit", "void", "close", "add", "cards"]
ANY_PLAYER = st.sampled_from([*PLAYERS, "nobody"])
ANY_PAIRING = st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from(["", "", "-2", "-3"])).map(
    lambda one: f"r{one[0]}-{one[1]}{one[2]}"
)


class Events(RuleBasedStateMachine):
    """An event that receives every possible command."""

    event: Event
    now = 0

    def __init__(self) -> None:
        super().__init__()
        self.scored: dict[str, Pairing] = {}
        self.kept: Paired | None = None

    @initialize(
        kind=st.sampled_from(["round_robin", "swiss", "knock_out"]),
        double=st.booleans(),
        entry=st.sampled_from(["open", "open", "code", "roster"]),
        full=st.booleans(),
        advance=st.sampled_from(["auto", "hand"]),
        bots=st.integers(0, 3),
        players=st.integers(0, 6),
        late=st.integers(0, 2),
    )
    def open(
        self, kind: str, double: bool, entry: str, full: bool, advance: str, bots: int, players: int, late: int
    ) -> None:
        terms: dict[str, Any] = {"double": double, "entry": entry, "advance": advance}
        if kind == "swiss":
            terms["late_until"] = late
        if full:
            terms |= {"start": "full", "size": bots + 3}
        if entry == "roster":
            terms |= {"roster": tuple(PLAYERS[:3])}
        self.event = new_event(kind, bots=("rules",) * bots, **terms)
        for player in PLAYERS[:players]:
            self.enter(player, player)

    def do(self, actor: str, command: Any) -> None:
        """Apply a command twice: the second time changes nothing."""
        before = self.event
        try:
            self.event = apply(before, actor, command, self.now)
        except Refused:
            return
        assert self.event.seq == before.seq + (self.event is not before)
        try:
            again = apply(self.event, actor, command, self.now)
        except Refused:
            again = self.event
        assert again is self.event

    @rule(player=st.sampled_from(PLAYERS), name=st.sampled_from(PLAYERS), is_over=st.booleans())
    def enter(self, player: str, name: str, is_over: bool = False) -> None:
        ticket = self.event.ticket_of(name if self.event.entry == "roster" else "")
        holder = self.event.holder_of(ticket) if is_over else None
        self.do(player, EnterEvent(name, ticket=ticket, over=holder.player if holder else ""))

    @rule(player=ANY_PLAYER)
    def leave(self, player: str) -> None:
        self.do(player, EventLeave(event=""))

    @rule(player=ANY_PLAYER, on=st.booleans())
    def ready(self, player: str, on: bool) -> None:
        self.do(player, EventReady(event="", on=on))

    @rule(action=st.sampled_from(ACTIONS), behind=st.sampled_from([0, 0, 0, 1]), player=ANY_PLAYER, pairing=ANY_PAIRING)
    def run(self, action: str, behind: int, player: str, pairing: str) -> None:
        seq = self.event.seq - behind
        self.do(ORGANISER, EventRun(event="", seq=seq, action=action, player=player, pairing=pairing, name=player))  # type: ignore[arg-type]

    @rule()
    def begin(self) -> None:
        self.do(ORGANISER, EventRun(event="", seq=self.event.seq, action="begin"))

    @rule(pairing=ANY_PAIRING, code=st.sampled_from(["ABC234", "XYZ789"]))
    def lose_a_room(self, pairing: str, code: str) -> None:
        self.do("", RoomCodes({pairing: code}))

    @rule(pairing=ANY_PAIRING)
    def open_one(self, pairing: str) -> None:
        self.do("", Opened(pairing))

    @rule()
    def open_all(self) -> None:
        self.event = opened(self.event, self.now)

    @rule(
        pairing=ANY_PAIRING,
        result=st.sampled_from(["X", "O", "draw", "none"]),
        by=st.sampled_from(["game", "forfeit"]),
    )
    def score(self, pairing: str, result: str, by: str) -> None:
        self.do("", Score(pairing, result, "line", "game", by))

    @rule(results=st.lists(st.sampled_from(["X", "O", "draw"]), min_size=1, max_size=3))
    def score_all(self, results: list[str]) -> None:
        for index, one in enumerate(self.event.open_pairings):
            self.do("", Score(one.id, results[index % len(results)], game_id="game"))

    @rule(seconds=st.sampled_from([0, 1, 5, 600]))
    def tick(self, seconds: int) -> None:
        self.now += 1_000 * seconds
        if due_at(self.event) is not None:
            self.do("", pair_next(self.event))

    @precondition(lambda self: self.event.status == "running" and not self.event.open_pairings)
    @rule()
    def pair_elsewhere(self) -> None:
        self.kept = pair_next(self.event)

    @precondition(lambda self: self.kept is not None)
    @rule()
    def bring_what_was_paired(self) -> None:
        self.do("", self.kept)

    @invariant()
    def it_is_sound(self) -> None:
        event = self.event
        assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event
        check_entrants(event.entrants)
        check_pairings(event)
        check_table(event)
        check_time(event)

    @invariant()
    def no_result_ever_changes(self) -> None:
        """Players do not change either, by name: the heir of a card keeps its results."""
        names = {one.player: one.name for one in self.event.entrants}
        scored = {
            one.id: replace(one, players={mark: names[player] for mark, player in one.players.items()})
            for one in self.event.pairings
            if one.state == "scored"
        }
        for id, one in self.scored.items():
            assert scored.get(id) == one
        self.scored = scored

    def teardown(self) -> None:
        if not hasattr(self, "event") or self.event.status == "open":
            return
        event = self.event
        if event.status == "paused":
            event = apply(event, ORGANISER, EventRun(event="", seq=event.seq, action="resume"), self.now)
        for one in event.field:
            if one.status == "away":
                event = apply(event, one.player, EventReady(event="", on=True), self.now)
        for _ in range(60):
            for pairing in event.open_pairings:
                event = apply(event, "", Score(pairing.id, "draw", game_id="game"), self.now)
            due = due_at(event)
            if due is None and not event.open_pairings:
                break
            self.now = max(self.now, due or 0)
            event = tick(event, self.now)
        assert event.is_over
        check_pairings(event)
        check_table(event)


def check_entrants(entrants: tuple[Entrant, ...]) -> None:
    for part in ([one.player for one in entrants], [one.name.casefold() for one in entrants]):
        assert len(set(part)) == len(part)


def check_pairings(event: Event) -> None:
    assert len({one.id for one in event.pairings}) == len(event.pairings)
    field = {one.player for one in event.field}
    first, second = tuple(event.marks)
    met: list[tuple[str, ...]] = []
    for one in event.pairings:
        assert set(one.players.values()) <= field
        assert one.is_bye or set(one.players) == {first, second}
        assert 1 <= one.round <= event.round
        assert (one.state == "scored") == (one.result is not None) == bool(one.by)
        assert one.state != "open" or one.room
        if not one.is_bye and one.number == 1:
            met.append(tuple(sorted(one.players.values())))
    games = 2 if event.kind == "round_robin" and event.double else 1
    assert all(met.count(pair) <= games for pair in met)
    for entrant in event.field if event.kind != "knock_out" else ():
        rounds = [one.round for one in event.pairings_of(entrant.player)]
        assert len(set(rounds)) == len(rounds)
    gone = {one.player for one in event.field if one.is_gone}
    assert event.is_over or not any(gone & set(one.players.values()) for one in event.open_pairings)


def check_table(event: Event) -> None:
    table = rows(event)
    assert sorted(row.player for row in table) == sorted(one.player for one in event.field)
    void = event.voided
    counted = [one for one in event.pairings if one.by and not void & set(one.players.values())]
    given = sum(one.result == "draw" or one.result in one.players for one in counted)
    assert sum(row.points for row in table) == given
    assert all(row.points == 0 == row.played for row in table if row.player in void)


def check_time(event: Event) -> None:
    if event.status == "running" and not event.open_pairings:
        assert event.due_at is not None
    if event.status in ("open", "paused") or event.is_over:
        assert due_at(event) is None
    if event.is_over:
        assert not event.open_pairings


TestEvents = Events.TestCase
TestEvents.settings = settings(stateful_step_count=30)
