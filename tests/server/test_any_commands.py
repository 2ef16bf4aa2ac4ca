import contextlib
import json
from functools import partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import UNSET
from msgspec.structs import replace

from tests.server.news import facts_of, replay
from tests.server.tables import ANA, BO, CODE, CY, DI, START, Action, carry_out, decode_room, encode_room, time_out
from tictactoe_engine import Rules
from tictactoe_protocol import decode_push, encode
from tictactoe_protocol.guests import guest_id
from tictactoe_protocol.pushes import Offers, RoomState
from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.features.ratings.folding import RATED
from tictactoe_server.features.tournaments.running import purpose_of
from tictactoe_server.records.documents import RoomDocuments
from tictactoe_server.rooms.play import Command, apply
from tictactoe_server.rooms.room import CASUAL, NOBODY, Player, Purpose, Refused, Room, expires_at, is_expired
from tictactoe_server.rooms.seating import drop, enter, open_room, seat_of
from tictactoe_server.rooms.view import StateEncoder, state_of

GUEST = Player(guest_id(ANA.id, 0), "guest")
PLAYERS = st.sampled_from((ANA, BO, CY, DI))
ACTORS = st.sampled_from((ANA, BO, CY, DI, GUEST))
ACTIONS = st.sampled_from(("offer", "accept", "decline"))
HOLD_MS = 500
OF_EVENT = purpose_of("EV3NTS", "r1-1")
START_MS = 1_200

RULES = st.sampled_from(
    [
        Rules(),
        Rules(rows=2, columns=2, line=2),
        Rules(rows=3, columns=4, line=3, gravity=True),
        Rules(rows=3, columns=3, line=3, misere=True, blocked=frozenset({4})),
        Rules(rows=3, columns=3, line=3, marks="XOA"),
        Rules(rows=4, columns=4, line=4, marks="XOAB"),
        Rules(rows=3, columns=3, line=3, opening="pie"),
        Rules(rows=3, columns=4, line=4, exact=True, opening="swap2"),
    ]
)
CLOCKS = st.sampled_from(
    [
        None,
        ClockFields(initial_ms=1_000, increment_ms=0),
        ClockFields(initial_ms=400, increment_ms=150),
        ClockFields(move_ms=300),
    ]
)


class AnyCommands(RuleBasedStateMachine):
    """Applies random commands to a room and compares it with a model of its games, score and clocks.

    `may` names exactly the requests that are accepted, and `news` leads from each state to the next.
    """

    @initialize(
        rules=RULES,
        clock=CLOCKS,
        seat=st.integers(0, 5),
        everybody=st.booleans(),
        event=st.booleans(),
        guest=st.booleans(),
        purpose=st.sampled_from((CASUAL, CASUAL, RATED)),
    )
    def open(
        self,
        rules: Rules,
        clock: ClockFields | None,
        seat: int,
        everybody: bool,
        event: bool,
        guest: bool,
        purpose: Purpose,
    ) -> None:
        mark = rules.marks[seat % len(rules.marks)]
        self.now = START
        if event and clock is not None and len(rules.marks) == 2:
            reserved = {mark: replace(seat_of(one), online=False) for mark, one in zip("XO", (ANA, BO), strict=True)}
            terms: dict[str, Any] = {"reserved": reserved, "start_ms": START_MS, "purpose": OF_EVENT}
            self.room = open_room(CODE, rules, None, self.now, clock=clock, hold_ms=HOLD_MS, **terms)
        else:
            guests = (GUEST,) if guest else ()
            terms = {"guests": guests, "purpose": purpose if len(rules.marks) == 2 else CASUAL}
            self.room = open_room(CODE, rules, ANA, self.now, seat=mark, clock=clock, hold_ms=HOLD_MS, **terms)
        self.encoder = StateEncoder(self.room)
        self.told = facts_of(self.state())
        self.before: Room | None = None
        self.documents = RoomDocuments()
        self.finished = self.aborted = 0
        self.games = 1
        self.done: list[tuple[Player, Draw | Undo | Rematch]] = []
        if everybody:
            for player in (ANA, BO, CY, DI)[: sum(held is None for held in self.room.seats.values()) + 1]:
                self.send(player, enter)

    def send(self, player: Player, command: Action) -> None:
        """Apply a command as a server does: an expired clock is handled first."""
        if is_expired(self.room, self.now):
            self.step(NOBODY, time_out)
            assert not is_expired(self.room, self.now)
        self.step(player, command)

    def step(self, player: Player, command: Action) -> None:
        before, document, times = self.room, encode_room(self.room), self.times()
        try:
            after = carry_out(before, player, command, self.now)
        except Refused:
            after = before
        assert encode_room(before) == document
        assert after is before or after.seq == before.seq + 1
        self.room = after
        if before.result is None and after.result is not None:
            counts = not after.was_aborted and (after.result.winner is not None or after.result.reason != "forfeit")
            self.finished += counts
            self.aborted += not counts
        self.games += after.game - before.game
        if after is not before:
            self.before = before
            self.check_step(before, command, times)
            self.check_news(before)
            self.check_repeat(player, command)

    def state(self, before: Room | None = None) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.encoder.encode(self.room, self.now, 0, before))
        return state

    def check_news(self, before: Room) -> None:
        state = self.state(before)
        replay(self.told, state["news"])
        assert self.told | {"out": sorted(self.told["out"]), "swapped": None} == facts_of(state), state["news"]

    def check_step(self, before: Room, command: Action, times: dict[str, int]) -> None:
        after = self.room
        if after.position.moves[: before.position.ply] != before.position.moves:
            assert isinstance(command, Undo | Rematch)
        if after.position.ply > before.position.ply:
            assert isinstance(command, Move)
        if after.game > before.game:
            assert (after.position.ply, after.result, after.offers) == (0, None, Offers())
            assert after.clock is None or {*self.times().values()} == {after.clock.move_ms or after.clock.initial_ms}
            return
        for mark, left in self.times().items():
            was = self.sat_at(before, mark)
            assert left == self.time_after(before, command, was, times[was])
        if not isinstance(command, Choose):
            assert after.position.chosen == before.position.chosen
            return
        played = before.position
        assert (after.position.moves, after.position.chosen[:-1]) == (played.moves, played.chosen)
        assert (after.offers, after.score) == (Offers(), before.score)

    def sat_at(self, before: Room, mark: str) -> str:
        """Return the previous mark of the player who has this mark, or the mark itself if it was free."""
        seat = self.room.seats[mark]
        return next(
            (was for was, other in before.seats.items() if seat and other and other.player == seat.player), mark
        )

    def check_repeat(self, player: Player, command: Action) -> None:
        """Repeat an idempotent request, and remember it until its position is reached again."""
        if isinstance(command, Choose):
            assert apply(self.room, player, command, self.now) is self.room
        if isinstance(command, Draw | Undo | Rematch) and command.game is not UNSET:
            assert apply(self.room, player, command, self.now) is self.room
            self.done.append((player, command))
        elif isinstance(command, Move):
            ply = self.room.position.ply
            self.done = [
                done
                for done in self.done
                if isinstance(done[1], Rematch) or (done[1].game, done[1].ply) != (self.room.game, ply)
            ]

    def time_after(self, before: Room, command: Action, mark: str, left: int) -> int:
        """Return the time of a mark after a command, which changes it only as a turn or an undo does."""
        clock, position = self.room.clock, before.position
        if clock is None or (isinstance(command, Undo) and self.room.position.ply == position.ply):
            return left
        if isinstance(command, Undo):
            return clock.move_ms or left
        if not isinstance(command, Move | Choose) or mark != position.turn or not position.has_acted(mark):
            return left
        return clock.move_ms or left + (clock.increment_ms or 0)

    def times(self) -> dict[str, int]:
        clock = state_of(self.room, self.now, watchers=0).clock
        return {} if clock is None else clock.remaining_ms

    # -- what may happen ----------------------------------------------------------------------------------------

    @rule(ms=st.sampled_from([0, 1, 20, 99, 150, 299, 300, 400, 501]))
    def wait(self, ms: int) -> None:
        before, clock = self.times(), state_of(self.room, self.now, watchers=0).clock
        self.now += ms
        for mark, left in self.times().items():
            is_running = clock is not None and clock.running == mark
            assert left == (max(0, before[mark] - ms) if is_running else before[mark])

    @rule()
    def notice_time(self) -> None:
        self.step(NOBODY, time_out)
        again = self.room
        self.step(NOBODY, time_out)
        assert self.room is again

    @precondition(lambda self: self.room.status == "playing")
    @rule(choice=st.integers(0, 99))
    def play_next(self, choice: int) -> None:
        cells, seat = self.room.position.legal_cells, self.room.seat(self.room.position.turn)
        player, opening = Player(seat.player, seat.name), self.room.position.opening
        if opening and opening.options:
            take = opening.options[choice % len(opening.options)]
            self.send(player, Choose(room=CODE, take=take, ply=self.room.position.ply))
            return
        self.send(player, Move(room=CODE, cell=cells[choice % len(cells)], ply=self.room.position.ply))

    @rule(player=ACTORS, take=st.sampled_from(("X", "O", "more", "?")), ply=st.integers(0, 6))
    def choose_anything(self, player: Player, take: str, ply: int) -> None:
        self.send(player, Choose(room=CODE, take=take, ply=ply))

    @rule(player=ACTORS, cell=st.integers(-1, 16), ply=st.integers(0, 16))
    def play_anything(self, player: Player, cell: int, ply: int) -> None:
        self.send(player, Move(room=CODE, cell=cell, ply=ply))

    @precondition(lambda self: self.room.position.moves)
    @rule(choice=st.integers(0, 99))
    def repeat_a_move(self, choice: int) -> None:
        position = self.room.position
        ply = choice % position.ply
        seat = self.room.seat(position.player_of(ply))
        before = self.room
        if seat.left:
            return
        command = Move(room=CODE, cell=position.moves[ply], ply=ply)
        assert apply(before, Player(seat.player, seat.name), command, self.now) is before

    @rule(player=ACTORS, action=ACTIONS)
    def draw(self, player: Player, action: str) -> None:
        self.send(player, Draw(room=CODE, action=action))  # type: ignore[arg-type]

    @rule(player=ACTORS, action=ACTIONS)
    def undo(self, player: Player, action: str) -> None:
        self.send(player, Undo(room=CODE, action=action))  # type: ignore[arg-type]

    @rule(player=ACTORS, action=ACTIONS, kind=st.sampled_from((Draw, Undo)), back=st.sampled_from((0, 0, 0, 1, -1)))
    def ask_once(self, player: Player, action: str, kind: type[Draw | Undo], back: int) -> None:
        ply = max(0, self.room.position.ply - back)
        self.send(player, kind(room=CODE, action=action, game=self.room.game, ply=ply))  # type: ignore[arg-type]

    @precondition(lambda self: self.done)
    @rule(choice=st.integers(0, 99))
    def ask_again(self, choice: int) -> None:
        player, command = self.done[-1 - choice % len(self.done)]
        before, offers = self.room, self.room.offers
        is_now = not isinstance(command, Rematch) and command.ply == before.position.ply and command.action != "offer"
        if is_now and (offers.draw if isinstance(command, Draw) else offers.undo):
            return  # to an offer made since, this is a new answer
        with contextlib.suppress(Refused):
            assert apply(before, player, command, self.now) is before

    @precondition(lambda self: self.room.offers.undo is not None)
    @rule()
    def allow_undo(self) -> None:
        others = [mark for mark in self.room.seats if mark != self.room.offers.undo]
        seat = self.room.seat(others[0])
        asker, before = self.room.offers.undo or "", self.room
        self.send(Player(seat.player, seat.name), Undo(room=CODE, action="accept"))
        if self.room.status == "playing":
            assert self.room.position.turn == asker
            assert before.position.ply - self.room.position.ply in (1, 2)

    @rule(player=ACTORS, kind=st.sampled_from(("win", "draw")))
    def claim(self, player: Player, kind: str) -> None:
        before = self.room
        self.send(player, Claim(room=CODE, as_=kind))  # type: ignore[arg-type]
        if self.room.result is not None and self.room.result.reason == "claimed" and before.result is None:
            assert any(self.now - gone >= HOLD_MS for gone in before.gone_at.values())

    @rule(
        player=PLAYERS,
        name=st.sampled_from(("", "", "bo", "eve")),
        command=st.sampled_from([enter, enter, drop, Rematch(room=CODE)]),
    )
    def come_and_go(self, player: Player, name: str, command: Action) -> None:
        self.send(Player(player.id, name or player.name), command)

    @precondition(lambda self: self.room.purpose is not OF_EVENT)
    @rule(player=PLAYERS)
    def join_with_a_guest(self, player: Player) -> None:
        self.send(player, partial(enter, guests=(Player(guest_id(player.id, 0), "guest"),)))

    @precondition(lambda self: self.room.status == "over")
    @rule()
    def all_want_a_rematch(self) -> None:
        game = self.room.game
        for seat in list(self.room.seats.values()):
            if seat is not None:
                self.send(Player(seat.player, seat.name), Rematch(room=CODE, game=game))

    @rule(player=ACTORS, command=st.sampled_from([Resign(room=CODE), Leave(room=CODE)]), likely=st.integers(0, 3))
    def give_up(self, player: Player, command: Command, likely: int) -> None:
        if likely == 0:
            self.send(player, command)

    # -- what always holds --------------------------------------------------------------------------------------

    @invariant()
    def seats_and_status_fit(self) -> None:
        room = self.room
        holders = [seat.player for seat in room.seats.values() if seat]
        assert len(holders) == len(set(holders))
        assert "".join(room.seats) == room.rules.marks
        assert room.status == ("over" if room.result else "waiting" if None in room.seats.values() else "playing")
        active = room.position.active_marks
        if room.status == "playing":
            assert len(active) >= 2
            assert room.position.turn is not None
            assert room.position.turn in active
            assert not any(room.seat(mark).left for mark in active)
        assert not (room.was_aborted and all(map(room.position.has_acted, active)))
        if room.result and room.result.winner:
            assert room.result.winner in active
        assert not any(seat.online and seat.player in room.gone_at for seat in room.seats.values() if seat)
        state = state_of(room, self.now, watchers=0)
        assert (len(state.board), state.turn is None) == (room.rules.size, room.status != "playing")

    @invariant()
    def guests_are_here_when_their_player_is(self) -> None:
        room = self.room
        own, guest = room.mark_of(ANA.id), room.mark_of(GUEST.id)
        if guest is not None:
            assert own is not None
            assert room.seat(own).online == room.seat(guest).online
            assert room.held_until(own) == room.held_until(guest)

    @invariant()
    def a_game_of_an_event_is_played_once_and_by_its_two_alone(self) -> None:
        room = self.room
        if room.purpose is OF_EVENT:
            assert {seat.player for seat in room.held_seats} == {ANA.id, BO.id}
            assert (room.was_aborted, room.game, room.offers.undo, room.offers.rematch) == (False, 1, None, ())
            assert room.offers.draw is None or room.position.ply >= 8
            assert room.result is not None or room.held_seats[0].left == room.held_seats[1].left is False
        if room.result is not None and room.result.reason == "forfeit":
            assert room.purpose is OF_EVENT
            assert not all(map(room.position.has_acted, room.rules.marks))

    @invariant()
    def score_adds_up(self) -> None:
        holders = {seat.player for seat in self.room.seats.values() if seat}
        assert set(self.room.score) == {*holders, "draws"}
        assert sum(self.room.score.values()) == self.finished
        assert self.room.game == self.games
        assert self.finished + self.aborted == self.games - (self.room.result is None)

    @invariant()
    def board_is_what_was_played(self) -> None:
        position = self.room.position
        marks = [position.board[cell] for cell in position.moves]
        assert len(set(position.moves)) == position.ply
        assert position.board.count("#") == len(self.room.rules.blocked)
        for mark in self.room.rules.marks:
            assert position.board.count(mark) == marks.count(mark) == position.stones(mark).bit_count()
        if not position.passed:
            assert "".join(marks) == (self.room.rules.marks * position.ply)[: position.ply]

    @invariant()
    def offers_are_of_those_who_may_make_them(self) -> None:
        room, offers = self.room, self.room.offers
        active = room.position.active_marks
        assert not offers.draw or (len(active) == 2 and offers.draw in active)
        assert not offers.undo or (len(room.rules.marks) == 2 and room.position.stones(offers.undo))
        assert room.status == "playing" or (offers.draw, offers.undo) == (None, None)
        assert room.status == "over" or not offers.rematch
        assert len(offers.rematch) < len(room.seats)
        for mark in (offers.draw, offers.undo, *offers.rematch):
            assert mark is None or not room.seat(mark).left

    @invariant()
    def clocks_run_when_they_should(self) -> None:
        room, turn = self.room, self.room.position.turn
        is_timed = room.clock is not None and room.status == "playing"
        runs = is_timed and turn and room.position.has_acted(turn)
        assert (expires_at(room) is not None) == is_timed
        state = state_of(room, self.now, watchers=0)
        if room.clock is None:
            assert state.clock is None
            return
        assert state.clock is not None
        assert state.clock.running == (turn if runs else None)
        assert (state.clock.start_ms is not UNSET) == (is_timed and not runs)
        assert state.clock.start_ms is UNSET or 0 <= state.clock.start_ms <= room.start_ms
        assert tuple(state.clock.remaining_ms) == tuple(room.rules.marks)
        assert min(state.clock.remaining_ms.values()) >= 0
        if room.clock.move_ms is not UNSET:
            assert max(state.clock.remaining_ms.values()) <= room.clock.move_ms
        if room.result is not None and room.result.reason == "timeout":
            assert 0 in state.clock.remaining_ms.values()

    @invariant()
    def document_and_state_come_back(self) -> None:
        document = encode_room(self.room)
        # These caches belong to this room, also after an abort. The keys of a mapping may be in another order.
        assert decode_room(self.documents.encode(self.room)) == self.room
        copy = decode_room(document)
        assert copy == self.room
        assert encode_room(copy) == document
        state = state_of(self.room, self.now, watchers=0)
        assert isinstance(state, RoomState)
        assert encode(decode_push(encode(state))) == encode(state)
        assert state_of(copy, self.now, watchers=0) == state
        room = self.room if self.room.result is None else replace(self.room, kept_at=self.room.seq % 3)
        watchers = self.now // HOLD_MS % 2
        state = state_of(room, self.now, watchers=watchers, before=self.before)
        assert self.encoder.encode(room, self.now, watchers, self.before) == encode(state)

    @precondition(lambda self: not is_expired(self.room, self.now))
    @invariant()
    def what_may_be_asked_is_accepted_and_nothing_else(self) -> None:
        room, may = self.room, self.state()["may"]
        assert list(may) == list(room.seats)
        for mark, seat in room.seats.items():
            listed = {name.removesuffix(" abort").removesuffix(" lose"): name for name in may[mark]}
            if seat is None:
                assert listed == {}
                continue
            for name, request in self.requests(mark).items():
                try:
                    after = apply(room, Player(seat.player, seat.name), request, self.now)
                except Refused:
                    after = room
                assert (after is not room) == (name in listed), (name, may)
                if after is not room and name in ("resign", "leave"):
                    assert _cost(room, after, seat.player) == listed[name].removeprefix(name).strip(), (name, may)

    def requests(self, mark: str) -> dict[str, Command]:
        """Return a request for each name that `may` could contain."""
        ply, position = self.room.position.ply, self.room.position
        cells, options = position.legal_cells or (0,), position.options or (mark,)
        return {
            "move": Move(room=CODE, cell=cells[self.now % len(cells)], ply=ply),
            "choose": Choose(room=CODE, take=options[self.now % len(options)], ply=ply),
            "resign": Resign(room=CODE),
            **{f"draw {action}": Draw(room=CODE, action=action) for action in ("accept", "decline", "offer")},
            **{f"undo {action}": Undo(room=CODE, action=action) for action in ("accept", "decline", "offer")},
            "claim win": Claim(room=CODE, as_="win"),
            "claim draw": Claim(room=CODE, as_="draw"),
            "rematch": Rematch(room=CODE),
            "leave": Leave(room=CODE),
        }


def _cost(room: Room, after: Room, player: str) -> str:
    """Return what a request cost the player and the player's guests: ``abort``, ``lose`` or nothing."""
    if room.status != "playing" or after.position.ply != room.position.ply:
        return ""
    if after.result is not None and after.result.reason == "aborted":
        return "abort"
    marks = [mark for mark in room.marks_of(player) if mark in room.position.active_marks]
    has_left = any(after.seat(mark).left for mark in marks)
    return "lose" if has_left else ""


# Few examples have an opening as well as a clock.
AnyCommands.TestCase.settings = settings(max_examples=3 * settings().max_examples, stateful_step_count=40)
TestAnyCommands = AnyCommands.TestCase
