"""The rooms on this server: they are opened, found by code, loaded from the store, and removed when they close or move.

Rooms on other servers are found through `elsewhere`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, Final

import structlog

from tictactoe_engine import Rules
from tictactoe_protocol import BadRoomCode, ErrorCode, parse_room_code
from tictactoe_protocol.pushes import Closed, Moved, RoomState
from tictactoe_server.core.change import RETRY_SECONDS, RoomChange, Timers
from tictactoe_server.core.hooks import RoomPolicy
from tictactoe_server.core.indexes import Indexes, RoomExists
from tictactoe_server.core.live_room import LiveRoom, RoomEvents, closing_notice
from tictactoe_server.people.allowances import RETRY_MS, Allowances
from tictactoe_server.records.changes import Phase
from tictactoe_server.rooms.play import stand_still
from tictactoe_server.rooms.room import Player, Refused, Room, moved_error
from tictactoe_server.rooms.seating import drop, open_room
from tictactoe_server.rooms.view import state_of
from tictactoe_server.scheduler import Listeners
from tictactoe_server.storage.store import StoreUnavailable, Table, Unreadable
from tictactoe_server.transport.connection import encode_push
from tictactoe_server.transport.rate_limit import RateLimits

LINES_A_MINUTE: Final = 60  # the most lines in the log for an address
_ADOPTED_AT_ONCE: Final = 100

log: Final = structlog.get_logger(__name__)
_LOGGER: Final = logging.getLogger(__name__)


class Rooms(RoomEvents):
    """Opens, finds and adopts rooms, and updates the indexes before listeners are notified of a change.

    Attributes:
        by_code: The rooms in memory that are stored, by code.
        knows_all: Whether all stored rooms are in memory, except for damaged rooms.
        restored: Set after the first attempt to load the stored rooms, even if it failed.
        asleep: Stored rooms that a feature keeps out of memory: the ids of the players, by code.
        leaving_asleep: A stored room is not loaded at the start of a server if one of these functions returns True.
        waking: Each returns a room that is loaded, perhaps with more time.
        on_sleep: Called with each room that was put to sleep.
        on_long_game: Called with each room that is new, loaded or changed and keeps the seats of absent players.
    """

    def __init__(
        self,
        table: Table[Room],
        timers: Timers,
        indexes: Indexes,
        allowances: Allowances,
        log: RoomLog,
        policies: Mapping[str, RoomPolicy],
        hold_ms: int,
    ) -> None:
        super().__init__(table, timers.time)
        self.timers = timers
        self.indexes = indexes
        self.elsewhere = indexes.elsewhere
        self.by_code = indexes.served
        self.log = log
        self.restored = asyncio.Event()
        self.knows_all = False
        self._allowances = allowances
        self._policies = policies
        self._times = {"hold_ms": hold_ms, "start_ms": round(timers.limits.start_seconds * 1000)}
        self.asleep: dict[str, Collection[str]] = {}
        self.on_sleep = Listeners[[LiveRoom]]()
        self.leaving_asleep: list[Callable[[Room], bool]] = []
        self.waking: list[Callable[[Room], Room]] = []
        self.on_long_game = Listeners[[LiveRoom]]()

    # -- opening ------------------------------------------------------------------------------------------------

    def expect(
        self,
        rules: Rules,
        player: Player | None = None,
        *,
        owner: str = "",
        origin: str = "",
        code: str = "",
        **fields: Any,
    ) -> LiveRoom:
        """Return a room that is about to be opened, with its code reserved.

        `open` or `indexes.stop_expecting` must follow. The room, and by some terms its game, counts towards limits, and
        opponents can be matched with its player at once. May raise `Refused`, or `RoomExists` if an organised room's
        code may be taken.

        Args:
            origin: The owner's address.
            code: The room's code, by default a new code.
        """
        room = open_room(code or self.indexes.new_code(), rules, player, self.now(), **{**self._times, **fields})
        counts = room.terms.games_count == "at opening"
        if counts and not self._allowances.count_game({owner: origin}, rules.rows * rules.columns):
            raise Refused(ErrorCode.RATE_LIMITED, "kept", retry_ms=RETRY_MS)
        live = LiveRoom(self, room, owner=owner, origin=origin, source=self.elsewhere.source_of(origin))
        self.indexes.expect(live)
        return live

    async def open(self, live: LiveRoom, opened: Callable[[LiveRoom], object]) -> LiveRoom:
        """Store a room from `expect` and return it. A room that cannot be stored is discarded.

        If the code may be taken, the room gets another one; an organised room raises `RoomExists` instead. May raise
        `Refused` or `StoreUnavailable`.

        Args:
            opened: Called with the stored room, before its state is sent.
        """

        def make(room: Room) -> Room:
            if change.attempts:
                if room.terms.is_organised:
                    raise RoomExists(room.code)
                self.indexes.stop_expecting(live)
                live.rename(self.indexes.new_code())
                self.indexes.expect(live)
            return live.room

        def on_settled(error: Exception | None) -> None:
            if error is None:
                opened(live)
            else:
                self.indexes.stop_expecting(live)
                live.enter(Phase.GONE)

        change = RoomChange(live, live.room.opened_at, make=make, on_settled=on_settled)
        await change.until_settled()
        return live

    # -- finding ------------------------------------------------------------------------------------------------

    def find_here(self, text: str) -> LiveRoom | None:
        """Return this server's room with a code in any spelling, or None. Raise `Refused` if the code is invalid."""
        try:
            code = text if text in self.by_code else parse_room_code(text)
        except BadRoomCode as bad:
            raise Refused(ErrorCode.NO_SUCH_ROOM, path="room", **bad.data) from None
        return self.by_code.get(code) or self.indexes.opening.get(code)

    async def find(self, text: str) -> LiveRoom:
        """Return a room by its code in any spelling, loading it if no server owns it. May raise `Refused`."""
        live = self.find_here(text)
        if live is not None:
            return live
        code = parse_room_code(text)
        self.check_here(code)
        found = await self._load(code)
        if found is not None and not await self.elsewhere.adopt(*found):
            self.adopt(*found, all_are_away=True)
        self.check_here(code)
        if code not in self.by_code:
            raise Refused(ErrorCode.NO_SUCH_ROOM, room=code)
        return self.by_code[code]

    def check_here(self, text: str) -> None:
        """Raise `Refused` if another server owns the room, or if it cannot exist. The code may have any spelling."""
        code = parse_room_code(text)
        if code in self.by_code:
            return
        url = self.elsewhere.find(code)
        if url is not None:
            raise moved_error(code, url)
        if self._has_all and code not in self.asleep:
            raise Refused(ErrorCode.NO_SUCH_ROOM, room=code)

    async def load_state(self, code: str) -> RoomState:
        """Return the state of a room on any server, for reading only. Raise `Refused` if there is no such room."""
        live = self.by_code.get(code)
        if live is not None:
            return live.state(self.now())
        found = await self._load(code)
        if found is None:
            raise Refused(ErrorCode.NO_SUCH_ROOM, room=code)
        return state_of(found[0], self.now(), watchers=0)

    @property
    def _has_all(self) -> bool:
        """Whether every stored room, except for those asleep, is in memory on this server."""
        return self.knows_all and not self.elsewhere.is_several

    async def _load(self, code: str) -> tuple[Room, int] | None:
        """Return a stored room with its revision, or None. A damaged room is logged and counts as missing."""
        try:
            return None if self._has_all and code not in self.asleep else await self.table.load(code)
        except Unreadable as damaged:
            log_damaged_room(code, damaged)
            return None

    # -- coming back --------------------------------------------------------------------------------------------

    async def restore(self) -> None:
        """Load all stored rooms, retrying until the store responds. Players do not wait for the retries."""
        while not self.knows_all:
            try:
                await self._adopt_all()
                self.knows_all = True
            except StoreUnavailable as error:
                log.warning("rooms not loaded yet; retrying", reason=str(error))
            self.set_restored()
            if not self.knows_all:
                await asyncio.sleep(RETRY_SECONDS)

    def set_restored(self) -> None:
        self.indexes.lobby.put_in_order()
        self.restored.set()

    async def _adopt_all(self) -> None:
        count = damaged = 0
        async for some in self.table.load_all(self.asleep):
            for number, stored in enumerate(some, 1):
                if isinstance(stored.value, Unreadable):
                    damaged += 1
                    log_damaged_room(stored.key, stored.value)
                elif not any(leaves_asleep(stored.value) for leaves_asleep in self.leaving_asleep):
                    count += self.adopt(stored.value, stored.revision, all_are_away=True) is not None
                if number % _ADOPTED_AT_ONCE == 0:
                    await asyncio.sleep(0)
        if count or damaged:
            log.info("rooms restored", rooms=count, damaged=damaged)

    def adopt(
        self, room: Room, revision: int, *, owner: str = "", source: str = "", all_are_away: bool = False
    ) -> LiveRoom | None:
        """Adopt a stored room and return it, or None if it is in memory already or unusable.

        If `all_are_away`, its players are marked as dropped. If its terms require it, its clock stops until `go_on`.
        """
        if room.code in self.by_code:
            return None
        if room.purpose.name not in self._policies:
            log.error("room ignored: its feature is missing", room=room.code, of=room.purpose.name)
            return None
        try:
            self.now.go_on_from(max(room.opened_at, room.clock_started_at or 0, *room.gone_at.values()))
            for seat in room.held_seats if all_are_away else ():
                if seat.online and not seat.is_server_bot:
                    room = drop(room, Player(seat.player, seat.name), self.now())
            room = stand_still(room, self.now())
            for wake in self.waking:
                room = wake(room)
            first_person = next((seat.player for seat in room.held_seats if not seat.is_server_bot), "")
            live = LiveRoom(self, room, revision, owner=owner or first_person, source=source)
            self.update(live, None, is_restored=True)
            self.timers.close_later(live)
            if live.has_bots:
                self.on_shown(live)
        except Exception:
            log.exception("restoring a room failed", room=room.code)
            return None
        return live

    # -- changing and going -------------------------------------------------------------------------------------

    def update(self, live: LiveRoom, before: Room | None, *, is_restored: bool = False) -> None:
        """Update the indexes for a new or changed room, and log a game that has begun or ended."""
        room = live.room
        has_changed = before is None or room.seats is not before.seats or room.result is not before.result
        if before is None:
            self.by_code[room.code] = live
            self.asleep.pop(room.code, None)
        if has_changed:
            if not is_restored:
                self.log.follow(live, before)
            self.indexes.update(live, before)
            self.on_change(live)
        if room.clock is not None or room.gone_at:
            self.timers.watch_clock(live)
            if room.keeps_seats:
                self.on_long_game(live)
        if has_changed:
            self._policies[room.purpose.name].after_change(live)

    def remove(self, live: LiveRoom, why: Closed | Moved | None) -> None:
        address = live.address
        del self.by_code[live.room.code]
        self.indexes.remove(live)
        if why is None:
            self.asleep[live.room.code] = [seat.player for seat in live.room.held_seats]
            self.on_sleep(live)
            return
        live.watchers.finish()

        @cache
        def frame_in(language: str) -> bytes:
            if isinstance(why, Closed):
                return encode_push(closing_notice(why.room, why.code, language, **why.data))
            return encode_push(why)

        for session in [*live.sessions]:
            session.connection.push_frame(frame_in(session.language))
            live.part(session)
        if isinstance(why, Closed):
            self.log.note("room closed", address, room=why.room, reason=why.reason)
            self.on_close(live, why)


def log_damaged_room(code: str, damaged: Unreadable) -> None:
    """Log a stored room that cannot be read."""
    log.error("damaged room ignored", room=code, reason=str(damaged))


class RoomLog:
    """Logs what happens in rooms, and counts the finished games by the reason for their end."""

    def __init__(self, games: Counter[str], monotonic_ns: Callable[[], int]) -> None:
        self._games = games
        self._lines = RateLimits(LINES_A_MINUTE, 60_000, monotonic_ns)

    def follow(self, live: LiveRoom, before: Room | None) -> None:
        room = live.room
        status, result = room.status, room.result
        if status == ("waiting" if before is None else before.status):
            return
        if result is not None:
            self._games[result.reason] += 1
        if status == "waiting" or not self._may_note(live.address):
            return
        if result is not None:
            facts = {"winner": result.winner, "reason": result.reason, "moves": room.position.ply}
            log.info("game ended", room=room.code, game=room.game, **facts)
        else:
            facts = {"rules": room.rules.preset, "marks": room.rules.marks}
            log.info("game began", room=room.code, game=room.game, **facts)

    def note(self, event: str, address: str, **facts: Any) -> None:
        """Log an event from an address ("" if unknown), unless the address has caused too many lately."""
        if self._may_note(address):
            log.info(event, **facts)

    def _may_note(self, address: str) -> bool:
        return _LOGGER.isEnabledFor(logging.INFO) and not self._lines[address].consume()
