"""Faults to plant in the server, to see whether the simulation finds them: each changes one small part.

They test the checks more than the server. `test_seeds` plants each, and it must be found within 60 seeds.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol.requests import Claim, Draw, Move, Rematch, Undo
from tictactoe_server import clock
from tictactoe_server.core import live_room, timers
from tictactoe_server.core.core import Call, Presence, refuse
from tictactoe_server.core.live_room import LiveRoom, RoomChange
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.timers import Timers
from tictactoe_server.events.running import Running
from tictactoe_server.listings.lobby import Lobby
from tictactoe_server.ratings.challenges import Challenges
from tictactoe_server.records.changes import Kept
from tictactoe_server.rooms import _CARRY_OUT as COMMANDS
from tictactoe_server.rooms import Dropped, offers, play
from tictactoe_server.rooms import clock as room_clock
from tictactoe_server.rooms.room import Room
from tictactoe_server.services.hello import Greeting
from tictactoe_server.sessions.session import Session
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.journal import GameTables, Journal, Newest
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.connection import Connection
from tictactoe_server.transport.http_connection import HttpConnection

Function = TypeVar("Function", bound=Callable[..., Any])

FAULTS: Final[dict[str, Callable[[], object]]] = {
    "commit-without-waiting-for-the-disk": lambda: wrap(
        Database, "begin", lambda begin, self, *, durable: begin(self, durable=False)
    ),
    "trust-the-connection-after-an-io-error": lambda: skip(Database, "distrust"),
    "believe-what-is-in-memory-after-an-unknown-outcome": lambda: skip(Kept, "doubt"),
    "store-a-drop-under-the-same-seq": lambda: wrap(
        timers, "apply", lambda apply, room, *args: replace(apply(room, *args), seq=room.seq)
    ),
    "keep-an-aborted-game": lambda: setattr(Room, "was_aborted", property(lambda self: False)),
    "count-an-aborted-game-in-the-score": lambda: wrap(
        play, "_count", lambda count, room, result: count(room, replace(result, reason="agreed"))
    ),
    "take-back-one-move-too-many": lambda: wrap(
        offers, "_before_last", lambda original, *args: max(original(*args) - 1, -1)
    ),
    "begin-a-rematch-with-the-old-clocks": lambda: wrap(
        play, "_start_again", lambda begin, room, now: replace(begin(room, now), remaining_ms=room.remaining_ms)
    ),
    "forget-which-game-a-rematch-follows": lambda: wrap_command(
        Rematch, lambda ask, room, player, request, now: ask(room, player, replace(request, game=UNSET), now)
    ),
    "count-the-time-of-a-silent-disk": lambda: skip(ServedTime, "_watch_store"),
    "charge-the-mover-for-the-time-of-the-disk": lambda: wrap(
        live_room, "seen_at", lambda original, after, before, now: after
    ),
    "charge-for-the-first-move": lambda: wrap(room_clock, "is_first_move", lambda original, room: False),
    "accept-a-claim-during-the-hold": lambda: wrap_command(
        Claim, lambda claim, room, *args: replace(claim(replace(room, hold_ms=0), *args), hold_ms=room.hold_ms)
    ),
    "never-drop-a-player-whose-drop-was-refused": lambda: wrap(
        Timers, "_retrying", lambda retry, self, live, what, again, *done: retry(self, live, what, int, *done)
    ),
    "take-everybody-for-connected-after-a-restart": lambda: wrap(
        Registry, "take_in", lambda take_in, *args, **more: take_in(*args, **{**more, "all_are_away": False})
    ),
    "keep-silent-connections": lambda: skip(Connection, "end_if_silent"),
    "show-watchers-no-state-that-was-held-back": lambda: skip(LiveRoom, "show_watchers"),
    "show-nothing-to-the-player-who-moves": lambda: wrap(
        HttpConnection, "push_answer_and_state", lambda push, self, room, answer, state: self.push_frame(answer)
    ),
    "send-chat-to-players-only": lambda: wrap(
        LiveRoom, "push", lambda push, self, message, but=(): push(self, message, {*but, *self.watchers})
    ),
    "send-chat-twice": lambda: wrap(LiveRoom, "push", lambda push, self, *args: (push(self, *args), push(self, *args))),
    "keep-the-seat-with-the-first-tab": lambda: wrap(
        LiveRoom, "seat", lambda seat, self, new, player: player.id in self.players or seat(self, new, player)
    ),
    "send-no-change-of-the-lobby-when-a-room-closes": lambda: wrap(
        Lobby, "_note", lambda note, self, code, live: live and note(self, code, live)
    ),
    "score-a-pairing-without-its-game": lambda: wrap(
        Running, "_score", lambda score, self, *args: score(self, *args[:-1], "")
    ),
}
"""The faults by name; those that need more than an expression follow below."""


def plant(name: str) -> None:
    """Plant a fault in this process; raises `SystemExit` with all names if there is none of this name."""
    if name not in FAULTS:
        raise SystemExit(f'There is no fault "{name}". There are: {", ".join(FAULTS)}.')
    FAULTS[name]()


def wrap(owner: type[Any] | ModuleType, name: str, function: Callable[..., Any]) -> None:
    """Replace a function or method by `function`, which is called with the original first."""
    original = vars(owner)[name]
    setattr(owner, name, lambda *args, **more: function(original, *args, **more))


def skip(owner: type[Any], name: str) -> None:
    """Replace a method by one that does nothing."""
    wrap(owner, name, lambda original, *args, **more: None)


def wrap_command(kind: type[Any], function: Callable[..., Room]) -> None:
    """Replace what carries out a command by `function`, which is called with the original first."""
    commands: Any = COMMANDS
    original = commands[kind]
    commands[kind] = lambda *args: function(original, *args)


def fault(owner: type[Any], name: str) -> Callable[[Function], Function]:
    """Add a fault that replaces a method by the decorated function, which also gives the fault its name."""

    def add(function: Function) -> Function:
        FAULTS[function.__name__.replace("_", "-")] = lambda: wrap(owner, name, function)
        return function

    return add


def fault_of(*kinds: type[Any]) -> Callable[[Function], Function]:
    """Add a fault that replaces what carries out these commands by the decorated function."""

    def add(function: Function) -> Function:
        def plant_all() -> None:
            for kind in kinds:
                wrap_command(kind, function)

        FAULTS[function.__name__.replace("_", "-")] = plant_all
        return function

    return add


@fault(Database, "write")
def write_again_without_comparing(original: Any, self: Database, jobs: Any) -> Any:
    """Write a refused batch once more over whatever is stored, also if it took effect."""
    outcomes = original(self, jobs)
    if not all(isinstance(outcome, StoreUnavailable) for outcome in outcomes):
        return outcomes
    for job in jobs:
        if hasattr(job, "expected_revision"):
            job.expected_revision = None
    return original(self, jobs)


@fault(Journal, "fold")
def delete_one_row_of_the_journal_too_many(original: Any, self: Journal, note: Any, *, all_of_it: bool) -> Any:
    count = original(self, note, all_of_it=all_of_it)
    oldest = "SELECT min(id) FROM journal"
    self._cursor.execute(f"DELETE FROM journal WHERE id = ({oldest}) AND id < ?", (self.row,))
    return count


@fault(Newest, "commit")
def fold_rooms_in_the_order_of_their_opening(original: Any, self: Newest[Any]) -> None:
    """Let a room that is saved again keep its place, so that another room loses a row of the journal that it needs."""
    for key in list(self)[: self.folding]:
        del self[key]
    self.update(self.fresh)
    self.drop()


@fault(GameTables, "replay")
def number_games_without_those_of_the_journal(original: Any, self: GameTables, *args: Any) -> None:
    """Give a game, after a restart, the number of one that only the journal has."""
    following = self._next
    original(self, *args)
    self._next = following


@fault(Greeting, "_give_token")
async def give_a_token_before_it_is_stored(original: Any, self: Greeting, known: Any, token: str = "") -> Any:
    token = token or secrets.token_urlsafe()
    self._notes.start(original(self, known, token))
    return known, token


@fault(Registry, "_take_in_all")
async def take_an_unreadable_store_for_an_empty_one(original: Any, self: Registry) -> None:
    try:
        await original(self)
    except StoreUnavailable:
        self.knows_all = True


@fault(LiveRoom, "save")
def acknowledge_a_move_before_it_is_stored(original: Any, self: LiveRoom, change: Any, after: Room) -> None:
    if type(change.request) is Move and isinstance(change, Call):
        change.answer()
        change.request = replace(change.request, id=UNSET)
    original(self, change, after)


@fault(LiveRoom, "save")
def show_a_state_before_it_is_stored(original: Any, self: LiveRoom, change: Any, after: Room) -> None:
    before, self.room = self.room, after
    self.show()
    self.room = before
    original(self, change, after)


@fault(RoomChange, "failed")
def acknowledge_what_the_store_did_not_answer(original: Any, self: RoomChange, error: Exception) -> None:
    if isinstance(error, StoreUnavailable):
        self.live.doubt()
        self.live.settle(self, None)
    else:
        original(self, error)


@fault(Call, "settled")
def leave_a_session_busy_after_an_error(original: Any, self: Call, error: Exception | None) -> Any:
    return original(self, None) if error is None else refuse(self.session, self.request, error)


@fault(RoomChange, "stored")
def count_a_move_twice(original: Any, self: RoomChange, revision: int) -> None:
    self.live.path.moves += type(self.request) is Move
    original(self, revision)


@fault_of(Move)
def refuse_a_move_that_is_sent_again(original: Any, room: Room, player: Any, request: Move, now: int) -> Any:
    play._check_turn(room, room.seated(player), request.ply)
    return original(room, player, request, now)


@fault_of(Draw, Undo)
def make_an_offer_twice_that_is_sent_again(original: Any, room: Room, *args: Any) -> Any:
    after = original(room, *args)
    return after if after is room else replace(after, asked={})


@fault_of(Draw)
def take_a_declined_draw_for_agreed(original: Any, room: Room, player: Any, request: Draw, now: int) -> Any:
    action = "accept" if request.action == "decline" else request.action
    return original(room, player, replace(request, action=action), now)


@fault_of(Rematch)
def begin_a_rematch_with_one_vote(original: Any, room: Room, player: Any, request: Rematch, now: int) -> Any:
    after = original(room, player, request, now)
    return after if after is room or after.game != room.game else play._start_again(room, now)


@fault(ServedTime, "resume")
async def count_the_time_between_two_lives(original: Any, self: ServedTime) -> None:
    await original(self)
    self.go_on_from(round(1000 * clock.monotonic()))


@fault(Timers, "_ring")
def forget_a_clock_whose_alarm_was_early(original: Any, self: Timers, live: LiveRoom, moment: float) -> None:
    end = room_clock.expires_at(live.room)
    if end is None or self.time() >= end:
        original(self, live, moment)


@fault(Timers, "drop")
def drop_a_player_who_is_back(original: Any, self: Timers, live: LiveRoom, player: Any) -> None:
    RoomChange(live, self.time(), player, Dropped()).submit()


@fault(Presence, "remove")
def remember_the_sessions_of_players_who_left(original: Any, self: Presence, session: Session) -> None:
    if not session.rooms:
        original(self, session)


@fault(HttpConnection, "pause_writing")
def never_cut_off_a_client_that_does_not_read(original: Any, self: HttpConnection) -> None:
    original(self)
    assert self._outbox is not None
    self._outbox.abort_timer.cancel()


@fault(HttpConnection, "resume_writing")
def forget_the_states_that_a_slow_client_missed(original: Any, self: HttpConnection) -> None:
    if self._outbox is not None:
        self._outbox.states.clear()
    original(self)


@fault(HttpConnection, "push_frame")
def forget_the_answers_that_a_slow_client_missed(original: Any, self: HttpConnection, frame: bytes) -> None:
    if self._outbox is None:
        original(self, frame)


@fault(LiveRoom, "seat")
def take_the_seat_from_the_first_tab_without_a_word(original: Any, self: LiveRoom, new: Session, player: Any) -> None:
    older = self.players.pop(player.id, new)
    if older is not new:
        self.part(older)
    original(self, new, player)


@fault(Challenges, "_open_room")
async def open_two_rooms_for_a_challenge(original: Any, *args: Any) -> Any:
    await original(*args)
    return await original(*args)


def let_the_first_tab_go_on() -> None:
    def seat(original: Any, self: LiveRoom, new: Session, player: Any) -> None:
        older = self.players.get(player.id, new)
        original(self, new, player)
        older.rooms.add(self.room.code)

    wrap(LiveRoom, "seat", seat)
    wrap(Call, "apply", lambda original, self, room: RoomChange.apply(self, room))


FAULTS["let-the-first-tab-go-on"] = let_the_first_tab_go_on
