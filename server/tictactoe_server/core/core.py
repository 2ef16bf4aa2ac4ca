"""The core: rooms, their path and their timers, and who is here. Services plug into it; it knows none of them.

Each says what it handles, keeps and shows. A request reaches it as a `Call`; what was refused, and why, is said here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import structlog
from msgspec import UNSET

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.pushes import Ok, SeatState
from tictactoe_server.agenda import Agenda
from tictactoe_server.core.lists import Lists
from tictactoe_server.core.live_room import Changes, LiveRoom, RoomChange
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.timers import Timers
from tictactoe_server.listings.additions import Additions
from tictactoe_server.listings.listed import Elsewhere
from tictactoe_server.listings.lobby import Lobby
from tictactoe_server.listings.room_log import RoomLog
from tictactoe_server.people.limits import RETRY_MS, Allowances
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.rooms import Command, Player, Refused, Room, apply, open_room
from tictactoe_server.rooms.terms import terms_of
from tictactoe_server.sessions.session import Session
from tictactoe_server.sessions.tally import Tally
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.storage.specs import Storage, TableSpec
from tictactoe_server.storage.store import StoreBusy, StoreUnavailable, Unreadable
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.http_messages import HttpResponse
from tictactoe_server.transport.rate_limit import Held
from tictactoe_server.watching.topics import Topic

log: Final = structlog.get_logger(__name__)


MOST_LEFT: Final = 20_000
"""Of how many players it is remembered when they left."""


class Presence:
    """The sessions of all peers whose handshake is done, in the order of their arrival."""

    def __init__(self) -> None:
        self._since: dict[Session, float] = {}
        self._of = Held()  # the sessions of each player
        self._left_at: dict[str, float] = {}
        self._began_at: float | None = None

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._since))

    @property
    def greeted(self) -> list[tuple[Session, Player]]:
        """Those who have said who they are, with that."""
        return [(session, session.player) for session in self._since if session.player is not None]

    @property
    def ids(self) -> set[str]:
        """The players who are here."""
        return set(self._of)

    def add(self, session: Session) -> None:
        now = self._since[session] = asyncio.get_running_loop().time()
        self._began_at = self._began_at or now

    def greet(self, session: Session, player: Player) -> None:
        """Know whose session it is, unless it has ended."""
        session.player = player
        if session in self._since:
            self._of.add(player.id, session)

    def remove(self, session: Session) -> None:
        self._since.pop(session, None)
        if session.player is not None:
            self._of.discard(session.player.id, session)
            self._left_at.pop(session.player.id, None)
            self._left_at[session.player.id] = asyncio.get_running_loop().time()
            if len(self._left_at) > MOST_LEFT:
                del self._left_at[next(iter(self._left_at))]

    def seconds_away(self, id: str) -> float:
        """Return for how long a player has been away who is not here: at most since the first connection of all."""
        now = asyncio.get_running_loop().time()
        return now - self._left_at.get(id, self._began_at or now)

    def seconds(self, session: Session) -> float:
        """Return for how long somebody has been here."""
        return asyncio.get_running_loop().time() - self._since[session]

    def of_player(self, id: str) -> list[Session]:
        """Return the sessions of one player."""
        return list(self._of.get(id, ()))


class Core:
    """What all services work with. Rooms hold the seat of one who drops for `hold_ms`; limits go by `monotonic_ns`.

    `on_room` and `on_result` add a listener: to each room that opens or whose seats, clock or result change, with what
    it was before; to each game that is over and stored, also one that was aborted, with its id in the log or empty.
    `additions` takes the fields that services add to `welcome` and to rows. All of `seating` are awaited before a
    player without a seat joins a room whose seats are assigned.
    """

    def __init__(
        self,
        store: Storage,
        time: ServedTime,
        limits: Limits,
        hold_ms: int,
        monotonic_ns: Callable[[], int],
        elsewhere: Elsewhere | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings = settings or Settings()
        self.store = store
        self.time = time
        self.limits = limits
        self.hold_ms = hold_ms
        self.monotonic_ns = monotonic_ns
        self.tally = tally = Tally()
        self.presence = Presence()
        self.agenda = Agenda()
        self.additions = additions = Additions(hides_names=settings.hides_names)
        self.seating: list[Callable[[LiveRoom], Awaitable[object]]] = []
        elsewhere, rooms = elsewhere or Elsewhere(), store.table(ROOMS)
        self.changes = changes = Changes(rooms, time)
        self.on_room, self.on_result = changes.on_room.add, changes.on_result.add
        self.timers = Timers(self.agenda, changes, time, limits)
        self.lobby = Lobby(time, changes.catch_up, additions)
        self.lists = lists = Lists(limits, tally.limited, self.lobby, elsewhere)
        self.registry = Registry(rooms, self.timers, lists, RoomLog(tally))
        self.allowances = Allowances(limits, tally.limited, monotonic_ns)

    async def open_room(
        self, rules: Rules, *, seats: Mapping[str, SeatState], owner: str = "", origin: str = "", **fields: Any
    ) -> LiveRoom:
        """Open a room in which nobody is yet, and return it once it is stored; it counts for the owner.

        Raises `Refused` and `StoreUnavailable`, and `RoomExists` if a kept room's code may be taken.

        Args:
            seats: Reserved seats by mark: of players who come by `join`, and of bots.
            fields: As for `rooms.open_room`, and the `code`, by default a free one.
        """
        live = self.new_room(rules, None, self.time(), owner=owner, origin=origin, reserved=seats, **fields)

        def then(error: Exception | None) -> None:
            if error is None:
                self.timers.close_later(live)
            else:
                self.lists.give_up(live)

        opening = RoomChange(live, live.room.opened_at, then=then, make=lambda room: self.lists.with_free_code(opening))
        await opening.until_settled()
        return live

    def let_go(self, live: LiveRoom) -> None:
        """Let a room that is kept end as any other does, once nobody is there; after a restart to be said again."""
        live.is_kept = False
        self.timers.close_later(live)

    def new_room(
        self, rules: Rules, player: Player | None, now: int, *, owner: str, origin: str, code: str = "", **fields: Any
    ) -> LiveRoom:
        """Return a room that is about to be opened, under a new code where none is given; raises `Refused`.

        The game of one that is `rated` is always kept, and counts now as one that is.
        """
        rated, start_ms = fields.get("rated", False), round(self.limits.start_seconds * 1000)
        if rated and not self.allowances.take_game({owner: origin}, rules.rows * rules.columns):
            raise Refused(ErrorCode.RATE_LIMITED, "kept", retry_ms=RETRY_MS)
        fields = {"hold_ms": self.hold_ms, "start_ms": start_ms, "terms": terms_of("", rated=rated), **fields}
        room = open_room(code or self.lists.new_code(), rules, player, now, **fields)
        source = self.registry.elsewhere.source_of(origin)
        live = LiveRoom(self.changes, room, owner=owner, origin=origin, source=source)
        self.lists.expect(live)
        return live

    async def act(self, code: str, player: Player, command: Command) -> None:
        """Carry out a command of a bot; raises `Refused` and `StoreUnavailable`."""
        await self.changes.carry_out(await self.registry.find(code), player, command)

    def count_games(self) -> int:
        """Return how many games are on of which a player is here."""
        here = self.registry.by_code.values()
        return sum(bool(live.players) and live.room.status == "playing" for live in here)


def bot_seats(levels: Sequence[str]) -> list[SeatState]:
    """Return the seats of bots; those of one room are told apart by numbers."""
    names = [f"{level}-bot" if len(levels) == 1 else f"{level}-bot-{number}" for number, level in enumerate(levels, 1)]
    return [
        SeatState(f"bot-{secrets.token_hex(4)}", name, online=True, bot=level)
        for name, level in zip(names, levels, strict=True)
    ]


class Call(RoomChange, kw_only=True, eq=False):
    """A `request` that came at `now` (ms of served time); `live` is the room it names.

    `player` is who acts: the player of the `session`, or one of the player's guests.

    It is the change itself where it asks for one of the room in which the player plays: the session is busy until it is
    settled.
    """

    session: Session

    def answer(self, **content: Any) -> None:
        """Say that it was carried out, to one who gave it an id; see `Ok` for what may be said."""
        if self.request.id is not UNSET:
            self.session.push(Ok(id=self.request.id, **content))

    def answer_with_room(self, live: LiveRoom) -> None:
        """Say that it led into a room, and what has been played there."""
        marks = live.room.marks_of(self.player.id) if live.is_played_by(self.session) else []
        seat = live.room.mark_of(self.player.id) if marks else None
        seats = tuple(marks) if len(marks) > 1 else UNSET
        self.answer(room=live.room.code, seat=seat, seats=seats, moves=live.room.position.moves)

    def apply(self, room: Room) -> Room | None:
        """Return the room after the request, if it is still this session with which the player plays."""
        live = self.live
        if live.players.get(self.player.id) is not self.session and not live.is_played_by(self.session):
            if self.session in live.watchers:
                raise Refused(ErrorCode.NOT_SEATED)
            raise Refused(ErrorCode.NOT_IN_ROOM, room=room.code)
        return apply(room, self.player, self.request, self.now)

    def settled(self, error: Exception | None) -> tuple[Session, bytes] | None:
        """Answer, and let the session go on if it had to wait."""
        session, answer = self.session, None
        if error is None:
            answer = self.carried_out()
        else:
            refuse(session, self.request, error)
        if session.is_busy:
            session.go_on()
        return answer

    def wait(self) -> None:
        """Let the session wait with what it says next."""
        self.session.is_busy = True

    def carried_out(self) -> tuple[Session, bytes] | None:
        """Answer what is stored, before anybody is shown it; returns the answer where it goes out with the state."""
        id = self.request.id
        return None if id is UNSET else (self.session, encode_frame(b'{"type":"ok","id":%b}' % encode(id)))


def refuse(session: Session, request: Any, error: Exception) -> None:
    """Say why a request was not carried out; what is nobody's intention is logged."""
    refused = _refusal_of(request, error)
    id = None if request.id is UNSET else request.id
    session.refuse(refused.answer(id=id, room=getattr(request, "room", None)))


def _refusal_of(request: object, error: Exception) -> Refused:
    kind = type(request).__name__
    match error:
        case Refused():
            return error
        case StoreBusy():
            return Refused(ErrorCode.BUSY, "store", retry_ms=500)
        case StoreUnavailable() if not isinstance(error, Unreadable):
            log.warning("store unavailable", request=kind)
            return Refused(ErrorCode.UNAVAILABLE, retry_ms=1000)
        case _:
            log.error("a request failed", request=kind, exc_info=error)
            return Refused(ErrorCode.INTERNAL)


Handler = Callable[[Call], Coroutine[Any, Any, bool | None] | None]
"""Carries a request out, at once or as a coroutine; raises `Refused`. The session waits for the end of it, and longer
where a coroutine returns True: then a change follows that lets the session go on."""


class PageHead(NamedTuple):
    """The page in a browser that will load `module`; the rest is for those who only look at the link.

    `picture` is the path of one, empty for none.
    """

    title: str
    description: str
    module: str = "game.js"
    picture: str = ""


Reply = HttpResponse | PageHead | Sequence[str]
"""What is answered in plain HTTP: a response, the page, or lines of text."""

Route = Callable[..., Reply | Coroutine[Any, Any, Reply | None]]
"""Answers an `HttpRequest`, called with it and with the groups of the path, None for one that is not there. Where
its coroutine returns None a room is looked for. Raises `Refused`: `rate_limited` is answered with 429, all else with
404 and counted, so that nothing is found by trying."""


class Service:
    """What `handles` some kinds of requests. Those that name a room are for whoever is in it, but for those that it
    `admits`, by which one comes in. Its `tables` are made by every store, and its `topics` are those that sessions may
    subscribe to. In plain HTTP it answers its `routes`: by regular expressions for whole paths, before any room.
    """

    handles: Mapping[type, Handler] = {}
    admits: frozenset[type] = frozenset()
    tables: Sequence[TableSpec[Any]] = ()
    topics: Sequence[Topic] = ()
    routes: Mapping[str, Route] = {}

    def start(self, core: Core) -> None:
        """Begin, before anybody is let in: here is where listeners are added to the core."""

    async def close(self) -> None:
        """End what is still under way."""
