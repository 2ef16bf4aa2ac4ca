"""A room in this process: its value as it is stored, and who is here.

`LiveRoom` is a `Kept` value that shows its states, and knows who plays and who watches; a `RoomChange` is one command
on its way through it, stored, only then answered and shown. `Changes` is what all rooms have in common: where they are
stored, and who hears of what has changed.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, Final

import structlog
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import Closed, Push, Replaced, Result
from tictactoe_protocol.refusals import describe_closing
from tictactoe_protocol.requests import Move
from tictactoe_server.agenda import Tasks
from tictactoe_server.listings.listed import Listed, moved
from tictactoe_server.records.changes import Change, Kept, Phase
from tictactoe_server.rooms import (
    NOBODY,
    Command,
    Expire,
    FinishedGame,
    Player,
    Refused,
    Room,
    apply,
    finished_game,
    is_expired,
    seen_at,
)
from tictactoe_server.rooms.view import StateEncoder
from tictactoe_server.sessions.session import Session
from tictactoe_server.storage.store import MISSING, StoreUnavailable, Table
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.watching.topics import Listeners
from tictactoe_server.watching.watchers import Watchers

WATCHED_SECONDS: Final = 0.05
"""How often at most those who watch a room are shown a state of it; those who play are shown each."""

_AHEAD_SECONDS: Final = 1.0  # how far the ends of games, which no later state tells, may be shown ahead of that

READ_AGAIN_SECONDS: Final = 5.0
"""How soon a room is read again of which it is not known what is stored, where nobody asks for anything in it."""

log: Final = structlog.get_logger(__name__)


class RoomChange(Change[Room], eq=False):
    """One command on its way through one room. Nothing else alters a room.

    `now` is when it was asked for, in ms of served time; `request` is the command, by the rules, where nothing else
    makes the next room. `over` is the game that it ends, which is `finished` too where that is kept.
    """

    live: LiveRoom
    now: int
    player: Player = NOBODY
    request: Any = Expire()
    over: FinishedGame | None = None

    def apply(self, room: Room) -> Room | None:
        return apply(room, self.player, self.request, self.now) if self.make is None else self.make(room)

    def settled(self, error: Exception | None) -> tuple[Session, bytes] | None:
        """Answer as any change, before anybody is shown it.

        Returns a frame for a session that is to be sent together with the new state, or None; with an error always.
        """
        self.then(error)
        return None

    def failed(self, error: Exception) -> None:
        self.over = self.finished = None  # on what others stored it may end nothing
        super().failed(error)

    def stored(self, revision: int) -> None:
        """Take what it made of the room for true, as it is stored; see `Waiter`."""
        live, before, after, path = self.live, self.live.room, self.after, self.live.path
        if live.change is not self:  # it was given up meanwhile
            live.doubt()
            return
        if after is None:
            live.enter(Phase.GONE)
            live.settle(self, None)
            return
        if type(self.request) is Move:
            path.moves += 1
        is_new = live.revision == MISSING
        live.revision = revision
        live.is_unshown = True
        if after.clock is not None:
            after = seen_at(after, before, path.now())
        live.room = after
        if is_new or (after.seats is not before.seats and after.game == before.game):
            path.tell_now(live, None if is_new else before, self.over)
        elif after.result is not before.result or after.clock is not None:
            path.tell_soon(live, before, self.over)
        self.is_settled = True
        try:
            answer = self.settled(None)
            if live.is_unshown:
                live.show(answer)
            elif answer is not None:
                answer[0].connection.push_frame(answer[1])
        except Exception:
            log.exception("a change could not be answered or shown", room=after.code)
        live.change = None
        if live.waiting:
            live.go_on()


class LiveRoom(Listed, Kept[Room]):
    """`players` maps the ids of seated players to their sessions, which play for their guests, too.

    Those who only look on are its `watchers`.

    Its value is the `room`; with `is_unshown` that is newer than what people were shown. `path` leads to what all rooms
    have in common.

    `flag_at` and `closing_at` are the moments (s of the loop's time) at which the running clock and the deserted room
    end, None where neither does. `origin` is from where it was opened, as far as is known. Everybody was last shown
    `counted` watchers; when watchers came or went last, that was at `counted_at`, and with `is_count_due` they will be
    again. Those who watch may be shown the next state at `watched_from`, and with `is_watching_due` they will be shown
    the newest one then; `ending` is the last result that they were shown.

    A room whose terms say so `is_kept` until it is let go of: it does not end because nobody is there.

    Once it is gone, `moved_to` is the URL of the server that has it, None where none has.
    """

    kind = "room"
    value = Listed.room  # type: ignore[misc]  # the same place: those who look for rooms read it as `room`

    def __init__(
        self, path: Changes, room: Room, revision: int = MISSING, *, owner: str = "", origin: str = "", source: str = ""
    ) -> None:
        Kept.__init__(self, path.rooms, room.code, path.tasks, room, revision)
        Listed.__init__(self, room, owner, source or origin)
        self.phase = Phase.OPENING if revision == MISSING else Phase.STORED
        self.path = path
        self.origin = origin
        self.moved_to: str | None = None
        self.players: dict[str, Session] = {}
        self.watchers = Watchers(room.code)
        self.flag_at: float | None = None
        self.closing_at: float | None = None
        self.counted = 0
        self.counted_at = 0.0
        self.is_unshown = self.is_count_due = self.is_watching_due = False
        self.watched_from = -math.inf
        self.ending: Result | None = None
        self.is_kept = room.terms.is_kept
        self._encoder = StateEncoder(room)

    @property
    def is_gone(self) -> bool:
        return self.phase is Phase.GONE

    @property
    def is_opening(self) -> bool:
        return self.phase is Phase.OPENING

    @property
    def sessions(self) -> Iterator[Session]:
        """Everybody who is here."""
        yield from self.players.values()
        yield from self.watchers

    @property
    def address(self) -> str:
        """From where it is played, or else was opened; empty where that is not known."""
        for session in self.players.values():
            return session.source.address
        return self.origin

    @property
    def has_somebody(self) -> bool:
        return bool(self.players)

    @property
    def watching(self) -> int:
        return len(self.watchers)

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody is connected for whom the game goes on: those who play, or who watch bots among themselves.

        Never while it is kept.
        """
        return not (self.players or self.is_kept or (self.room.is_for_bots and self.watchers))

    @property
    def is_paused(self) -> bool:
        """Whether bots play among themselves, for nobody who waits for the result, and nobody watches."""
        return self.has_bots and not self.watchers and self.room.is_for_bots and not self.room.terms.is_kept

    def session_of(self, player: str) -> Session | None:
        """Return the session that plays for a player or guest, or None if they are away."""
        return self.players.get(owner_of(player))

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

    def busy(self) -> Refused:
        return Refused(ErrorCode.BUSY, "room", retry_ms=500)

    def changed(self, before: Room) -> None:
        self.is_unshown = True
        self.path.tell_now(self, before)

    def lost(self) -> None:
        self.enter(Phase.GONE)
        self.path.on_gone(self, closed(self.room.code, "elsewhere"))

    # -- changes --------------------------------------------------------------------------------------------------

    def read_again(self) -> None:
        self.doubt()
        if self.phase is Phase.UNCERTAIN and self.change is None:
            RoomChange(self, self.path.now(), make=leave_alone).submit()

    def first(self, change: RoomChange) -> RoomChange:  # type: ignore[override]
        """Return the end of a turn whose clock had run out before a change was asked for, which follows then."""
        room = self.room
        if room.clock_started_at is None or change.player is NOBODY or not is_expired(room, change.now):
            return change
        then = partial(_follow, change)
        self.change = change = RoomChange(self, change.now, asked_at=change.asked_at, then=then)
        self.answer_in_time(change)
        return change

    def save(self, change: RoomChange, after: Room) -> None:  # type: ignore[override]
        """Let a room be stored, and with the end of a game that game."""
        if after.result is not None and self.room.result is None:
            change.over = game = finished_game(after, time.time_ns() // 1_000_000)
            is_kept = not after.was_aborted
            for keeps in self.path.keeping:
                is_kept = is_kept and keeps(self, game)
            change.finished = game if is_kept else None
            change.after = after = replace(after, kept_at=game.at if is_kept else 0)
        self.table.save(self.key, after, self.revision, change, change.finished)

    def answer(self, change: Change[Room], error: Exception | None) -> None:
        """Answer a change that made nothing new, and show what was read meanwhile."""
        answer = change.settled(error)
        if self.is_unshown and self.phase is not Phase.GONE:
            self.show(answer)
        elif answer is not None:
            answer[0].connection.push_frame(answer[1])

    def settle(self, change: Change[Room], error: Exception | None) -> None:
        super().settle(change, error)
        if isinstance(error, StoreUnavailable) and self.phase is Phase.UNCERTAIN and self.change is None:
            seconds = READ_AGAIN_SECONDS * random.uniform(1, 2)
            asyncio.get_running_loop().call_later(seconds, self.read_again)

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

    def show(self, answer: tuple[Session, bytes] | None = None) -> bool:
        """Send the state, encoded once, to everybody in the room and to its bots.

        The `answer` to a session goes out with the state. Returns False if watchers were sent a state too recently:
        they are sent the newest one a little later.
        """
        room, self.is_unshown = self.room, False
        self.counted = count = len(self.watchers.seen)
        code, moment = room.code, self.path.now() if room.clock is not None or room.gone_at else 0
        frame = encode_frame(self._encoder.encode(room, moment, count))
        asker = None
        if answer is not None:
            asker, told = answer
            asker.connection.push_answer_and_state(code, told, frame)
        for session in self.players.values():
            if session is not asker:
                session.connection.push_state(code, frame)
        if self.has_bots:
            self.path.on_shown(self)
        if not count or self._show_watchers(frame):
            return True
        if not self.is_watching_due:
            self.is_watching_due = True
            asyncio.get_running_loop().call_at(self.watched_from, self.show_watchers)
        return False

    def show_watchers(self) -> None:
        """Send watchers the state that was held back, if any."""
        if self.is_watching_due:
            self.is_watching_due = False
            self.watched_from = -math.inf
            self._show_watchers(self._frame(self.path.now()))

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

    def push(self, message: Push, but: Collection[Session] = ()) -> None:
        """Send a message to everybody in the room but some, encoded once."""
        frame = encode_frame(encode(message))
        for session in self.sessions if but else self.players.values():
            if session not in but:
                session.connection.push_frame(frame)
        if self.watchers and not but:
            self.watchers.say(frame)


class Changes:
    """What the changes of all rooms have in common: where rooms are stored, and who hears of what has changed.

    Each is stored first: in the table `rooms`, where that takes its time with a task among `tasks`. Then those in the
    room are shown it, and listeners hear of it, at once or a little later (`tell_now`, `tell_soon`): of `on_room` each
    room that is new, or whose seats, clock or result changed, with what it was before, None for a new one; of
    `on_result` each game that is over, also one that was aborted, with its id in the log, empty where it is not kept;
    of `on_gone` each room that has ended, with what people are told of that. Those of `on_shown` hear of each new state
    of a room in which bots sit.

    A game that is over goes into the log where all of `keeping` say so. `now` returns ms of served time.
    `moves` is how many were played.
    """

    def __init__(self, rooms: Table[Room], now: Callable[[], int]) -> None:
        self.rooms = rooms
        self.now = now
        self.tasks = Tasks()
        self.moves = 0
        self.on_room = Listeners[[LiveRoom, Room | None]]()
        self.on_result = Listeners[[FinishedGame, str]]()
        self.on_gone = Listeners[[LiveRoom, Closed]]()
        self.on_shown = Listeners[[LiveRoom]]()
        self.keeping: list[Callable[[LiveRoom, FinishedGame], bool]] = []
        self._changed: dict[LiveRoom, Room] = {}
        self._finished: list[tuple[FinishedGame, bool]] = []

    async def carry_out(self, live: LiveRoom, player: Player, command: Command) -> None:
        """Carry a command out for those who can await it; raises `Refused` and `StoreUnavailable`."""
        await RoomChange(live, self.now(), player, command).until_settled()

    def tell_now(self, live: LiveRoom, before: Room | None, finished: FinishedGame | None = None) -> None:
        """Tell the listeners of a room that is new, or in which somebody came or went."""
        self.catch_up()
        if before is None:
            live.enter(Phase.STORED)
        self.on_room(live, before)
        if finished is not None:
            self.on_result(finished, live.room.game_id)

    def tell_soon(self, live: LiveRoom, before: Room, finished: FinishedGame | None = None) -> None:
        """Tell the listeners of all else at the end of this turn of the event loop, when those in the room know it."""
        if not self._changed:
            asyncio.get_running_loop().call_soon(self.catch_up)
        self._changed.setdefault(live, before)
        if finished is not None:
            self._finished.append((finished, live.room.kept_at > 0))

    def catch_up(self) -> None:
        """Tell the listeners of what has changed in this turn until now: before somebody looks at what they know."""
        if self._changed:
            changed, self._changed, finished, self._finished = self._changed, {}, self._finished, []
            for live, before in changed.items():
                self.on_room(live, before)
            for game, is_kept in finished:
                self.on_result(game, game.id if is_kept else "")


def closed(room: str, code: str, /, **data: Any) -> Closed:
    """Return what those in a room are told that is gone, by the code of why; see `docs/protocol/sentences.md`."""
    return Closed(room, describe_closing(code, data) or code, code, data)


def leave_alone(room: Room) -> Room:
    """Return the same room: for what comes of having its turn, as an uncertain room is read again first."""
    return room


def _follow(change: RoomChange, error: Exception | None) -> None:
    """Let a change follow the end of a turn whose clock had run out before it was asked for."""
    if error is None:
        change.live.waiting.appendleft(change)
    else:
        change.is_settled = True
        change.settled(error)
