"""Rooms in memory: the stored value, the sessions of players and watchers, and the states sent to them."""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import structlog
from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import Closed, Moved, Push, Replaced
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Session
from tictactoe_server.records.changes import Phase, StoredValue
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import Player, Refused, Room, moved_error, start_shown_turn
from tictactoe_server.rooms.view import RoomListing, StateEncoder
from tictactoe_server.scheduler import Listeners, Tasks
from tictactoe_server.storage.store import MISSING, Table
from tictactoe_server.transport.connection import encode_frame, encode_push
from tictactoe_words.catalogue import speaking
from tictactoe_words.refusals import describe_closing

WATCHED_SECONDS: Final = 0.05  # shortest time between two states for watchers; players are sent every state
CROWD: Final = 20  # more watchers than this are a crowd
CROWD_A_TURN: Final = 32  # the most watchers that a broadcast reaches in a turn of the event loop
GATHER_SECONDS: Final = 0.05  # how long chat for a crowd is gathered
MOST_UNSENT: Final = 64  # states between two that watchers are sent; after more, they have a gap

log: Final = structlog.get_logger(__name__)


class Update(Struct, eq=False):
    """A state for watchers, after states that they were not sent."""

    seq: int
    since: int  # watchers whose last state is older have a gap
    states: list[bytes]  # with consecutive `seq`
    frames: dict[int, bytes] = {}  # the last state, by the `seq` that its news follow

    def frame_after(self, seen: int) -> bytes:
        since = seen if self.since <= seen < self.seq - 1 else self.seq - 1
        if since not in self.frames:
            states = self.states[since - self.seq :]
            self.frames[since] = encode_frame(merge_news(states, since) if len(states) > 1 else states[0])
        return self.frames[since]


def merge_news(states: Sequence[bytes], since: int) -> bytes:
    """Return the last of some consecutive encoded states, with the news of all of them, which follow `since`."""
    fields = [decode(state) for state in states]
    return encode({**fields[-1], "since": since, "news": [event for state in fields for event in state["news"]]})


class Watchers:
    """The sessions that watch a room, in order of arrival.

    A broadcast of states and chat runs until it has reached all watchers. Meanwhile, new states and chat are gathered
    for the next broadcast. No watcher is sent a state that is older than its last state, and the state that follows a
    watcher's last state has all news since then.

    Attributes:
        seen: The `seq` of the last state that each session was sent.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self.seen: dict[Session, int] = {}
        self._newest = Update(-1, -1, [])
        self._coming_states: list[Update] = []
        self._coming_lines: list[bytes] = []
        self._states: list[Update] = []
        self._lines = b""
        self._left: dict[Session, None] = {}
        self._next_turn: asyncio.Handle | None = None
        self._gathering: asyncio.TimerHandle | None = None
        self._flush_timer: asyncio.TimerHandle | None = None
        self._next_at = -math.inf  # the earliest time for the next state

    def __len__(self) -> int:
        return len(self.seen)

    def __iter__(self) -> Iterator[Session]:
        return iter(self.seen)

    def __contains__(self, session: object) -> bool:
        return session in self.seen

    @property
    def are_many(self) -> bool:
        return len(self.seen) > CROWD

    def discard(self, session: Session) -> None:
        self.seen.pop(session, None)
        self._left.pop(session, None)

    def show(self, room: Room, state: bytes, before: Room | None) -> None:
        """Broadcast the newest state, a little later if the last state is too recent."""
        self.note(room, state, before)
        loop = asyncio.get_running_loop()
        if self._flush_timer is not None:
            return
        if loop.time() >= self._next_at:
            self.flush()
        else:
            self._flush_timer = loop.call_at(self._next_at, self.flush)

    def note(self, room: Room, state: bytes, before: Room | None) -> None:
        """Add the newest state to the next broadcast. Marks in news refer to their state: new seats begin a new one."""
        self._newest.frames.clear()
        if room.seq == self._newest.seq:
            self._newest.states[-1:] = [state]
        elif before is None or before.seq != self._newest.seq or len(self._newest.states) == MOST_UNSENT:
            self._newest = Update(room.seq, room.seq, [state])
        else:
            if self._flush_timer is not None and (room.game != before.game or room.seats is not before.seats):
                self.flush()
            self._newest.seq = room.seq
            self._newest.states.append(state)

    def flush(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None
        self._next_at = asyncio.get_running_loop().time() + WATCHED_SECONDS
        self._coming_states.append(self._newest)
        self._newest = Update(self._newest.seq, self._newest.seq, [])
        if self._next_turn is None:
            self._continue_broadcast()

    def show_to(self, session: Session, room: Room, state: bytes, before: Room | None) -> None:
        self.note(room, state, before)
        updates = [*self._states, *self._coming_states, self._newest]
        self._send_states(session, updates if self.seen[session] >= 0 else updates[-1:])

    def say(self, frame: bytes) -> None:
        """Broadcast chat. For a crowd, or during a broadcast, messages are gathered for `GATHER_SECONDS` first."""
        self._coming_lines.append(frame)
        if self.are_many or self._next_turn is not None:
            loop = asyncio.get_running_loop()
            self._gathering = self._gathering or loop.call_later(GATHER_SECONDS, self._end_gathering)
        else:
            self._continue_broadcast()

    def finish(self) -> None:
        if self._flush_timer is not None:
            self.flush()
        self._send(len(self._left))
        self._begin_broadcast()
        self._send(len(self._left))

    def _end_gathering(self) -> None:
        self._gathering = None
        if self._next_turn is None:
            self._continue_broadcast()

    def _continue_broadcast(self) -> None:
        self._next_turn = None
        if not self._left:
            self._begin_broadcast()
        self._send(min(len(self._left), CROWD_A_TURN))
        if self._left or self._coming_states or (self._coming_lines and self._gathering is None):
            self._next_turn = asyncio.get_running_loop().call_soon(self._continue_broadcast)

    def _begin_broadcast(self) -> None:
        self._states, self._coming_states = self._coming_states, []
        self._lines, self._coming_lines = b"".join(self._coming_lines), []
        self._left = dict.fromkeys(self.seen)

    def _send(self, count: int) -> None:
        for _ in range(count):
            session, _ = self._left.popitem()
            self._send_states(session, self._states)
            if self._lines:
                session.connection.push_frame(self._lines)

    def _send_states(self, session: Session, updates: Sequence[Update]) -> None:
        """Send the states that a session has not seen; the last one also if it has seen that `seq`."""
        for update in updates:
            seen = self.seen[session]
            if update.seq > seen or (update.seq == seen and update is updates[-1]):
                self.seen[session] = update.seq
                session.connection.push_state(self._code, update.frame_after(seen))


class RoomEvents(ABC):
    """The part of `Rooms` that a `LiveRoom` needs: a table, and listeners, which only stored changes notify.

    Attributes:
        moves: The number of moves that were stored.
        on_change: Called with each room that is new or whose seats or result changed.
        on_result: Called with each finished or aborted game and its id in the game log, or "" if it is not kept.
        on_close: Called with each closed room and the notice to its players.
        on_shown: Called with a room with bots each time it has a new state.
        keeping: A finished game is kept in the game log if all of these functions return True.
    """

    def __init__(self, table: Table[Room], now: ServedTime) -> None:
        self.table = table
        self.now = now
        self.tasks = Tasks()
        self.moves = 0
        self.on_change = Listeners[[LiveRoom]]()
        self.on_result = Listeners[[FinishedGame, str]]()
        self.on_close = Listeners[[LiveRoom, Closed]]()
        self.on_shown = Listeners[[LiveRoom]]()
        self.keeping: list[Callable[[LiveRoom, FinishedGame], bool]] = []

    @abstractmethod
    def update(self, live: LiveRoom, before: Room | None) -> None:
        """Update the indexes for a new or changed room, and call `on_change`."""

    @abstractmethod
    def remove(self, live: LiveRoom, why: Closed | Moved | None) -> None:
        """Remove a deleted or moved room, and send its sessions the notice `why`. Call `on_close` if it was deleted.

        Without `why`, the room is empty and stays in the store; `on_sleep` is called.
        """

    def notify(self, live: LiveRoom, before: Room | None, over: FinishedGame | None = None) -> None:
        """Notify the listeners of a new room (`before` is None) or of a stored change, which may end a game."""
        try:
            self.update(live, before)
        except Exception:  # the change is stored, so its request must still be answered
            log.exception("updating the indexes failed", room=live.room.code)
        if over is not None:
            self.on_result(over, over.id if live.room.kept_at else "")


class LiveRoom(RoomListing, StoredValue[Room]):
    """A room in memory. Times are in seconds on the event loop's clock.

    Attributes:
        players: Sessions by id of the seated player. A session also plays for the player's guests.
        origin: The address of the player who opened the room, or "".
        moved_to: URL of the server that owns the room now, if the room has moved.
        flag_at: When the running clock and the holds are checked next, or None.
        closing_at: When the room closes if it is still abandoned, or None.
        counted: The number of watchers in the last state that was sent.
        is_unshown: Whether the room has changed since its state was last sent.
        is_count_due: Whether the number of watchers is scheduled to be sent.
        is_kept: Whether the room stays open while it is empty.
        before: The room before its last change, or None if that is unknown, as after loading.
    """

    kind = "room"
    value = RoomListing.room  # type: ignore[misc]  # the same slot: listings read it as `room`

    def __init__(
        self,
        rooms: RoomEvents,
        room: Room,
        revision: int = MISSING,
        *,
        owner: str = "",
        origin: str = "",
        source: str = "",
    ) -> None:
        StoredValue.__init__(self, rooms.table, room.code, rooms.tasks, room, revision)
        RoomListing.__init__(self, room, owner, source or origin)
        self.phase = Phase.OPENING if revision == MISSING else Phase.STORED
        self.rooms = rooms
        self.origin = origin
        self.moved_to: str | None = None
        self.players: dict[str, Session] = {}
        self.watchers = Watchers(room.code)
        self.flag_at: float | None = None
        self.closing_at: float | None = None
        self.counted = 0
        self.is_unshown = self.is_count_due = False
        self.is_kept = room.terms.is_organised
        self.before: Room | None = None
        self._encoder = StateEncoder(room)

    def rename(self, code: str) -> None:
        """Change the code of a room that is not stored yet."""
        self.room = replace(self.room, code=code)
        self.key = code
        self.watchers = Watchers(code)

    @property
    def is_gone(self) -> bool:
        return self.phase is Phase.GONE

    @property
    def is_opening(self) -> bool:
        return self.phase is Phase.OPENING

    @property
    def sessions(self) -> Iterator[Session]:
        yield from self.players.values()
        yield from self.watchers

    @property
    def address(self) -> str:
        """The address of a player, else that of the opener; "" if unknown."""
        session = next(iter(self.players.values()), None)
        return self.origin if session is None else session.address

    @property
    def has_player(self) -> bool:
        return bool(self.players) or self.room.is_standing_offer

    @property
    def watcher_count(self) -> int:
        return len(self.watchers)

    @property
    def is_abandoned(self) -> bool:
        """Whether the room may be closed: it is not kept, and no player or watcher of a game between bots is there."""
        return not (self.players or self.is_kept or (self.is_for_bots and self.watchers))

    def session_of(self, player: str) -> Session | None:
        """Return the session that controls a player's or guest's seat, or None if the player is not connected."""
        return self.players.get(owner_of(player))

    def is_played_by(self, session: Session) -> bool:
        """Return True if `session` is the one controlling its player's seat."""
        return session.player is not None and self.players.get(session.player.id) is session

    def check_player(self, session: Session) -> None:
        if not self.is_played_by(session):
            if session in self.watchers:
                raise Refused(ErrorCode.NOT_SEATED)
            raise Refused(ErrorCode.NOT_IN_ROOM, room=self.room.code)

    def gone_error(self) -> Refused:
        code = self.room.code
        return Refused(ErrorCode.NO_SUCH_ROOM, room=code) if self.moved_to is None else moved_error(code, self.moved_to)

    def busy_error(self) -> Refused:
        return Refused(ErrorCode.BUSY, "room", retry_ms=500)

    def changed(self, before: Room) -> None:
        self.is_unshown = True
        self.room = start_shown_turn(self.room, before, self.rooms.now())
        self.before = before if self.room.seq == before.seq + 1 else None
        self.rooms.notify(self, before)

    def lost(self) -> None:
        self.enter(Phase.GONE)
        self.rooms.remove(self, closing_notice(self.room.code, "elsewhere"))

    # -- sessions -------------------------------------------------------------------------------------------------

    def seat(self, session: Session, player: Player) -> None:
        """Give a session control of its player's seat, and remove the session that controlled the seat before."""
        older = self.players.get(player.id)
        if older is not None and older is not session:
            self.part(older)
            older.push(Replaced(self.room.code))
        self.watchers.discard(session)
        self.players[player.id] = session
        session.rooms[self.room.code] = self

    def admit(self, session: Session) -> None:
        self.watchers.seen.setdefault(session, -1)
        session.rooms[self.room.code] = self

    def part(self, session: Session) -> None:
        """Remove a session, and discard the state that is queued to be sent to it."""
        if self.is_played_by(session) and session.player is not None:
            del self.players[session.player.id]
        self.watchers.discard(session)
        session.rooms.pop(self.room.code, None)
        session.connection.forget_state(self.room.code)

    # -- broadcasts -----------------------------------------------------------------------------------------------

    def show(self, asker: Session | None = None, answer: bytes = b"") -> None:
        """Send the state to all sessions and to the room's bots. `asker` gets `answer` and the state in one write."""
        room, self.is_unshown = self.room, False
        self.counted = count = len(self.watchers.seen)
        if asker is None and not (self.players or count or self.has_bots):
            return
        code, moment = room.code, self.rooms.now() if room.clock is not None or room.gone_at else 0
        state = self._encoder.encode(room, moment, count, self.before)
        frame = encode_frame(state)
        if asker is not None:
            asker.connection.push_answer_and_state(code, answer, frame)
        for session in self.players.values():
            if session is not asker:
                session.connection.push_state(code, frame)
        if self.has_bots:
            self.rooms.on_shown(self)
        if count:
            self.watchers.show(room, state, self.before)

    def show_to(self, session: Session, now: int) -> None:
        state = self._encoder.encode(self.room, now, len(self.watchers), self.before)
        if session in self.watchers:
            self.watchers.show_to(session, self.room, state, self.before)
        else:
            session.connection.push_state(self.room.code, encode_frame(state))

    def push(self, message: Push, excluded: Collection[Session] = ()) -> None:
        frame = encode_push(message)
        for session in self.sessions if excluded else self.players.values():
            if session not in excluded:
                session.connection.push_frame(frame)
        if self.watchers and not excluded:
            self.watchers.say(frame)


def closing_notice(room: str, code: str, /, language: str = "", **data: Any) -> Closed:
    """Return the notice that a room has closed. `docs/reference/protocol/sentences.md` lists codes and data."""
    with speaking(language):
        return Closed(room, describe_closing(code, data) or code, code, data)
