"""The list of public rooms, and who hears of its changes."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final, cast

import msgspec

from tictactoe_protocol import MAX_LISTED_ROOMS, encode
from tictactoe_protocol.pushes import LobbyChange, RoomSummary
from tictactoe_server.core.boards import Boards
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.session import Session
from tictactoe_server.transport.frames import encode_frame

GATHER_SECONDS: Final = 0.1
MOST_GATHER_SECONDS: Final = 1.0
QUICK_SUBSCRIBERS: Final = 200
"""For how long changes are gathered: a tenth of a second for so many subscribers, and longer beyond, to a second."""

MAX_CHANGE_BYTES: Final = 60_000
"""How much of changed rows one message has; with the codes of closed rooms beside them it stays under 64 KiB."""

LISTED_OF_ONE: Final = 10
"""How many rooms of one address are listed before those of others, where there are more than can be listed."""

MAX_LIST_BYTES: Final = 250_000
"""How much one list has: an answer with it stays under 256 KiB."""

LIST_SECONDS: Final = 0.1
"""For how long a list stays true that no room joined or left: moves and watchers are not in it at once."""


class Lobby:
    """Public rooms in the order of their opening, listed while a player is there.

    `now` returns ms of served time; `boards` shows some of the games.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self.boards = Boards()
        self._now = now
        self._subscribers: dict[Session, None] = {}
        self._public: dict[str, Listed] = {}
        self._absent: set[str] = set()
        self._changed: dict[str, Listed] = {}
        self._closed: dict[str, None] = {}
        self._due: asyncio.TimerHandle | None = None
        self._list: msgspec.Raw | None = None
        self._listed_at = 0.0

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first, as many as one list may have; they are encoded already."""
        if self._list is None or time.monotonic() - self._listed_at > LIST_SECONDS:
            self._list = msgspec.Raw(b"[%b]" % b",".join(self._newest_rows()))
            self._listed_at = time.monotonic()
        return cast(tuple[RoomSummary, ...], self._list)

    def newest(self) -> Iterable[Listed]:
        """Return the newest rooms: where not all have a place, each address has few before any has more."""
        newest = [live for code, live in reversed(self._public.items()) if code not in self._absent]
        if len(newest) <= MAX_LISTED_ROOMS:
            return newest
        listed: dict[int, Listed] = {}
        counts: Counter[str] = Counter()
        for place, live in enumerate(newest):
            key = live.source or live.owner
            counts[key] += 1
            if counts[key] <= LISTED_OF_ONE:
                listed[place] = live
                if len(listed) == MAX_LISTED_ROOMS:
                    break
        for place, live in enumerate(newest):
            if len(listed) == MAX_LISTED_ROOMS:
                break
            listed.setdefault(place, live)
        return [listed[place] for place in sorted(listed)]

    def subscribe(self, session: Session) -> None:
        """Tell a session of every change from now on."""
        self._subscribers[session] = None

    def unsubscribe(self, session: Session) -> None:
        """Tell a session no more."""
        self._subscribers.pop(session, None)
        self.boards.unsubscribe(session)

    def update(self, live: Listed) -> None:
        """List a room that opened or whose seats or status changed, or take it off the list while nobody is there."""
        code = live.room.code
        if live.room.visibility == "public":
            self._public.setdefault(code, live)
            if live.room.has_somebody or live.room.is_for_bots:
                self._absent.discard(code)
                self._closed.pop(code, None)
                self._changed[code] = live
            elif code not in self._absent:
                self._absent.add(code)
                self._changed.pop(code, None)
                self._closed[code] = None
            self.boards.update(live)
            self._tell_later()

    def remove(self, live: Listed) -> None:
        """Take a room that is gone off the list."""
        code = live.room.code
        if self._public.pop(code, None) is not None:
            self._absent.discard(code)
            self._changed.pop(code, None)
            self.boards.remove(code)
            self._closed[code] = None
            self._tell_later()

    def put_in_order(self) -> None:
        """Order the rooms by their opening, after they came back in no order."""
        self._public = dict(sorted(self._public.items(), key=lambda item: item[1].room.opened_at))
        self._list = None

    def _newest_rows(self) -> Iterable[bytes]:
        """Yield the rows of the newest rooms, as much as one list may have."""
        size = 0
        for live in self.newest():
            row = self._row(live)
            size += len(row) + 1
            if size > MAX_LIST_BYTES:
                return
            yield row

    def _tell_later(self) -> None:
        self._list = None
        if self._due is None:
            share = len(self._subscribers) / QUICK_SUBSCRIBERS
            seconds = min(MOST_GATHER_SECONDS, GATHER_SECONDS * max(1.0, share))
            self._due = asyncio.get_running_loop().call_later(seconds, self._tell)

    def _tell(self) -> None:
        """Send what changed to all subscribers, encoded once."""
        self._due = None
        if self._subscribers:
            for frame in self._frames():
                for session in self._subscribers:
                    session.connection.push_frame(frame)
        self._changed.clear()
        self._closed.clear()

    def _frames(self) -> Iterable[bytes]:
        """Yield what changed, in as many messages as it needs."""
        closed = iter(self._closed)
        rows: list[bytes] = []
        size = 0
        for row in map(self._row, self._changed.values()):
            if len(rows) == MAX_LISTED_ROOMS or size + len(row) > MAX_CHANGE_BYTES:
                yield _change(rows, tuple(islice(closed, MAX_LISTED_ROOMS)))
                rows, size = [], 0
            rows.append(row)
            size += len(row)
        yield _change(rows, tuple(islice(closed, MAX_LISTED_ROOMS)))
        while some := tuple(islice(closed, MAX_LISTED_ROOMS)):
            yield _change([], some)

    def _row(self, live: Listed) -> bytes:
        return encode(live.summary(self._now()))


def _change(rows: list[bytes], closed: tuple[str, ...]) -> bytes:
    changed = cast(tuple[RoomSummary, ...], msgspec.Raw(b"[%b]" % b",".join(rows)))
    return encode_frame(encode(LobbyChange(changed, closed)))
