"""Faults to plant in the server, to see whether the simulation finds them: each changes one small part.

They test the checks more than the server. `test_seeds` plants each, and it must be found within 60 seeds.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Claim, Draw, Move, Rematch
from tictactoe_server.core import change
from tictactoe_server.core.change import RoomChange, Timers
from tictactoe_server.core.indexes import Lobby
from tictactoe_server.core.live_room import LiveRoom, Watchers
from tictactoe_server.core.rooms import Rooms
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.features.challenges.service import Challenges
from tictactoe_server.features.tournaments.running import Running
from tictactoe_server.records.changes import StoredValue
from tictactoe_server.rooms import play
from tictactoe_server.rooms.play import _CARRY_OUT as COMMANDS
from tictactoe_server.rooms.room import Room
from tictactoe_server.storage.database import Database
from tictactoe_server.transport.connection import Connection
from tictactoe_server.transport.http_connection import HttpConnection


def nothing(*args: object, **more: object) -> None: ...


class Planted(NamedTuple):
    """A class, module or dictionary, a key in it, and a function that is called there with the original first."""

    owner: Any
    key: Any
    function: Any


def acknowledge_a_move_before_it_is_stored(original: Any, self: RoomChange, room: Room) -> Room | None:
    after: Room | None = original(self, room)
    if type(self.command) is Move and self.session is not None and self.command.id is not UNSET:
        self.session.push(Ok(id=self.command.id))
        self.command = replace(self.command, id=UNSET)
    return after


def leave_a_session_busy_after_an_error(original: Any, self: RoomChange, error: Exception | None) -> None:
    if error is None or self.session is None:
        original(self, error)
    else:
        change.refuse(self.session, self.command, error)


def refuse_a_move_that_is_sent_again(original: Any, room: Room, player: Any, request: Move, now: int) -> Any:
    play._check_turn(room, room.require_mark(player), request.ply)
    return original(room, player, request, now)


def take_a_declined_draw_for_agreed(original: Any, room: Room, player: Any, request: Draw, now: int) -> Any:
    action = "accept" if request.action == "decline" else request.action
    return original(room, player, replace(request, action=action), now)


def begin_a_rematch_with_one_vote(original: Any, room: Room, player: Any, request: Rematch, now: int) -> Any:
    after = original(room, player, request, now)
    return after if after is room or after.game != room.game else play._start_again(room, now)


def never_cut_off_a_client_that_does_not_read(original: Any, self: HttpConnection) -> None:
    original(self)
    assert self._outbox is not None
    self._outbox.abort_timer.cancel()


def forget_the_states_that_a_slow_client_missed(original: Any, self: HttpConnection) -> None:
    if self._outbox is not None:
        self._outbox.states.clear()
    original(self)


async def open_two_rooms_for_a_challenge(original: Any, self: Challenges, *args: Any) -> Any:
    await original(self, *args)
    return await original(self, *args)


FAULTS: Final[dict[str, Planted]] = {
    "commit-without-waiting-for-the-disk": Planted(
        Database, "begin", lambda begin, self, *, durable: begin(self, durable=False)
    ),
    "trust-the-connection-after-an-io-error": Planted(Database, "distrust", nothing),
    "believe-what-is-in-memory-after-an-unknown-outcome": Planted(StoredValue, "doubt", nothing),
    "store-a-drop-under-the-same-seq": Planted(
        change,
        "drop",
        lambda drop, room, *args: replace(drop(room, *args), seq=room.seq),
    ),
    "keep-an-aborted-game": Planted(Room, "was_aborted", lambda was_aborted, self: False),
    "count-an-aborted-game-in-the-score": Planted(
        play, "_count", lambda count, room, result: count(room, replace(result, reason="agreed"))
    ),
    "take-back-one-move-too-many": Planted(
        play, "ply_before_last", lambda original, *args: max(original(*args) - 1, -1)
    ),
    "begin-a-rematch-with-the-old-clocks": Planted(
        play, "_start_again", lambda begin, room, now: replace(begin(room, now), remaining_ms=room.remaining_ms)
    ),
    "forget-which-game-a-rematch-follows": Planted(
        COMMANDS, Rematch, lambda ask, room, player, request, now: ask(room, player, replace(request, game=UNSET), now)
    ),
    "count-the-time-of-a-silent-disk": Planted(ServedTime, "_watch_store", nothing),
    "charge-the-mover-for-the-time-of-the-disk": Planted(change, "start_shown_turn", lambda original, after, *_: after),
    "accept-a-claim-during-the-hold": Planted(
        COMMANDS,
        Claim,
        lambda claim, room, *args: replace(claim(replace(room, hold_ms=0), *args), hold_ms=room.hold_ms),
    ),
    "never-drop-a-player-whose-drop-was-refused": Planted(
        Timers, "_retry_callback", lambda retry, self, live, what, again, *done: retry(self, live, what, int, *done)
    ),
    "take-everybody-for-connected-after-a-restart": Planted(
        Rooms, "adopt", lambda adopt, *args, **more: adopt(*args, **{**more, "all_are_away": False})
    ),
    "keep-silent-connections": Planted(Connection, "end_if_silent", nothing),
    "show-watchers-no-state-that-was-held-back": Planted(Watchers, "flush", nothing),
    "show-nothing-to-the-player-who-moves": Planted(
        HttpConnection, "push_answer_and_state", lambda push, self, room, answer, state: self.push_frame(answer)
    ),
    "send-chat-to-players-only": Planted(
        LiveRoom, "push", lambda push, self, message, excluded=(): push(self, message, {*excluded, *self.watchers})
    ),
    "send-chat-twice": Planted(LiveRoom, "push", lambda push, self, *args: (push(self, *args), push(self, *args))),
    "keep-the-seat-with-the-first-tab": Planted(
        LiveRoom, "seat", lambda seat, self, new, player: player.id in self.players or seat(self, new, player)
    ),
    "send-no-change-of-the-lobby-when-a-room-closes": Planted(
        Lobby, "_note", lambda note, self, code, live: live and note(self, code, live)
    ),
    "score-a-pairing-without-its-game": Planted(
        Running, "_score", lambda score, self, *args: score(self, *args[:-1], "")
    ),
    "acknowledge-a-move-before-it-is-stored": Planted(RoomChange, "apply", acknowledge_a_move_before_it_is_stored),
    "leave-a-session-busy-after-an-error": Planted(RoomChange, "settled", leave_a_session_busy_after_an_error),
    "refuse-a-move-that-is-sent-again": Planted(COMMANDS, Move, refuse_a_move_that_is_sent_again),
    "take-a-declined-draw-for-agreed": Planted(COMMANDS, Draw, take_a_declined_draw_for_agreed),
    "begin-a-rematch-with-one-vote": Planted(COMMANDS, Rematch, begin_a_rematch_with_one_vote),
    "never-cut-off-a-client-that-does-not-read": Planted(
        HttpConnection, "pause_writing", never_cut_off_a_client_that_does_not_read
    ),
    "forget-the-states-that-a-slow-client-missed": Planted(
        HttpConnection, "resume_writing", forget_the_states_that_a_slow_client_missed
    ),
    "open-two-rooms-for-a-challenge": Planted(Challenges, "_open_room", open_two_rooms_for_a_challenge),
}


def plant(name: str) -> None:
    """Plant a fault in this process; raises `SystemExit` with all names if there is none of this name."""
    if name not in FAULTS:
        raise SystemExit(f'There is no fault "{name}". There are: {", ".join(FAULTS)}.')
    owner, key, function = FAULTS[name]
    if isinstance(owner, dict):
        owner[key] = partial(function, owner[key])
    else:
        original = vars(owner)[key]
        replacement = lambda *args, **more: function(original, *args, **more)  # noqa: E731
        setattr(owner, key, property(replacement) if isinstance(original, property) else replacement)
