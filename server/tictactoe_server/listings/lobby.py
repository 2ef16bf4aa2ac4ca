"""The public rooms: a topic of changes of their list, and a topic of the boards of some running games.

Moves do not notify the lobby: while there are subscribers to boards, it polls the games once a second.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice, zip_longest
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import MAX_LISTED_ROOMS, encode
from tictactoe_protocol.pushes import LiveBoard, LiveBoards, LobbyChange, RoomSummary
from tictactoe_server import clock
from tictactoe_server.listings.listed import Listed
from tictactoe_server.listings.name_mask import NameMask
from tictactoe_server.sessions.session import Session
from tictactoe_server.transport.frames import encode_frame, with_fields
from tictactoe_server.watching.topics import Listeners, Topic, list_of

MAX_CHANGE_BYTES: Final = 60_000  # of the rows in a message of changes, which stays under 64 KiB
LISTED_OF_ONE: Final = 10  # rooms of an address that are listed before other addresses have their turn
MAX_LIST_BYTES: Final = 250_000  # of the rows in a list; the answer stays under 256 KiB
LIST_SECONDS: Final = 0.1  # how long an encoded list is cached; moves and watchers are not updated meanwhile
LOOK_SECONDS: Final = 1.0
OVER_SECONDS: Final = 20.0  # how long the board of a finished game is still shown
DULL_SECONDS: Final = 60.0  # until a game without moves makes room for another one
LOOKED_AT: Final = 400  # the number of newest games that are searched for games with connected players
_NEWEST: Final = "boards"  # the key of boards in the queues of slow peers; no room has such a code


@dataclass(slots=True, eq=False)
class _Shown:
    """A game that is shown.

    Attributes:
        changed_at: Since when the board is the same (s of the loop's time).
        change: The number of the board's last change, among the changes of all boards.
        board: The board without clocks.
        row: The newest encoded board.
    """

    live: Listed
    changed_at: float
    change: int = 0
    board: LiveBoard | None = None
    row: bytes = b""


class Boards(Topic):
    """Chooses games, the newest first, and shows them while they are played.

    Subscribers are sent the requested number of boards, at once and whenever a board changes.

    Attributes:
        on_demo_wanted: Called once a second with True if a subscriber wants a demo game because there is no other.
    """

    def __init__(self, now: Callable[[], int], names: NameMask) -> None:
        super().__init__()
        self._now = now
        self._names = names
        self.on_demo_wanted = Listeners[[bool]]()
        self._sent: dict[Session, tuple[int, ...]] = {}
        self._demo_for: set[Session] = set()
        self._demo: LiveBoard | None = None
        self._demo_change = 0
        self._changes = count(1)
        self._playing: OrderedDict[str, Listed] = OrderedDict()
        self._shown: list[_Shown] = []

    def subscribe(self, session: Session, wanted: int = 1, *, demo: bool = False) -> None:
        """Subscribe a session to up to `wanted` boards, or a demo game; 0 unsubscribes."""
        self.unsubscribe(session)
        if wanted:
            if demo:
                self._demo_for.add(session)
            is_shown = self.due is not None and wanted <= self._most
            super().subscribe(session, wanted)
            if is_shown:
                self._send([session])
            else:
                self.tell()

    def unsubscribe(self, session: Session) -> None:
        super().unsubscribe(session)
        self._demo_for.discard(session)
        if self._sent.pop(session, None) is not None:
            session.connection.forget_state(_NEWEST)

    def show_demo(self, demo: LiveBoard | None) -> None:
        self._demo = demo
        self._demo_change = next(self._changes)

    def update(self, live: Listed) -> None:
        """Update the candidates when a public room opens, changes status or ends."""
        if live.room.status == "playing" and not live.is_gone:
            self._playing.setdefault(live.room.code, live)
        else:
            self._playing.pop(live.room.code, None)

    def gather_seconds(self) -> float:
        return LOOK_SECONDS

    def tell(self) -> None:
        if not self.subscribers:
            self._shown = []
            self.on_demo_wanted(False)
            return
        self.tell_later()
        now = asyncio.get_running_loop().time()
        self._choose(now)
        for shown in self._shown:
            row = self._names.public_board(shown.live, shown.live.board(self._now()))
            board = replace(row, clock=UNSET)
            shown.row = encode(row)
            if board != shown.board:
                shown.board, shown.changed_at, shown.change = board, now, next(self._changes)
        self.on_demo_wanted(bool(self._demo_for) and not self._shown)
        self._send(self.subscribers)

    @property
    def _most(self) -> int:
        return max(self.subscribers.values(), default=0)

    def _send(self, sessions: Iterable[Session]) -> None:
        """Send boards that these sessions do not have yet; equal messages are encoded once."""
        frames: dict[tuple[int, bool], bytes] = {}
        for session in sessions:
            some = self._shown[: self.subscribers[session]]
            demo = self._demo if not some and session in self._demo_for else None
            kind = len(some), demo is not None
            changes = tuple(shown.change for shown in some) if demo is None else (self._demo_change,)
            if changes == self._sent.get(session):
                continue
            if kind not in frames:
                frames[kind] = encode_frame(encode(LiveBoards(list_of([one.row for one in some]), demo or UNSET)))
            self._sent[session] = changes
            session.connection.push_state(_NEWEST, frames[kind])

    def _choose(self, now: float) -> None:
        """Replace finished and idle games; the others keep their places."""
        stay = {shown.live for shown in self._shown if self._stays(shown, now)}
        newest = islice(reversed(self._playing.values()), LOOKED_AT)
        fresh = (_Shown(live, now) for live in newest if live not in stay and live.is_alive)
        chosen = [shown if shown.live in stay else next(fresh, None) for shown in self._shown]
        chosen += islice(fresh, max(0, self._most - len(chosen)))
        self._shown = [shown for shown in chosen if shown is not None][: self._most]

    def _stays(self, shown: _Shown, now: float) -> bool:
        live, age, code = shown.live, now - shown.changed_at, shown.live.room.code
        if code not in self._playing:
            return live.room.status == "over" and not live.is_gone and age < OVER_SECONDS
        if age > DULL_SECONDS:
            self._playing.move_to_end(code, last=False)
            return False
        return live.is_alive


class Lobby(Topic):
    """Public rooms in the order of their opening, listed while a player is there; `catch_up` precedes each read."""

    def __init__(
        self,
        now: Callable[[], int],
        catch_up: Callable[[], None],
        names: NameMask,
        add_fields: Callable[[Listed], Mapping[str, Any]],
    ) -> None:
        super().__init__()
        self.boards = Boards(now, names)
        self._names = names
        self._add_fields = add_fields
        self._now = now
        self._public: dict[str, Listed] = {}
        self._absent: set[str] = set()
        self._changed: dict[str, Listed | None] = {}
        self._list: tuple[RoomSummary, ...] | None = None
        self._listed_at = 0.0
        self._catch_up = catch_up
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
        """Return the newest rooms; if there are too many, addresses take turns."""
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
        """List a room that opened or changed; an empty or closed room is removed."""
        code, room = live.room.code, live.room
        if room.visibility != "public":
            return
        self.boards.update(live)
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
        """Sort the rooms by age, after they were restored in any order."""
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
    """Yield rows in groups limited by bytes and by the length of a list; at least one group."""
    group: list[bytes] = []
    size = 0
    for row in rows:
        if len(group) == MAX_LISTED_ROOMS or size + len(row) > max_bytes:
            yield group
            group, size = [], 0
        group.append(row)
        size += len(row) + 1
    yield group
