"""A room in this process: its value as it is stored, who is here, and the changes that are on their way through it.

It shows states and knows who plays and who watches. How a change is carried out is the business of `changes`.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any, Final, Protocol, cast

from msgspec import Struct

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.pushes import Closed, Push, Replaced, Result
from tictactoe_protocol.refusals import describe_closing
from tictactoe_protocol.requests import Move
from tictactoe_server.core.elsewhere import moved
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.rooms import NOBODY, Command, Expire, FinishedGame, Player, Refused, Room, apply, seen_at
from tictactoe_server.core.rooms.view import StateEncoder
from tictactoe_server.core.session import Session
from tictactoe_server.core.topics import Listeners
from tictactoe_server.core.watchers import Watchers
from tictactoe_server.storage.store import MISSING
from tictactoe_server.transport.frames import encode_frame

WATCHED_SECONDS: Final = 0.05
"""How often at most those who watch a room are shown a state of it; those who play are shown each."""

_AHEAD_SECONDS: Final = 1.0  # how far the ends of games, which no later state tells, may be shown ahead of that


class RoomPhase(Enum):
    """How a room stands to the store."""

    OPENING = auto()
    """It is about to be stored for the first time."""
    STORED = auto()
    """What is here is what is stored."""
    UNCERTAIN = auto()
    """Something newer may be stored: it is read again before the next change."""
    GONE = auto()
    """It has ended, or another server has it."""


TRANSITIONS: Final = {
    RoomPhase.OPENING: {RoomPhase.STORED, RoomPhase.GONE},
    RoomPhase.STORED: {RoomPhase.UNCERTAIN, RoomPhase.GONE},
    RoomPhase.UNCERTAIN: {RoomPhase.STORED, RoomPhase.GONE},
    RoomPhase.GONE: set[RoomPhase](),
}


class Path(Protocol):
    """What carries changes out; see `Changes`."""

    moves: int
    now: Callable[[], int]
    on_room: Listeners[[LiveRoom, Room | None]]
    on_result: Listeners[[FinishedGame]]

    def settle(self, change: Change, error: Exception | None) -> None: ...

    def failed(self, change: Change, error: Exception) -> None: ...


class Change(Struct, eq=False):
    """One command on its way through one room: applied, stored, then answered and shown. Nothing else alters a room.

    `now` is when it was asked for, in ms of served time, and `asked_at` in s of `time.monotonic`; `after` is what it
    makes of the room, once applied, and `finished` the game that it ends; `path` is what carries it out. `attempts` is
    how often it had to be tried again, `rested` for how long it rested between (s). The classes made from this one say
    what follows from it.
    """

    live: LiveRoom
    now: int
    player: Player = NOBODY
    command: Command = Expire()
    after: Room | None = None
    finished: FinishedGame | None = None
    attempts: int = 0
    rested: float = 0.0
    asked_at: float = 0.0
    path: Path = cast(Any, None)

    def apply(self, room: Room) -> Room | None:
        """Return the room after the change, this very room for none, None where the room is to end; raises `Refused`.

        Called when its turn has come, and again where the store had something newer.
        """
        return apply(room, self.player, self.command, self.now)

    def settled(self, error: Exception | None) -> tuple[Session, bytes] | None:
        """Answer, now that it is stored or is known not to be: called exactly once, before anybody is shown it.

        Returns a frame for a session that is to be sent together with the new state, or None; with an error always.
        """
        return None

    def stored(self, revision: int) -> None:
        """Take what it made of the room for true, as it is stored; see `Waiter`."""
        live, before, after, path = self.live, self.live.room, self.after, self.path
        if live.change is not self:  # it was given up meanwhile
            live.doubt()
            return
        if after is None:
            live.enter(RoomPhase.GONE)
            path.settle(self, None)
            return
        if type(self.command) is Move:
            path.moves += 1
        is_new = live.revision == MISSING
        live.revision = revision
        live.is_unshown = True
        if after.clock is not None:
            after = seen_at(after, before, path.now())
        live.room = after
        if is_new or after.clock is not None or after.seats is not before.seats or after.result is not before.result:
            if is_new:
                live.enter(RoomPhase.STORED)
            path.on_room(live, None if is_new else before)
            if self.finished is not None:
                path.on_result(self.finished)
        path.settle(self, None)

    def failed(self, error: Exception) -> None:
        """Try again, or answer why it is not stored; see `Waiter`."""
        self.path.failed(self, error)


class LiveRoom(Listed):
    """`players` maps the ids of seated players to the sessions that play; those who only look on are its `watchers`.

    `room` is stored, as `revision`, once that is not `MISSING`; with `is_unshown` it is newer than what people were
    shown. One `change` is under way at a time, the next ones are `waiting`, and `is_going_on` while these are begun.
    `flag_at` and `closing_at` are the moments (s of the loop's time) at which the running clock and the deserted room
    end, None where neither does. `origin` is from where it was opened, as far as is known. Everybody was last shown
    `counted` watchers; when watchers came or went last, that was at `counted_at`, and with `is_count_due` they will be
    again. Those who watch may be shown the next state at `watched_from`, and with `is_watching_due` they will be shown
    the newest one then; `ending` is the last result that they were shown.

    A room of an event `is_kept` until the event lets go of it: it does not end because nobody is there.

    Once it is gone, `moved_to` is the URL of the server that has it, None where none has.
    """

    def __init__(
        self, room: Room, revision: int = MISSING, *, owner: str = "", origin: str = "", source: str = ""
    ) -> None:
        super().__init__(room, owner, source or origin)
        self.origin = origin
        self.revision = revision
        self.phase = RoomPhase.OPENING if revision == MISSING else RoomPhase.STORED
        self.moved_to: str | None = None
        self.change: Change | None = None
        self.waiting: deque[Change] = deque()
        self.players: dict[str, Session] = {}
        self.watchers = Watchers(room.code)
        self.flag_at: float | None = None
        self.closing_at: float | None = None
        self.counted = 0
        self.counted_at = 0.0
        self.is_unshown = self.is_going_on = self.is_count_due = self.is_watching_due = False
        self.watched_from = -math.inf
        self.ending: Result | None = None
        self.is_kept = room.event != ""
        self._encoder = StateEncoder(room)

    def enter(self, phase: RoomPhase) -> None:
        """Be in a phase from now on; raises ValueError where none leads there."""
        if phase is not self.phase:
            if phase not in TRANSITIONS[self.phase]:
                raise ValueError(f"Room {self.room.code} is {self.phase.name} and cannot be {phase.name}.")
            self.phase = phase

    def doubt(self) -> None:
        """Have the room read again before its next change, if it is stored at all."""
        if self.phase is RoomPhase.STORED:
            self.phase = RoomPhase.UNCERTAIN

    @property
    def is_gone(self) -> bool:
        return self.phase is RoomPhase.GONE

    @property
    def is_uncertain(self) -> bool:
        return self.phase is RoomPhase.UNCERTAIN

    @property
    def is_opening(self) -> bool:
        return self.phase is RoomPhase.OPENING

    @property
    def sessions(self) -> Iterator[Session]:
        """Everybody who is here."""
        yield from self.players.values()
        yield from self.watchers

    @property
    def address(self) -> str:
        """From where it is played, or else was opened; empty where that is not known."""
        return next((session.address for session in self.players.values()), self.origin)

    @property
    def has_somebody(self) -> bool:
        return bool(self.players)

    @property
    def watching(self) -> int:
        return len(self.watchers)

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody is connected for whom the game goes on: those who play, or who watch bots among themselves.

        Never while an event keeps it.
        """
        return not (self.players or self.is_kept or (self.room.is_for_bots and self.watchers))

    @property
    def is_paused(self) -> bool:
        """Whether bots play among themselves, in no event, and nobody watches."""
        return self.has_bots and not self.watchers and self.room.is_for_bots and not self.room.event

    def is_played_by(self, session: Session) -> bool:
        """Tell whether it is this session with which its player plays."""
        return session.player is not None and self.players.get(session.player.id) is session

    def has(self, session: Session) -> bool:
        """Tell whether a session plays or watches here."""
        return self.room.code in session.rooms

    def why_gone(self) -> Refused:
        """Return the refusal for one who asks for something in a room that is gone."""
        code = self.room.code
        return Refused(ErrorCode.NO_SUCH_ROOM, room=code) if self.moved_to is None else moved(code, self.moved_to)

    # -- coming and going: the one place that keeps both sides equal ----------------------------------------------

    def seat(self, session: Session, player: Player) -> None:
        """Let this session play; the one that did so before is told, and is out of the room."""
        older = self.players.get(player.id)
        if older is not None and older is not session:
            self.part(older)
            older.push(Replaced(self.room.code))
        self.watchers.discard(session)
        self.players[player.id] = session
        session.rooms.add(self.room.code)

    def admit(self, session: Session) -> None:
        """Let this session watch."""
        self.watchers.add(session)
        session.rooms.add(self.room.code)

    def part(self, session: Session) -> None:
        """Let a session go; what it was still to be sent of the room is not sent."""
        if self.is_played_by(session) and session.player is not None:
            del self.players[session.player.id]
        self.watchers.discard(session)
        session.rooms.discard(self.room.code)
        session.connection.forget_state(self.room.code)

    # -- telling --------------------------------------------------------------------------------------------------

    def show(self, now: int, answer: tuple[Session, bytes] | None = None) -> bool:
        """Send the state to everybody in the room, encoded once; `now` is in ms of served time.

        The `answer` to one of them goes out with it. Those who watch were perhaps shown a state just now: then they are
        not shown this one, and False is returned.
        """
        code, frame = self.room.code, encode_frame(self._encoder.encode(self.room, now, len(self.watchers.seen)))
        asker = None
        if answer is not None:
            asker, told = answer
            asker.connection.push_answer_and_state(code, told, frame)
        for session in self.players.values():
            if session is not asker:
                session.connection.push_state(code, frame)
        self.counted = len(self.watchers.seen)
        return not self.counted or self._show_watchers(frame)

    def show_watchers(self, now: int) -> None:
        """Send the state to those who watch, whenever they were shown the last one."""
        self.watched_from = -math.inf
        self._show_watchers(self._frame(now))

    def _show_watchers(self, frame: bytes) -> bool:
        """Send a state to those who watch, unless they were shown one just now; tell whether it was sent."""
        moment, result = asyncio.get_running_loop().time(), self.room.result
        is_end = result is not None and result is not self.ending
        if moment < self.watched_from - _AHEAD_SECONDS * is_end:
            return False
        self.watched_from = max(moment, self.watched_from) + WATCHED_SECONDS
        self.ending = result
        self.watchers.show(self.room.seq, frame)
        return True

    def show_to(self, session: Session, now: int) -> None:
        """Send the state to one session."""
        session.connection.push_state(self.room.code, self._frame(now))
        self.watchers.note(session, self.room.seq)

    def _frame(self, now: int) -> bytes:
        return encode_frame(self._encoder.encode(self.room, now, len(self.watchers)))

    def push(self, message: Push) -> None:
        """Send a message to everybody in the room, encoded once."""
        frame = encode_frame(encode(message))
        for session in self.players.values():
            session.connection.push_frame(frame)
        if self.watchers:
            self.watchers.say(frame)


def closed(room: str, code: str, /, **data: Any) -> Closed:
    """Return what those in a room are told that is gone, by the code of why; see `docs/protocol/sentences.md`."""
    return Closed(room, describe_closing(code, data) or code, code, data)
