"""Tells the other servers of the rooms of this one, when a room opens, changes or ends: its outline, without the moves.

Moves change no outline. A room in which the same people play game after game is told every other second.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final

from tictactoe_protocol.pushes import Closed, LiveBoard
from tictactoe_server.cluster.jetstream.link import Link, Message
from tictactoe_server.cluster.members import Members
from tictactoe_server.cluster.messages import NEWS, News, Outline, Page, encode
from tictactoe_server.core.core import Core
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.records.documents import RoomDocuments
from tictactoe_server.rooms import Room

GATHER_SECONDS: Final = 0.1
EACH_SECONDS: Final = 2.0
"""For how long changes are gathered, and how often at most a room is told in which the same people sit."""

_MAX_BYTES: Final = 128 * 1024
_PAGE_ROOMS: Final = 1_000


@dataclass(slots=True)
class OwnRoom:
    """A room here: `since` when it is, in ms of served time, and which `people` sat there when it was told last.

    It may be told again at `next_at` (s of the loop's time). One that `is_going` is about to be another server's.
    """

    live: LiveRoom
    since: int
    next_at: float = 0.0
    people: Set[str] = frozenset()
    is_going: bool = False


class OwnRooms:
    """The rooms of this server, as others are told of them."""

    def __init__(self, link: Link, members: Members, core: Core) -> None:
        self._link = link
        self._members = members
        self._now = core.time
        self._encoder = RoomDocuments(Room)
        self.rooms: dict[str, OwnRoom] = {}
        self._changed: dict[str, OwnRoom] = {}
        self._ended: list[str] = []
        self._timer: asyncio.Handle | None = None
        core.registry.on_told.add(self.tell)
        core.timers.on_counted.add(self.tell)
        core.changes.on_gone.add(self._tell_end)

    def tell(self, live: LiveRoom, *, at_once: bool = False) -> None:
        """Tell others of a room here that is new or has changed, or that has to be told `at_once` anyhow."""
        if live.is_gone:
            return
        code, is_new = live.room.code, live.room.code not in self.rooms
        own = self._changed[code] = self.rooms.setdefault(code, OwnRoom(live, self._now()))
        if at_once or own.people != _people_in(live.room):
            own.next_at = 0.0
        self._flush_in(0 if is_new else GATHER_SECONDS)

    def take_since(self, code: str, since: int) -> None:
        """Have a room here that another server had since then: this one has it since later."""
        self.rooms[code].since = max(self.rooms[code].since, since + 1)

    def forget(self, code: str) -> None:
        """Have a room here no more, and tell nobody."""
        self.rooms.pop(code, None)
        self._changed.pop(code, None)
        self._encoder.forget(code)

    def _tell_end(self, live: LiveRoom, why: Closed) -> None:
        self.forget(live.room.code)
        self._ended.append(live.room.code)
        self._flush_in(0)

    def _flush_in(self, seconds: float) -> None:
        if self._timer is not None and not seconds:
            self._timer.cancel()
        if self._timer is None or not seconds:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._flush)

    def _flush(self) -> None:
        """Send what has changed, in as many messages as it needs."""
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
            self._link.publish(NEWS, encode(News(self._members.id, self._members.number, outlines, ended)))
        if self._changed:
            self._flush_in(GATHER_SECONDS)

    def _outlines_of(self, codes: Iterable[str]) -> list[Outline]:
        """Return the outlines of the first of some rooms here, as many as fit into a message."""
        size, outlines = 0, list[Outline]()
        for own in (self.rooms[code] for code in codes):
            live, room, document = own.live, own.live.room, self._encoder.encode(own.live.room, without_moves=True)
            about = room.position.ply, len(live.watchers), live.owner, live.source
            outlines.append(Outline(room.code, own.since, document, *about))
            size += len(document)
            if size > _MAX_BYTES:
                break
        return outlines

    def answer_page(self, question: Message) -> None:
        """Tell the rooms behind a code, as many as fit."""
        first = question.data.decode()
        codes = heapq.nsmallest(_PAGE_ROOMS, (code for code in self.rooms if code > first))
        outlines = self._outlines_of(codes)
        is_all = len(outlines) == len(codes) < _PAGE_ROOMS
        after = "" if is_all else codes[len(outlines) - 1]
        self._link.publish(question.reply, encode(Page(self._members.number, outlines, after)))

    def boards_of(self, codes: list[str]) -> list[LiveBoard]:
        """Return the boards of some rooms, those that are here."""
        return [self.rooms[code].live.board(self._now()) for code in codes if code in self.rooms]


def _people_in(room: Room) -> set[str]:
    return {seat.player for seat in room.seats.values() if seat is not None and not seat.left}
