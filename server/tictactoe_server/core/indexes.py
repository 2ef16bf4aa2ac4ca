"""The indexes of the rooms on all servers: codes, counts, owners, seats, waiting rooms and the lobby.

All indexes are updated before the next request is handled. A room that is being opened already counts towards the
limits and reserves its code.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, Final

from tictactoe_protocol import MAX_LISTED_ROOMS, ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, ErrorCode, encode
from tictactoe_protocol.pushes import ROOM_STATUSES, HeldSeat, LobbyChange, RoomSummary
from tictactoe_server import clock
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.name_mask import NameMask
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.core.session import Topic, list_of
from tictactoe_server.people.allowances import RETRY_MS, Limiting, Seats
from tictactoe_server.rooms.room import Refused, Room
from tictactoe_server.rooms.view import GameKind, RoomListing, kind_of
from tictactoe_server.scheduler import Listeners
from tictactoe_server.settings import Limits
from tictactoe_server.transport.connection import encode_push, with_fields
from tictactoe_server.transport.rate_limit import Quota

MAX_CHANGE_BYTES: Final = 60_000  # for the rows in a message of changes, which stays under 64 KiB
LISTED_OF_ONE: Final = 10  # the rooms from each address that are listed before further rooms
MAX_LIST_BYTES: Final = 250_000  # for the rows in a list; the reply stays under 256 KiB
LIST_SECONDS: Final = 0.1  # how long an encoded list is cached, with the numbers of moves and watchers at that time
_MOST_COMPARED: Final = 200  # the most waiting rooms that are compared


class Lobby(Topic):
    """The public rooms in the order of their opening. A room is listed while a player is connected or only bots play.

    Attributes:
        changes: The number of changes of the list since the server started.
        on_update: Called with each public room that is new, has changed or was removed.
    """

    def __init__(
        self,
        now: Callable[[], int],
        names: NameMask,
        add_fields: Callable[[RoomListing], Mapping[str, Any]],
    ) -> None:
        super().__init__()
        self.on_update = Listeners[[RoomListing]]()
        self._names = names
        self._add_fields = add_fields
        self._now = now
        self._public: dict[str, RoomListing] = {}
        self._absent: set[str] = set()
        self._changed: dict[str, RoomListing | None] = {}
        self._list: tuple[RoomSummary, ...] | None = None
        self._listed_at = 0.0
        self.changes = 0

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the encoded public rooms, newest first, as many as fit into one list."""
        if self._list is None or clock.monotonic() - self._listed_at > LIST_SECONDS:
            self._list = list_of(next(in_groups(map(self._row, self.newest()), MAX_LIST_BYTES)))
            self._listed_at = clock.monotonic()
        return self._list

    def count(self) -> Counter[str]:
        return Counter(live.room.status for code, live in self._public.items() if code not in self._absent)

    def newest(self) -> list[RoomListing]:
        """Return the newest rooms. If there are too many, each address's newest rooms precede its further rooms."""
        newest = [live for code, live in reversed(self._public.items()) if code not in self._absent]
        if len(newest) <= MAX_LISTED_ROOMS:
            return newest
        few, more = list[int](), list[int]()
        counts: Counter[str] = Counter()
        for place, live in enumerate(newest):
            key = live.source or live.owner
            counts[key] += 1
            (few if counts[key] <= LISTED_OF_ONE else more).append(place)
            if len(few) == MAX_LISTED_ROOMS:
                break
        return [newest[place] for place in sorted([*few, *more][:MAX_LISTED_ROOMS])]

    def update(self, live: RoomListing) -> None:
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
        if room.has_player or live.is_for_bots:
            self._absent.discard(code)
            self._note(code, live)
        elif code not in self._absent:
            self._absent.add(code)
            self._note(code, None)

    def put_in_order(self) -> None:
        """Sort the rooms by age, after they were restored in arbitrary order."""
        self._public = dict(sorted(self._public.items(), key=lambda item: item[1].room.opened_at))
        self._list = None

    def publish(self) -> None:
        changed, self._changed = self._changed, {}
        rows = in_groups((self._row(live) for live in changed.values() if live is not None), MAX_CHANGE_BYTES)
        closed = [code for code, live in changed.items() if live is None]
        codes = (closed[start : start + MAX_LISTED_ROOMS] for start in range(0, len(closed), MAX_LISTED_ROOMS))
        for some, gone in zip_longest(rows, codes, fillvalue=()):
            self.send(encode_push(LobbyChange(list_of(some), tuple(gone))))

    def _note(self, code: str, live: RoomListing | None) -> None:
        self._list = None
        self.changes += 1
        if self.subscribers:
            self._changed[code] = live
            self.publish_later()

    def _row(self, live: RoomListing) -> bytes:
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


class Matchmaker:
    """Finds waiting rooms for players, including rooms that are still being opened.

    A room is skipped if a player in it has reached the limit of seats, as `is_full` says. The nearest room is preferred
    if `distances` has a function of room and player id for the purpose, otherwise the room offered first.
    """

    def __init__(self, is_full: Callable[[str], bool]) -> None:
        self.distances: dict[str, Callable[[Room, str], float]] = {}
        self._is_full = is_full
        self._waiting: dict[GameKind, dict[RoomListing, None]] = {}

    def offer(self, live: RoomListing) -> None:
        """Add a room, or remove it if no player waits in it for an opponent."""
        if _is_waiting(live):
            self._waiting.setdefault(kind_of(live.room), {})[live] = None
        else:
            self.discard(live)

    def discard(self, live: RoomListing) -> None:
        waiting = self._waiting.get(kind := kind_of(live.room), {})
        waiting.pop(live, None)
        if not waiting:
            self._waiting.pop(kind, None)

    def find(self, kind: GameKind, player: str, excluded: Collection[str] = ()) -> RoomListing | None:
        """Return a room of this kind without `player` and without players in `excluded`, or None."""

        def suits(live: RoomListing) -> bool:
            players, free_seats = live.player_ids, list(live.room.seats.values()).count(None)
            if player in players or free_seats <= len(live.entering) or not _is_waiting(live):
                return False
            return players.isdisjoint(excluded) and not any(self._is_full(seat.player) for seat in live.room.held_seats)

        def rank(live: RoomListing) -> tuple[float, int]:
            return 0.0 if distance is None else distance(live.room, player), live.room.opened_at

        distance = self.distances.get(kind[-1])
        return min(islice(filter(suits, self._waiting.get(kind, ())), _MOST_COMPARED), key=rank, default=None)


def _is_waiting(live: RoomListing) -> bool:
    """Return True if a room is public, with closed analysis, a connected player, and a free seat."""
    room = live.room
    if live.is_gone or room.visibility != "public" or room.analysis == "open" or room.status != "waiting":
        return False
    return live.has_player or live.is_opening


class RoomExists(Refused):
    """A room was not opened because its code may be taken. `Rooms.find` returns the other room if it is stored."""

    def __init__(self, code: str) -> None:
        super().__init__(ErrorCode.BUSY, "room", room=code)


class Indexes(Limiting):
    """The indexes of all rooms.

    Attributes:
        opening: This server's rooms that are not stored yet, by code.
        served: This server's stored rooms, by code.
    """

    def __init__(self, limits: Limits, limited: Counter[str], lobby: Lobby, elsewhere: RemoteServers) -> None:
        super().__init__(limits, limited)
        self.elsewhere = elsewhere
        self.opening: dict[str, LiveRoom] = {}
        self.served: dict[str, LiveRoom] = {}
        self.by_status = dict.fromkeys(ROOM_STATUSES, 0)
        self.of_owner = Quota(limits, "rooms-per-player")
        self.of_address = Quota(limits, "rooms-per-address")
        self.bot_games = Quota(limits, "bot-games-per-player", lambda live: live.room.result is None)
        self.seats = Seats(limits, limited, elsewhere.source_of)
        self.matchmaker = Matchmaker(self.seats.of_player.is_full)
        self.lobby = lobby

    @property
    def count(self) -> int:
        """The number of rooms on all servers, including rooms that are being opened."""
        return len(self.served) + len(self.opening) + self.elsewhere.count

    def update(self, listed: RoomListing, before: Room | None) -> None:
        """Add a new room, or update a room whose value was `before`."""
        status, was = listed.room.status, None if before is None else before.status
        if was is None:
            if self.opening.get(listed.room.code) is listed:
                del self.opening[listed.room.code]  # it is counted already
            else:
                self._count(listed)
        else:
            self.by_status[was] -= 1
        self.by_status[status] += 1
        if before is None or listed.room.seats is not before.seats:
            self.seats.update(listed, before)
        self.lobby.update(listed)
        if "waiting" in (status, was):
            self.matchmaker.offer(listed)

    def remove(self, listed: RoomListing) -> None:
        self.by_status[listed.room.status] -= 1
        self._discount(listed)
        self.seats.remove(listed.room)
        self.lobby.update(listed)
        self.matchmaker.discard(listed)

    def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        return tuple(filter(None, (listed.held_seat(player) for listed in self.seats.rooms_of(player))))

    def holds_left(self, player: str, now: int) -> dict[str, int]:
        """Return how many ms each seat of a disconnected player is still held, by room code."""
        rooms = {listed.room.code: listed.room for listed in self.seats.rooms_of(player)}
        left = {seat.room: rooms[seat.room].hold_left(seat.seat, now) for seat in self.held_seats(player)}
        return {code: ms for code, ms in left.items() if ms is not None}

    # -- rooms that are being opened ----------------------------------------------------------------------------

    def new_code(self) -> str:
        while True:
            code = "".join([secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH)])
            if not self._is_taken(code) and self.elsewhere.suits(code):
                return code

    def expect(self, live: LiveRoom) -> None:
        """Add a room that is about to be opened. Raise `Refused` at a limit or if an organised room's code is taken."""
        limits, code = self._limits, live.room.code
        if live.room.terms.is_organised and self._is_taken(code):
            raise RoomExists(code)
        if limits.rooms and self.count >= limits.rooms and not live.room.terms.is_organised:
            self._limited["rooms"] += 1
            raise Refused(ErrorCode.SERVER_FULL, retry_ms=RETRY_MS)
        self.check_held(*self._quotas_of(live))
        self._count(live)
        self.opening[code] = live
        if live.places > 1 and live.room.mark_of(live.owner) is not None:
            self.seats.expect(live.owner, live, live.origin)
        if live.room.status == "waiting":
            self.matchmaker.offer(live)

    def stop_expecting(self, live: RoomListing) -> None:
        self.opening.pop(live.room.code, None)
        self._discount(live)
        self.matchmaker.discard(live)
        self.seats.give_up(live.owner, live.room.code)

    def _quotas_of(self, listed: RoomListing) -> list[tuple[Quota, str]]:
        bot_games = [(self.bot_games, listed.owner)] if listed.has_bots else []
        return [(self.of_owner, listed.owner), *bot_games, (self.of_address, listed.source)]

    def _count(self, listed: RoomListing) -> None:
        for held, key in self._quotas_of(listed):
            held.add(key, listed, listed)

    def _discount(self, listed: RoomListing) -> None:
        for held, key in self._quotas_of(listed):
            held.discard(key, listed)

    def _is_taken(self, code: str) -> bool:
        return code in self.served or code in self.opening or self.elsewhere.find(code) is not None
