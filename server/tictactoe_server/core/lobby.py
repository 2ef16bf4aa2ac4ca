"""The list of public rooms, and the topic for changes in the list. Moves are not such changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from tictactoe_protocol import MAX_LISTED_ROOMS, encode
from tictactoe_protocol.pushes import LobbyChange, RoomSummary
from tictactoe_server import clock
from tictactoe_server.core.name_mask import NameMask
from tictactoe_server.core.session import Session, Topic, list_of
from tictactoe_server.listeners import Listeners
from tictactoe_server.rooms.view import Listed
from tictactoe_server.transport.frames import encode_frame, with_fields

MAX_CHANGE_BYTES: Final = 60_000  # for the rows in a message of changes, which stays under 64 KiB
LISTED_OF_ONE: Final = 10  # the rooms from each address that are listed before further rooms
MAX_LIST_BYTES: Final = 250_000  # for the rows in a list; the reply stays under 256 KiB
LIST_SECONDS: Final = 0.1  # how long an encoded list is cached, with the numbers of moves and watchers at that time


class Lobby(Topic):
    """The public rooms in the order of their opening. A room is listed while a player is connected or only bots play.

    Attributes:
        on_update: Called with each public room that is new, has changed or was removed.
    """

    def __init__(
        self,
        now: Callable[[], int],
        catch_up: Callable[[], None],
        names: NameMask,
        add_fields: Callable[[Listed], Mapping[str, Any]],
    ) -> None:
        super().__init__()
        self.on_update = Listeners[[Listed]]()
        self._names = names
        self._add_fields = add_fields
        self._now = now
        self._public: dict[str, Listed] = {}
        self._absent: set[str] = set()
        self._changed: dict[str, Listed | None] = {}
        self._list: tuple[RoomSummary, ...] | None = None
        self._listed_at = 0.0
        self._catch_up = catch_up  # called before each read, to apply pending changes
        self._changes = 0

    @property
    def changes(self) -> int:
        self._catch_up()
        return self._changes

    def subscribe(self, session: Session, count: int = 1) -> None:
        self._catch_up()  # the new subscriber is sent a list with these changes
        super().subscribe(session, count)

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the encoded public rooms, newest first, as many as fit into one list."""
        self._catch_up()
        if self._list is None or clock.monotonic() - self._listed_at > LIST_SECONDS:
            self._list = list_of(next(in_groups(map(self._row, self.newest()), MAX_LIST_BYTES)))
            self._listed_at = clock.monotonic()
        return self._list

    def count(self) -> Counter[str]:
        self._catch_up()
        return Counter(live.room.status for code, live in self._public.items() if code not in self._absent)

    def newest(self) -> list[Listed]:
        """Return the newest rooms. If there are too many, each address's newest rooms precede its further rooms."""
        self._catch_up()
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
        """List a public room that opened or changed, or remove it from the list if it is empty or closed."""
        code, room = live.room.code, live.room
        if room.visibility != "public":
            return
        self.on_update(live)
        if live.is_gone:
            if self._public.pop(code, None) is not None:
                self._absent.discard(code)
                self._note(code, None)
            return
        self._public.setdefault(code, live)
        if room.has_somebody or room.is_for_bots:
            self._absent.discard(code)
            self._note(code, live)
        elif code not in self._absent:
            self._absent.add(code)
            self._note(code, None)

    def put_in_order(self) -> None:
        """Sort the rooms by age, after they were restored in arbitrary order."""
        self._public = dict(sorted(self._public.items(), key=lambda item: item[1].room.opened_at))
        self._list = None

    def tell(self) -> None:
        changed, self._changed = self._changed, {}
        rows = in_groups((self._row(live) for live in changed.values() if live is not None), MAX_CHANGE_BYTES)
        closed = [code for code, live in changed.items() if live is None]
        codes = (closed[start : start + MAX_LISTED_ROOMS] for start in range(0, len(closed), MAX_LISTED_ROOMS))
        for some, gone in zip_longest(rows, codes, fillvalue=()):
            self.send(encode_frame(encode(LobbyChange(list_of(some), tuple(gone)))))

    def _note(self, code: str, live: Listed | None) -> None:
        self._list = None
        self._changes += 1
        if self.subscribers:
            self._changed[code] = live
            self.tell_later()

    def _row(self, live: Listed) -> bytes:
        return with_fields(encode(self._names.public(live.summary(self._now()))), self._add_fields(live))


def in_groups(rows: Iterable[bytes], max_bytes: int) -> Iterator[list[bytes]]:
    """Yield rows in groups of at most `max_bytes` and `MAX_LISTED_ROOMS` rows. Without rows, yield one empty group."""
    group: list[bytes] = []
    size = 0
    for row in rows:
        if len(group) == MAX_LISTED_ROOMS or size + len(row) > max_bytes:
            yield group
            group, size = [], 0
        group.append(row)
        size += len(row) + 1
    yield group
