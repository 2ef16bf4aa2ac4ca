"""The list of public rooms, and the topic of its changes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Final

from tictactoe_protocol import MAX_LISTED_ROOMS, encode
from tictactoe_protocol.pushes import LobbyChange, RoomSummary
from tictactoe_server.core.boards import Boards
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.topics import Topic, list_of
from tictactoe_server.transport.frames import encode_frame

MAX_CHANGE_BYTES: Final = 60_000
"""How much of changed rows one message has; with the codes of closed rooms beside them it stays under 64 KiB."""

LISTED_OF_ONE: Final = 10
"""How many rooms of one address are listed before those of others, where there are more than can be listed."""

MAX_LIST_BYTES: Final = 250_000  # how much one list has: an answer with it stays under 256 KiB
LIST_SECONDS: Final = 0.1
"""For how long a list is sent again that no room joined or left: moves and watchers are not in it at once."""


class Lobby(Topic):
    """Public rooms in the order of their opening, listed while a player is there.

    `now` returns ms of served time; `boards` shows some of the games.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__()
        self.boards = Boards()
        self._now = now
        self._public: dict[str, Listed] = {}
        self._absent: set[str] = set()
        self._changed: dict[str, Listed | None] = {}
        self._list: tuple[RoomSummary, ...] | None = None
        self._listed_at = 0.0

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first, as many as one list may have; they are encoded already."""
        if self._list is None or time.monotonic() - self._listed_at > LIST_SECONDS:
            self._list = list_of(next(_groups(map(self._row, self.newest()), MAX_LIST_BYTES)))
            self._listed_at = time.monotonic()
        return self._list

    def newest(self) -> list[Listed]:
        """Return the newest rooms: where not all have a place, each address has few before any has more."""
        newest = [live for code, live in reversed(self._public.items()) if code not in self._absent]
        if len(newest) <= MAX_LISTED_ROOMS:
            return newest
        few: list[int] = []
        more: list[int] = []
        counts: Counter[str] = Counter()
        for place, live in enumerate(newest):
            key = live.source or live.owner
            counts[key] += 1
            (few if counts[key] <= LISTED_OF_ONE else more).append(place)
            if len(few) == MAX_LISTED_ROOMS:
                break
        return [newest[place] for place in sorted([*few, *more][:MAX_LISTED_ROOMS])]

    def update(self, live: Listed) -> None:
        """List a room that opened or whose seats or status changed, or take it off the list while nobody is there."""
        code = live.room.code
        if live.room.visibility == "public":
            self._public.setdefault(code, live)
            if live.room.has_somebody or live.room.is_for_bots:
                self._absent.discard(code)
                self._note(code, live)
            elif code not in self._absent:
                self._absent.add(code)
                self._note(code, None)
            self.boards.update(live)

    def remove(self, live: Listed) -> None:
        """Take a room that is gone off the list."""
        code = live.room.code
        if self._public.pop(code, None) is not None:
            self._absent.discard(code)
            self.boards.remove(code)
            self._note(code, None)

    def put_in_order(self) -> None:
        """Order the rooms by their opening, after they came back in no order."""
        self._public = dict(sorted(self._public.items(), key=lambda item: item[1].room.opened_at))
        self._list = None

    def tell(self) -> None:
        changed, self._changed = self._changed, {}
        rows = _groups((self._row(live) for live in changed.values() if live is not None), MAX_CHANGE_BYTES)
        closed = [code for code, live in changed.items() if live is None]
        codes = (closed[start : start + MAX_LISTED_ROOMS] for start in range(0, len(closed), MAX_LISTED_ROOMS))
        for some, gone in zip_longest(rows, codes, fillvalue=()):
            self.send(encode_frame(encode(LobbyChange(list_of(some), tuple(gone)))))

    def _note(self, code: str, live: Listed | None) -> None:
        """Tell of a room that is to be listed as it is now, or with None is in the list no more."""
        self._list = None
        if self.subscribers:
            self._changed[code] = live
            self.tell_later()

    def _row(self, live: Listed) -> bytes:
        return encode(live.summary(self._now()))


def _groups(rows: Iterable[bytes], max_bytes: int) -> Iterator[list[bytes]]:
    """Yield rows in groups that have at most so many bytes, and no more rows than a list may have; at least one."""
    group: list[bytes] = []
    size = 0
    for row in rows:
        if len(group) == MAX_LISTED_ROOMS or size + len(row) > max_bytes:
            yield group
            group, size = [], 0
        group.append(row)
        size += len(row) + 1
    yield group
