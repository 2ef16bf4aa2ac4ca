"""Records which server has each room: every server announces its own rooms and tracks those of the other servers.

A room is announced when it opens, when its `Outline` changes and when it ends. Moves do not change the outline. While
the same people play one game after another, their room is announced at most every two seconds.
"""

from __future__ import annotations

import asyncio
from bisect import bisect, bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Iterable, Set
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, NamedTuple

import structlog
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol.pushes import Closed, LiveBoard, Moved, RoomState
from tictactoe_server.core.change import RoomChange, reload
from tictactoe_server.core.core import Core
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.features.cluster import messages
from tictactoe_server.features.cluster.members import Members
from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.records.changes import Phase
from tictactoe_server.records.documents import RoomDocuments
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.rooms.room import Room
from tictactoe_server.rooms.view import RoomListing
from tictactoe_server.scheduler import wait_until
from tictactoe_server.storage.store import StoreUnavailable, Unreadable

GATHER_SECONDS: Final = 0.1  # for how long changes are batched
EACH_SECONDS: Final = 2.0  # between two announcements of a room with the same people
YOUNG_MS: Final = 2_000  # the announcement of a room opened less than this ago may still be on its way
READING_SECONDS: Final = 30.0  # for how long failed reads are retried
_WORD_SECONDS: Final = 0.3
_BOARDS_SECONDS: Final = 0.5
_MAX_BYTES: Final = 128 * 1024
_PAGE_ROOMS: Final = 1_000
_KEPT_NEWS: Final = 1_000

log: Final = structlog.get_logger(__name__)


@dataclass(slots=True)
class OwnRoom:
    """A room on this server.

    Attributes:
        since: When this server opened or took over the room (ms of served time).
        next_at: The earliest time for the next announcement (s, as the event loop's clock).
        people: The ids of the seated players at the last announcement.
        is_going: Whether the room is being handed over to another server.
    """

    live: LiveRoom
    since: int
    next_at: float = 0.0
    people: Set[str] = frozenset()
    is_going: bool = False


class OwnRooms:
    """Announces this server's rooms to the other servers."""

    def __init__(self, link: Link, members: Members, core: Core) -> None:
        self._link = link
        self._members = members
        self._now = core.time
        self._documents = RoomDocuments()
        self.rooms: dict[str, OwnRoom] = {}
        self._codes: list[str] = []  # sorted
        self._told = deque[list[str]](maxlen=_KEPT_NEWS)  # the codes in each of the latest `News`
        self._changed: dict[str, OwnRoom] = {}
        self._ended: list[str] = []
        self._timer: asyncio.Handle | None = None
        core.rooms.on_change.add(self.announce)
        core.timers.on_counted.add(self.announce)
        core.rooms.on_close.add(self._announce_end)
        core.rooms.on_sleep.add(self._announce_end)

    def announce(self, live: LiveRoom, *, at_once: bool = False) -> None:
        """Announce a new or changed room. With `at_once`, don't delay it if the same people are still in the room."""
        if live.is_gone:
            return
        code, is_new = live.room.code, live.room.code not in self.rooms
        if is_new:
            self.rooms[code] = OwnRoom(live, self._now())
            insort(self._codes, code)
        own = self._changed[code] = self.rooms[code]
        if at_once or own.people != _people_in(live.room):
            own.next_at = 0.0
        self._flush_in(0 if is_new else GATHER_SECONDS)

    def claim_since(self, code: str, since: int) -> None:
        """Give precedence to this server as the owner of a room that another server has owned since `since`."""
        self.rooms[code].since = max(self.rooms[code].since, since + 1)

    def forget(self, code: str) -> None:
        """Remove a room without announcing its end."""
        if self.rooms.pop(code, None) is not None:
            del self._codes[bisect_left(self._codes, code)]
        self._changed.pop(code, None)
        self._documents.forget(code)

    def _announce_end(self, live: LiveRoom, why: Closed | None = None) -> None:
        self.forget(live.room.code)
        self._ended.append(live.room.code)
        self._flush_in(0)

    def _flush_in(self, seconds: float) -> None:
        if self._timer is not None and not seconds:
            self._timer.cancel()
        if self._timer is None or not seconds:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._flush)

    def _flush(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        due = [code for code, own in self._changed.items() if own.next_at <= now]
        for code in due:
            own = self._changed.pop(code)
            own.next_at, own.people = now + EACH_SECONDS, _people_in(own.live.room)
        while due or self._ended:
            outlines = self._outlines_of(due)
            due, ended = due[len(outlines) :], self._ended
            self._ended = []
            self._members.number += 1
            self._told.append([*(outline.code for outline in outlines), *ended])
            self._link.publish(
                messages.NEWS, messages.encode(messages.News(self._members.id, self._members.number, outlines, ended))
            )
        if self._changed:
            self._flush_in(GATHER_SECONDS)

    def _outlines_of(self, codes: Iterable[str]) -> list[messages.Outline]:
        """Return the outlines of the first of these rooms, as many as fit into one message."""
        size, outlines = 0, list[messages.Outline]()
        for own in (self.rooms[code] for code in codes):
            live, room = own.live, own.live.room
            document = self._documents.encode(room, without_moves=True)
            about = room.position.ply, len(live.watchers), live.owner, live.source
            outlines.append(messages.Outline(room.code, own.since, document, *about))
            size += len(document)
            if size > _MAX_BYTES:
                break
        return outlines

    def answer_page(self, question: Message) -> None:
        """Reply with the next `Page` of this server's rooms.

        The request consists of the last code on the previous page, if any, and the number of the last `News` that the
        requesting server has received, if any. The page has the rooms that changed since that `News`, or all rooms if
        these changes are no longer known.
        """
        behind, _, heard = question.data.decode().partition(" ")
        number = self._members.number
        kept = len(self._told) - number + int(heard or -1)
        named = self._codes if kept < 0 else sorted({*chain.from_iterable(islice(self._told, kept, None))})
        first = bisect(named, behind)
        codes = named[first : first + _PAGE_ROOMS]
        own = [code for code in codes if code in self.rooms]
        outlines = self._outlines_of(own)
        if len(outlines) < len(own):
            codes = codes[: codes.index(own[len(outlines)])]
        after = codes[-1] if codes and codes[-1] != named[-1] else ""
        ended = None if kept < 0 else [code for code in codes if code not in self.rooms]
        self._link.publish(question.reply, messages.encode(messages.Page(number, outlines, after, ended)))

    def boards_of(self, codes: list[str]) -> list[LiveBoard]:
        return [self.rooms[code].live.board(self._now()) for code in codes if code in self.rooms]


class OtherRoom(RoomListing):
    """A room on another server.

    Attributes:
        is_gone: Whether the room has ended, moved to this server or was never opened.
        is_opening: Whether the other server is expected to open the room but has not announced it yet.
        shown: The newest known board, if any.
    """

    __slots__ = ("_rooms", "is_gone", "is_opening", "ply", "server", "shown", "since", "watcher_count")

    knows_moves = False
    is_gone: bool
    is_opening: bool
    ply: int
    watcher_count: int

    def __init__(self, room: Room, server: str, outline: messages.Outline, rooms: OtherRooms) -> None:
        super().__init__(room, outline.owner, outline.source)
        self.is_gone = self.is_opening = False
        self.shown: LiveBoard | None = None
        self._rooms = rooms
        self.update(room, server, outline)

    def update(self, room: Room, server: str, outline: messages.Outline) -> None:
        if room.game != self.room.game:
            self.shown = None
        if self.is_opening:
            self.owner, self.source, self.is_opening = outline.owner, outline.source, False
        self.room, self.server, self.since = room, server, outline.since
        self.ply, self.watcher_count = outline.ply, outline.watchers
        if self.entering:
            self.entering -= {seat.player for seat in room.held_seats}

    @property
    def has_player(self) -> bool:
        return self._rooms.members.is_living(self.server) and self.room.has_player

    def board(self, now: int) -> LiveBoard:
        """Return the last known board, and request a newer one from the room's server."""
        self._rooms.request_board(self)
        return self.shown or super().board(now)

    def state(self, now: int) -> RoomState:
        """Return what is known about the room's state, with the last known board."""
        board = self.board(now)
        known = replace(super().state(now), board=board.board, ply=board.ply, turn=board.turn, last=board.last)
        return replace(known, opening=UNSET)  # unknown, because outlines have no moves


class _Reading(NamedTuple):
    """A read of another server's rooms that is in progress.

    Attributes:
        told: The number of the last `News` or `Page` about each room, by the room's code.
        numbers: The numbers of all `News` received since the read began.
    """

    told: dict[str, int]
    numbers: set[int]


class OtherRooms:
    """The rooms on other servers. A dead server's room remains until another server announces it."""

    def __init__(self, link: Link, members: Members, own: OwnRooms, core: Core) -> None:
        self.members = members
        self._link = link
        self._own = own
        self._core = core
        self.rooms: dict[str, OtherRoom] = {}
        self._heard: dict[str, int] = {}
        self._reading: dict[str, _Reading] = {}
        self._wanted: dict[OtherRoom, None] = {}
        members.on_gone.add(lambda server: self._heard.pop(server, None))
        members.on_gone.add(lambda server: self._reading.pop(server, None))

    def server_of(self, code: str) -> str | None:
        """Return the id of the other server that has the room or will take it over, or None if there is none."""
        other = self.rooms.get(code)
        if other is None:
            return None
        server = other.server if self.members.is_living(other.server) else self.members.chosen_for(code)
        return None if server == self.members.id else server

    def find(self, code: str) -> str | None:
        return self.members.url_of(self.server_of(code) or "")

    def is_free(self, code: str) -> bool:
        """Return whether no server that stays in the cluster is known to have the room."""
        other = self.rooms.get(code)
        return code not in self._own.rooms and (other is None or not self.members.stays(other.server))

    async def is_unowned(self, room: Room) -> bool:
        """Return whether no other server has the room. If it is new and unknown, first wait for its announcement."""
        if room.code not in self.rooms and self._core.time() - room.opened_at < YOUNG_MS:
            await asyncio.sleep(_WORD_SECONDS)
        return self.find(room.code) is None

    def drop(self, code: str) -> OtherRoom | None:
        other = self.rooms.pop(code, None)
        if other is not None:
            other.is_gone = True
            if other.is_opening:
                self._core.indexes.matchmaker.discard(other)
            else:
                self._core.indexes.remove(other)
        return other

    def drop_unclaimed(self) -> None:
        """Remove dead servers' rooms that no other server has taken over: they have ended."""
        living = self.members.others
        for code in [code for code, other in self.rooms.items() if other.server not in living]:
            self.drop(code)

    def unclaimed(self) -> list[str]:
        """Return the codes of the rooms whose servers are dead or leaving."""
        stays = self.members.stays
        return [code for code, other in self.rooms.items() if not (other.is_opening or stays(other.server))]

    def expect(self, server: str, room: Room) -> OtherRoom:
        expected = OtherRoom(room, server, messages.Outline(room.code, 0, b""), self)
        expected.is_opening = True
        return self.rooms.setdefault(room.code, expected)

    def stop_expecting(self, expected: OtherRoom) -> None:
        if expected.is_opening:
            self.drop(expected.room.code)

    def follow(self, server: str, number: int) -> None:
        """Request the announcements that this server has missed if it lacks any up to `number`."""
        if self._heard.get(server, -1) < number and server not in self._reading:
            reading = self._reading[server] = _Reading({}, set())
            self._link.run(self._read(server, reading))

    async def until_read(self) -> None:
        """Wait until all announcements from all live servers have been received; may raise `StoreUnavailable`."""

        def are_read() -> bool:
            self.members.lose_silent()
            others = self.members.others.items()
            return not self._reading and all(self._heard.get(id, -1) >= other.number for id, other in others)

        if not await wait_until(are_read, READING_SECONDS):
            raise StoreUnavailable("another server does not send its rooms")

    def on_news(self, news: messages.News) -> None:
        """Apply another server's `News`, and request earlier ones that were missed.

        `News` that arrive during a read count as received only when the read has succeeded.
        """
        sender, number = news.sender, news.number
        if sender == self.members.id or not self.members.is_living(sender) or number <= self._heard.get(sender, -1):
            return  # an unknown server's rooms are read at its next heartbeat
        self.follow(sender, number - 1)
        if sender in self._reading:
            self._reading[sender].numbers.add(number)
        else:
            self._heard[sender] = number
        self._apply_news(news, self._reading.get(sender))

    async def _read(self, server: str, reading: _Reading) -> None:
        """Read a server's missed announcements, or all of its rooms if it no longer has these announcements."""
        heard = f" {self._heard[server]}" if server in self._heard else ""
        first, after = None, ""
        try:
            while first is None or after:
                page = await messages.ask(self._link, messages.PAGES + server, (after + heard).encode(), messages.Page)
                first, after = first or page, page.after
                if (page.ended is None) != (first.ended is None):
                    raise StoreUnavailable("too many announcements were missed to read them at once")
                self._apply_news(messages.News(server, page.number, page.outlines, page.ended or []), reading)
                await asyncio.sleep(0)
            if self._reading.get(server) is not reading:
                return
            number = first.number
            while number + 1 in reading.numbers:
                number += 1
            self._heard[server] = number
            known = [code for code, other in self.rooms.items() if other.server == server and not other.is_opening]
            for code in known if first.ended is None else ():
                if code not in reading.told:
                    self.drop(code)
        except StoreUnavailable as unavailable:  # retried at the next heartbeat
            log.debug("rooms of another server not read", reason=str(unavailable))
        finally:
            if self._reading.get(server) is reading:
                del self._reading[server]

    def _apply_news(self, news: messages.News, reading: _Reading | None) -> None:
        """Apply announcements, except about rooms for which newer announcements have been applied."""
        versions = {} if reading is None else reading.told
        updates = [*((outline.code, outline) for outline in news.outlines), *((code, None) for code in news.ended)]
        for code, outline in updates:
            if versions.get(code, 0) <= news.number:
                versions[code] = news.number
                if outline is not None:
                    self._apply_outline(news.sender, outline)
                elif code in self.rooms and self.rooms[code].server == news.sender:
                    self.drop(code)

    def _apply_outline(self, server: str, outline: messages.Outline) -> None:
        """Apply another server's outline of a room; of two servers with the room, the later owner keeps it."""
        code = outline.code
        own, other = self._own.rooms.get(code), self.rooms.get(code)
        if own is not None:
            self._settle_owner(own, server, outline)
            return
        is_kept = other is not None and self.members.is_living(other.server) and not other.is_opening
        if other is None or not is_kept or (other.since, other.server) <= (outline.since, server):
            self._adopt(server, outline)

    def _settle_owner(self, own: OwnRoom, server: str, outline: messages.Outline) -> None:
        """Hand a room over to the other server if that took it later; otherwise announce the room to it again."""
        live, url, core = own.live, self.members.url_of(server), self._core
        if url is None or own.is_going:
            return

        def hand_over(error: Exception | None) -> None:
            if not live.is_gone:
                live.enter(Phase.GONE)
                live.moved_to = url
                core.rooms.remove(live, Moved(outline.code, url))
                self._link.publish(messages.HANDED_OVER + server, messages.encode((outline.code, live.revision)))
                self._own.forget(outline.code)
                self._adopt(server, outline)

        if (outline.since, server) > (own.since, self.members.id):
            own.is_going = True  # until the pending changes are settled
            RoomChange(live, core.time(), on_settled=hand_over, make=lambda room: room).submit()
        else:
            self._own.announce(live, at_once=True)

    def read_again(self, newest: tuple[str, int]) -> None:
        """Reload a room that another server has handed over, unless this server has the newest revision.

        Args:
            newest: The code of the room, and the revision that the other server stored last.
        """
        code, revision = newest
        live = self._core.rooms.find_here(code)
        if live is not None and live.revision < revision:
            reload(live)

    def _adopt(self, server: str, outline: messages.Outline) -> None:
        try:
            room = ROOMS.read(outline.code, outline.document)
        except Unreadable as damaged:
            log.error("damaged room of another server ignored", room=outline.code, reason=str(damaged))
            return
        other = self.rooms.get(outline.code)
        before = None if other is None or other.is_opening else other.room
        if other is None:
            other = self.rooms[outline.code] = OtherRoom(room, server, outline, self)
        else:
            other.update(room, server, outline)
        self._core.indexes.update(other, before)

    async def look_at(self, rooms: Iterable[RoomListing]) -> None:
        """Update the last known boards of the rooms on other servers, if those servers reply in time."""
        codes = defaultdict[str, list[str]](list)
        for listed in rooms:
            if isinstance(listed, OtherRoom):
                codes[listed.server].append(listed.room.code)
        await asyncio.gather(*(self._ask_boards(server, some) for server, some in codes.items()))

    def request_board(self, other: OtherRoom) -> None:
        """Request the newest board of a room. Requests in the same iteration of the event loop are sent together."""
        if not self._wanted:
            asyncio.get_running_loop().call_soon(self._request_wanted)
        self._wanted[other] = None

    def _request_wanted(self) -> None:
        wanted, self._wanted = self._wanted, {}
        self._link.run(self.look_at(wanted))

    async def _ask_boards(self, server: str, codes: list[str]) -> None:
        try:
            boards = await messages.ask(
                self._link, messages.BOARDS + server, messages.encode(codes), list[LiveBoard], _BOARDS_SECONDS
            )
        except StoreUnavailable as unavailable:
            log.debug("boards of another server not read", reason=str(unavailable))
            return
        for board in boards:
            if board.room in self.rooms:
                self.rooms[board.room].shown = board


def _people_in(room: Room) -> set[str]:
    return {seat.player for seat in room.held_seats if not seat.left}
