"""What the servers of a cluster know of each other's rooms: outlines, told when a room opens, changes or ends.

Moves change no outline. A room in which the same people play game after game is told every other second.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

import msgspec
import structlog
from msgspec.structs import replace

from tictactoe_protocol.pushes import LiveBoard, RoomState, RoomSummary
from tictactoe_server.cluster.jetstream.link import Link
from tictactoe_server.cluster.members import Members
from tictactoe_server.cluster.messages import (
    News,
    Outline,
    Page,
    decode,
    encode,
)
from tictactoe_server.core.elsewhere import ClusterIdentity
from tictactoe_server.core.listed import Listed, board_of
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.matchmaking import GameKind
from tictactoe_server.core.registry import Registry
from tictactoe_server.rooms import Player, Room, summary_of
from tictactoe_server.storage.documents import RoomEncoder, decode_room_of
from tictactoe_server.storage.store import StoreUnavailable, Unreadable

GATHER_SECONDS: Final = 0.1
EACH_SECONDS: Final = 2.0
"""For how long changes are gathered, and how often at most a room is told in which the same people sit."""

YOUNG_MS: Final = 2_000
"""A room of this age may be another server's whose word of it is still on its way."""

_WORD_SECONDS: Final = 0.3
_BOARDS_SECONDS: Final = 0.5
_MAX_BYTES: Final = 128 * 1024
_PAGE_ROOMS: Final = 1_000

NEWS: Final = "house.news"
PAGES: Final = "house.page."
BOARDS: Final = "house.boards."
GAVE: Final = "house.gave."

log: Final = structlog.get_logger(__name__)


class OtherRoom(Listed):
    """A room that another `server` has `since` that moment; one that `is_opening` is expected there.

    `shown` is the newest board that was told, if any; `want` has a newer one told.
    """

    __slots__ = ("_is_gone", "_members", "_ply", "_want", "_watching", "is_expected", "server", "shown", "since")

    knows_moves = False

    def __init__(
        self, room: Room, server: str, outline: Outline, members: Members, want: Callable[[OtherRoom], None]
    ) -> None:
        super().__init__(room, outline.owner, outline.source)
        self.is_expected = self._is_gone = False
        self.shown: LiveBoard | None = None
        self._want = want
        self._members = members
        self.take(room, server, outline)

    def take(self, room: Room, server: str, outline: Outline) -> None:
        """Be as an outline says."""
        if room.game != self.room.game:
            self.shown = None
        self.room = room
        self.server = server
        if self.is_expected:
            self.owner, self.source, self.is_expected = outline.owner, outline.source, False
        self.since = outline.since
        self.has_bots = room.has_bots
        self.entering.difference_update(seat.player for seat in room.seats.values() if seat is not None)
        self._ply = outline.ply
        self._watching = outline.watchers

    @property
    def is_gone(self) -> bool:
        return self._is_gone

    @property
    def is_opening(self) -> bool:
        """Whether it is expected."""
        return self.is_expected

    @property
    def has_somebody(self) -> bool:
        """Whether a player is connected there."""
        return self._members.is_living(self.server) and self.room.has_somebody

    @property
    def watching(self) -> int:
        """How many watch."""
        return self._watching

    def summary(self, now: int) -> RoomSummary:
        """Return its row in the list of public rooms."""
        return summary_of(self.room, now, watchers=self._watching, ply=self._ply)

    def board(self) -> LiveBoard:
        """Return the newest board that was told, and have a newer one told."""
        self._want(self)
        return self.shown or board_of(self.room)

    def state(self, now: int) -> RoomState:
        """Return its state as far as it is known, with the newest board that was told."""
        board = self.board()
        return replace(super().state(now), board=board.board, ply=board.ply, turn=board.turn, last=board.last)


class _Own:
    """A room of this server: since when it is, who sat there when it was told last, and when it may be told again.

    That is in s of the loop's time.
    """

    __slots__ = ("is_going", "next_at", "people", "since")

    def __init__(self, since: int) -> None:
        self.since = since
        self.next_at = 0.0
        self.people: set[str] = set()
        self.is_going = False


class Outlines:
    """Tells of the rooms of this server's `registry`, and knows those of others; see `Elsewhere`.

    `now` returns ms of served time.
    """

    is_several = True

    def __init__(self, link: Link, members: Members, registry: Registry, now: Callable[[], int]) -> None:
        self.id = ""
        self.matching: Callable[[GameKind, Player], Awaitable[tuple[str, str | None]]]
        self._link = link
        self._members = members
        self._registry = registry
        self._now = now
        self._encoder = RoomEncoder()
        self._own: dict[str, _Own] = {}
        self._changed: dict[str, LiveRoom] = {}
        self._ended: list[str] = []
        self._timer: asyncio.Handle | None = None
        self._others: dict[str, OtherRoom] = {}
        self._heard: dict[str, int] = {}
        self._reading: dict[str, set[str]] = {}
        self._wanted: set[OtherRoom] = set()
        registry.on_told.add(self.tell)
        registry.on_ended.add(self._tell_end)

    # -- where rooms are ----------------------------------------------------------------------------------------

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the other servers are reached."""
        return self._members.urls[1:]

    async def seek(self, kind: GameKind, player: Player) -> tuple[str, str | None]:
        return await self.matching(kind, player)

    @property
    def cluster(self) -> ClusterIdentity:
        """By what players know these servers, and where they are reached."""
        return ClusterIdentity(self.id, self._members.urls)

    @property
    def count(self) -> int:
        """How many rooms others have."""
        return len(self._others)

    @property
    def own(self) -> list[str]:
        """The codes of the rooms that this server has."""
        return list(self._own)

    @property
    def known(self) -> list[str]:
        """The codes of the rooms that others have told of."""
        return [code for code, other in self._others.items() if not other.is_expected]

    def find(self, code: str) -> str | None:
        """Return the URL of the server that has a room, or that is to take it from one that is gone."""
        other = self._others.get(code)
        if other is None:
            return None
        return self._members.url_of(other.server) or self._members.url_of(self._members.chosen_for(code))

    def is_free(self, code: str) -> bool:
        """Tell whether no server has a room that lives and does not leave, as far as is known."""
        other = self._others.get(code)
        return code not in self._own and (other is None or not self._members.stays(other.server))

    async def may_take(self, room: Room) -> bool:
        """Tell whether a stored room is nobody's, once those had time to say so who may just have opened it."""
        if room.code not in self._others and self._now() - room.opened_at < YOUNG_MS:
            await asyncio.sleep(_WORD_SECONDS)
        return self.find(room.code) is None

    def is_known(self, code: str) -> bool:
        """Tell whether a server has told of a room, though it may be gone."""
        return code in self._others

    def drop(self, code: str) -> OtherRoom | None:
        """Know a room no more as another server's; return what was known."""
        other = self._others.pop(code, None)
        if other is not None:
            other._is_gone = True
            if not other.is_expected:
                self._registry.unlist_elsewhere(other)
        return other

    def drop_those_of_nobody(self) -> None:
        """Forget the rooms of servers that are gone and that nobody has taken: they have ended."""
        for code in [code for code, other in self._others.items() if not self._members.is_living(other.server)]:
            self.drop(code)

    def expect(self, server: str, room: Room) -> OtherRoom:
        """Know a room that another server is about to open."""
        expected = OtherRoom(room, server, Outline(room.code, 0, b""), self._members, self._want)
        expected.is_expected = True
        self._others.setdefault(room.code, expected)
        return expected

    def expect_no_more(self, expected: OtherRoom) -> None:
        """Forget it, unless it was opened."""
        if expected.is_expected:
            self.drop(expected.room.code)

    # -- telling ------------------------------------------------------------------------------------------------

    def tell(self, live: LiveRoom) -> None:
        """Tell others of a room here that is new or has changed."""
        if live.is_gone:
            return
        code = live.room.code
        own = self._own.get(code)
        if own is None:
            self._own[code] = _Own(self._now())
        elif own.people != _people_in(live.room):
            own.next_at = 0.0
        self._changed[code] = live
        self._flush_in(0 if own is None else GATHER_SECONDS)

    def take_since(self, code: str, since: int) -> None:
        """Have a room here that another server had since then: this one has it since later."""
        self._own[code].since = max(self._own[code].since, since + 1)

    def _tell_end(self, live: LiveRoom) -> None:
        self._leave_out(live.room.code)
        self._ended.append(live.room.code)
        self._flush_in(0)

    def _leave_out(self, code: str) -> None:
        self._own.pop(code, None)
        self._changed.pop(code, None)
        self._encoder.forget(code)

    def _flush_in(self, seconds: float) -> None:
        if self._timer is not None and not seconds:
            self._timer.cancel()
        if self._timer is None or not seconds:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._flush)

    def _flush(self) -> None:
        """Send what has changed, in as many messages as it needs."""
        self._timer = None
        now = asyncio.get_running_loop().time()
        size, outlines = 0, list[Outline]()
        for code in [code for code in self._changed if self._own[code].next_at <= now]:
            own = self._own[code]
            own.next_at, own.people = now + EACH_SECONDS, _people_in(self._changed[code].room)
            outlines.append(self._outline_of(self._changed.pop(code)))
            size += len(outlines[-1].document)
            if size > _MAX_BYTES:
                self._send(outlines, [])
                size, outlines = 0, []
        ended, self._ended = self._ended, []
        if outlines or ended:
            self._send(outlines, ended)
        if self._changed:
            self._flush_in(GATHER_SECONDS)

    def _send(self, outlines: list[Outline], ended: list[str]) -> None:
        self._members.number += 1
        self._link.publish(NEWS, encode(News(self._members.id, self._members.number, outlines, ended)))

    def _outline_of(self, live: LiveRoom) -> Outline:
        room = live.room
        document = self._encoder.encode(room, without_moves=True)
        since = self._own[room.code].since
        return Outline(room.code, since, document, room.position.ply, len(live.watchers), live.owner, live.source)

    def answer_page(self, after: bytes) -> bytes:
        """Return the rooms of this server behind a code, as many as fit."""
        first, size, outlines = after.decode(), 0, list[Outline]()
        codes = heapq.nsmallest(_PAGE_ROOMS, (code for code in self._own if code > first))
        for code in codes:
            live = self._registry.find_here(code)
            if live is not None:
                outlines.append(self._outline_of(live))
                size += len(outlines[-1].document)
            if size >= _MAX_BYTES:
                break
        is_all = len(codes) < _PAGE_ROOMS and size < _MAX_BYTES
        return encode(Page(self._members.number, outlines, "" if is_all else code))

    def answer_boards(self, question: bytes) -> bytes:
        """Return the boards of some rooms of this server, those that are here."""
        found = map(self._registry.find_here, decode(question, list[str]))
        return encode([live.board() for live in found if live is not None])

    # -- hearing ------------------------------------------------------------------------------------------------

    def hear_news(self, data: bytes) -> None:
        """Take in what another server tells; where something was missed all its rooms are read."""
        try:
            news = decode(data, News)
        except msgspec.DecodeError as error:
            log.error("news of another server cannot be read", reason=str(error))
            return
        if news.sender == self._members.id or not self._members.is_living(news.sender):
            return  # all rooms of one that is not known to live are read at its next sign of life
        self.follow(news.sender, news.number - 1)
        self._heard[news.sender] = max(self._heard.get(news.sender, 0), news.number)
        for outline in news.outlines:
            self._hear(news.sender, outline)
        for code in news.ended:
            other = self._others.get(code)
            if other is not None and other.server == news.sender:
                self.drop(code)

    def follow(self, server: str, number: int) -> None:
        """Read all rooms of a server anew, unless all that it told up to that number was heard."""
        if self._heard.get(server, -1) < number and server not in self._reading:
            self._reading[server] = set()
            self._link.run(self._read(server))

    def forget_server(self, server: str) -> None:
        """Have nothing heard of a server that is gone; its rooms are known until others have them."""
        self._heard.pop(server, None)

    async def until_read(self) -> None:
        """Return when what is being read now has been, or cannot be."""
        while self._reading:  # noqa: ASYNC110  # it ends by itself
            await asyncio.sleep(0.01)

    async def _read(self, server: str) -> None:
        told = self._reading[server]
        after = ""
        try:
            while True:
                page = decode(await self._link.request(PAGES + server, after.encode()), Page)
                for outline in page.outlines:
                    self._hear(server, outline)
                after = page.after
                if not after:
                    break
                await asyncio.sleep(0)
            if self._members.is_living(server):
                self._heard[server] = max(self._heard.get(server, 0), page.number)
            for code in [code for code, other in self._others.items() if other.server == server]:
                if code not in told and not self._others[code].is_expected:
                    self.drop(code)
        except (StoreUnavailable, msgspec.DecodeError) as error:  # its next sign of life begins it again
            log.debug("the rooms of another server cannot be read", reason=str(error))
        finally:
            del self._reading[server]

    def _hear(self, server: str, outline: Outline) -> None:
        """Know a room as another server says; of two that have it the one keeps it that took it later."""
        code, own = outline.code, self._own.get(outline.code)
        if server in self._reading:
            self._reading[server].add(code)
        if own is not None:
            live = self._registry.find_here(code)
            url = self._members.url_of(server)
            if live is None or url is None or own.is_going:
                return
            if (outline.since, server) > (own.since, self._members.id):
                own.is_going = True
                self._registry.hand_over(live, url, partial(self._gave, live, server, outline))
            else:
                own.next_at = 0.0
                self.tell(live)
            return
        other = self._others.get(code)
        is_kept = other is not None and self._members.is_living(other.server) and not other.is_expected
        if other is None or not is_kept or (other.since, other.server) <= (outline.since, server):
            self._know(server, outline, other)

    def _gave(self, live: LiveRoom, server: str, outline: Outline) -> None:
        """Know a room as another server's that was here until now, and tell that one what was stored last from here."""
        self._link.publish(GAVE + server, encode((outline.code, live.revision)))
        self._leave_out(outline.code)
        self._know(server, outline, None)

    def hear_gave(self, data: bytes) -> None:
        """Read a room again before it changes where the server that had it has stored something newer."""
        code, revision = decode(data, tuple[str, int])
        live = self._registry.find_here(code)
        if live is not None and live.revision < revision:
            live.doubt()

    def _know(self, server: str, outline: Outline, other: OtherRoom | None) -> None:
        try:
            room = decode_room_of(outline.code, outline.document)
        except Unreadable as damaged:
            log.error("an outline cannot be read", room=outline.code, reason=str(damaged))
            return
        before = None if other is None or other.is_expected else other.room
        if other is None:
            other = self._others[outline.code] = OtherRoom(room, server, outline, self._members, self._want)
        else:
            other.take(room, server, outline)
        self._registry.list_elsewhere(other, before)

    # -- boards -------------------------------------------------------------------------------------------------

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Have the newest boards of these rooms."""
        codes = defaultdict[str, list[str]](list)
        for listed in rooms:
            if isinstance(listed, OtherRoom):
                codes[listed.server].append(listed.room.code)
        await asyncio.gather(*(self._ask_boards(server, some) for server, some in codes.items()))

    def _want(self, other: OtherRoom) -> None:
        """Have the newest board of a room, with those that are wanted in this turn."""
        if not self._wanted:
            asyncio.get_running_loop().call_soon(self._ask_for_wanted)
        self._wanted.add(other)

    def _ask_for_wanted(self) -> None:
        wanted, self._wanted = self._wanted, set()
        self._link.run(self.look_at(wanted))

    async def _ask_boards(self, server: str, codes: list[str]) -> None:
        try:
            async with asyncio.timeout(_BOARDS_SECONDS):
                boards = decode(await self._link.request(BOARDS + server, encode(codes)), list[LiveBoard])
        except (StoreUnavailable, TimeoutError, msgspec.DecodeError) as error:
            log.debug("boards of another server cannot be read", reason=str(error))
            return
        for board in boards:
            other = self._others.get(board.room)
            if other is not None:
                other.shown = board


def _people_in(room: Room) -> set[str]:
    return {seat.player for seat in room.seats.values() if seat is not None and not seat.left}
