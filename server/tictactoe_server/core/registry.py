"""All rooms: how they are found, brought back from the store, opened, and let go of.

What is known of all of them together is kept true here: the lobby, who waits for a match, who has a seat where. What
other servers have is in these lists, too; `elsewhere` says at which of them a room is.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog
from msgspec.structs import replace

from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, ErrorCode, encode, parse_room_code
from tictactoe_protocol.pushes import ROOM_STATUSES, Closed, HeldSeat, Moved, RoomState
from tictactoe_server.core.live_room import LiveRoom, RoomChange, closed, leave_alone
from tictactoe_server.core.timers import RETRY_SECONDS, Timers
from tictactoe_server.listings.listed import Elsewhere, Listed, moved
from tictactoe_server.listings.lobby import Lobby
from tictactoe_server.listings.matchmaking import Matchmaker
from tictactoe_server.listings.room_log import RoomLog
from tictactoe_server.people.limits import OpenedRooms, Seats
from tictactoe_server.records.changes import Phase
from tictactoe_server.rooms import NOBODY, Command, Dropped, Player, Refused, Room, StandStill, apply, state_of
from tictactoe_server.sessions.session import Session
from tictactoe_server.sessions.tally import Tally
from tictactoe_server.storage.store import StoreUnavailable, Table, Unreadable
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.watching.topics import Listeners
from tictactoe_server.watching.watchers import Watchers

_TAKEN_IN_AT_ONCE: Final = 100

log: Final = structlog.get_logger(__name__)


class RoomExists(Refused):
    """A room was not opened, as there may be one under its code: `Registry.find` returns it, if it is stored."""

    def __init__(self, code: str) -> None:
        super().__init__(ErrorCode.BUSY, "room", room=code)


class Registry:
    """The rooms, which are opened within the limits. It hears of every room that changes, and when.

    `knows_all` once every room that is stored is known here, but for damaged ones. Listeners of `on_told` hear of each
    room here that is new, or whose seats or result changed. `source_of` returns what limits know an address by, and
    `take_found` serves a room that was sought and found in the store.
    """

    def __init__(self, rooms: Table[Room], timers: Timers, lobby: Lobby, tally: Tally) -> None:
        self._limited = limited = tally.limited
        self._limits = limits = timers.limits
        self._rooms = rooms
        self._changes = changes = timers.changes
        self._timers = timers
        self._lobby = lobby
        self._time = timers.time
        self.log = RoomLog(tally)
        self.owners = OpenedRooms(limits, limited)
        self.seats = Seats(limits, limited, lambda address: self.source_of(address))
        self.matchmaker = Matchmaker(self.seats.of_player.is_full)
        self.elsewhere = Elsewhere()
        self.on_told = Listeners[[LiveRoom]]()
        self.source_of: Callable[[str], str] = str
        self.take_found: Callable[[Room, int], object] = partial(self.take_in, all_are_away=True)
        self.by_code: dict[str, LiveRoom] = {}
        """The rooms that are served here, by their codes."""

        self._opening: dict[str, LiveRoom] = {}
        self.by_status = dict.fromkeys(ROOM_STATUSES, 0)
        """How many rooms there are of each status, those of other servers too."""

        self.restored = asyncio.Event()
        """Set once all stored rooms have been brought back, as far as the store gave them."""

        self.knows_all = False
        changes.on_room.add(self._hear)
        changes.on_gone.add(self._forget)

    # -- finding ------------------------------------------------------------------------------------------------

    def find_here(self, text: str) -> LiveRoom | None:
        """Return a room by its code in any spelling, or None where it is not known here.

        Raises `Refused` for what can be no code.
        """
        try:
            code = text if text in self.by_code else parse_room_code(text)
        except BadRoomCode as bad:
            raise Refused(ErrorCode.NO_SUCH_ROOM, path="room", **bad.data) from None
        return self.by_code.get(code) or self._opening.get(code)

    async def find(self, text: str) -> LiveRoom:
        """Return a room by its code in any spelling, from the store where nobody has it; raises `Refused`."""
        live = self.find_here(text)
        if live is not None:
            return live
        code = parse_room_code(text)
        self.check_here(code)
        found = await self._load(code)
        if found is not None and await self.elsewhere.may_take(found[0]):
            self.take_found(*found)
        self.check_here(code)
        if code not in self.by_code:
            raise Refused(ErrorCode.NO_SUCH_ROOM, room=code)
        return self.by_code[code]

    def check_here(self, text: str) -> None:
        """Raise `Refused` for a room, by its code in any spelling, that another server has, or that is nowhere."""
        code = parse_room_code(text)
        if code in self.by_code:
            return
        url = self.elsewhere.find(code)
        if url is not None:
            raise moved(code, url)
        if self._has_all:
            raise Refused(ErrorCode.NO_SUCH_ROOM, room=code)

    @property
    def _has_all(self) -> bool:
        """Whether all rooms that there are are here, so that the store need not be asked for another."""
        return self.knows_all and not self.elsewhere.is_several

    async def look(self, code: str) -> RoomState:
        """Return the state of a room for one who only looks, wherever it is served; raises `Refused` for none."""
        live = self.by_code.get(code)
        if live is not None:
            return live.state(self._time())
        found = await self._load(code)
        if found is None:
            raise Refused(ErrorCode.NO_SUCH_ROOM, room=code)
        return state_of(found[0], self._time(), watchers=0)

    async def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        await self.restored.wait()
        held = (listed.held_seat(player) for listed in self.seats.rooms_of(player))
        return tuple(seat for seat in held if seat is not None)

    def holds_left(self, player: str) -> dict[str, int]:
        """Return for how many ms each seat of a player is still held, by room; only those the player is away from."""
        held = [(listed.room, listed.held_seat(player)) for listed in self.seats.rooms_of(player)]
        left = {room.code: room.hold_left(seat.seat, self._time()) for room, seat in held if seat is not None}
        return {code: ms for code, ms in left.items() if ms is not None}

    async def act(self, code: str, player: Player, command: Command) -> None:
        """Carry out a command of a bot; raises `Refused` and `StoreUnavailable`."""
        await self._changes.carry_out(await self.find(code), player, command)

    # -- looking ------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many rooms count for the limit: those of all servers, and those that are being opened."""
        return len(self.by_code) + len(self._opening) + self.elsewhere.count

    def set_restored(self) -> None:
        """Let those go on who wait until all stored rooms are known, or as many as the store gave."""
        self._lobby.put_in_order()
        self.restored.set()

    def count_games(self) -> int:
        """Return how many games are on of which a player is here."""
        return sum(bool(live.players) and live.room.status == "playing" for live in self.by_code.values())

    # -- opening ------------------------------------------------------------------------------------------------

    def new_code(self) -> str:
        """Return a code that no room has; where it names one that nobody could read, storing it conflicts."""
        while True:
            code = "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH))
            if code not in self.by_code and code not in self._opening and self.elsewhere.find(code) is None:
                return code

    def expect(self, live: LiveRoom) -> None:
        """Know a room that is about to be opened; raises `Refused` where there are too many."""
        limits, code = self._limits, live.room.code
        if live.room.terms.is_kept and (self.find_here(code) is not None or self.elsewhere.find(code) is not None):
            raise RoomExists(code)
        if limits.rooms and self.count >= limits.rooms and live.room.terms.is_counted:
            self._limited["rooms"] += 1
            raise Refused(ErrorCode.SERVER_FULL, retry_ms=60_000)
        self.owners.check(live)
        self._opening[code] = live
        self.owners.add(live)
        if live.room.is_for_several and live.room.mark_of(live.owner) is not None:
            self.seats.expect(live.owner, live, live.origin)

    def with_free_code(self, opening: RoomChange) -> Room:
        """Return a room that is opened: under another code where somebody was found to have that one.

        One that is kept is opened under its own code alone: raises `RoomExists`.
        """
        live = opening.live
        if opening.attempts and live.room.terms.is_kept:
            raise RoomExists(live.room.code)
        if opening.attempts:
            self._expect_no_more(live)
            live.room = replace(live.room, code=self.new_code())
            live.key = live.room.code
            live.watchers = Watchers(live.key)
            self.expect(live)
        return live.room

    def give_up(self, live: LiveRoom) -> None:
        """Know a room no more that could not be opened."""
        self._expect_no_more(live)
        live.enter(Phase.GONE)

    def _expect_no_more(self, live: LiveRoom) -> None:
        self._opening.pop(live.room.code, None)
        self.owners.remove(live)
        self.seats.give_up(live.owner, live.room.code)

    # -- coming back and going ----------------------------------------------------------------------------------

    async def restore(self) -> None:
        """Bring back all stored rooms; unreadable ones are named in the log and left alone.

        What the store refuses is tried again until it is here; players are not kept waiting for that.
        """
        while not self.knows_all:
            try:
                await self._take_in_all()
                self.knows_all = True
            except StoreUnavailable as error:
                log.warning("the rooms cannot be read yet", reason=str(error))
            self.set_restored()
            if not self.knows_all:
                await asyncio.sleep(RETRY_SECONDS)

    def dismiss(self, session: Session) -> None:
        """Let a session go that is over: its seats are held, its watching ends."""
        for code in session.rooms:
            self._timers.agenda.soon(partial(self._part, session, code))

    def _part(self, session: Session, code: str) -> None:
        live = self.by_code.get(code)
        if live is None or not live.has(session):
            return
        is_player = live.is_played_by(session)
        live.part(session)
        if is_player and session.player is not None:
            self._timers.drop(live, session.player)
        else:
            self._timers.tell_count(live)
        self._timers.close_later(live)

    # -- several servers ----------------------------------------------------------------------------------------

    def take_in(
        self, room: Room, revision: int, *, owner: str = "", source: str = "", all_are_away: bool = False
    ) -> LiveRoom | None:
        """Serve a stored room from now on and return it, None where it is here already or cannot be served.

        With `all_are_away` nobody in it is here any more. By some terms time stands still until it is to go on.
        """
        if room.code in self.by_code:
            return None
        try:
            self._time.go_on_from(room.newest_time)
            for seat in room.held_seats if all_are_away else ():
                if seat.online and not seat.is_server_bot:
                    room = apply(room, Player(seat.player, seat.name), Dropped(), self._time())
            room = apply(room, NOBODY, StandStill(), self._time())
            first_person = next((seat.player for seat in room.held_seats if not seat.is_server_bot), "")
            live = LiveRoom(self._changes, room, revision, owner=owner or first_person, source=source)
            self._hear(live, None, is_restored=True)
            self._timers.close_later(live)
            if live.has_bots:
                self._changes.on_shown(live)
        except Exception:
            log.exception("a room could not be brought back", room=room.code)
            return None
        return live

    def hand_over(self, live: LiveRoom, url: str, then: Callable[[], None]) -> None:
        """Serve a room no longer that another server has now, once what is under way in it is done.

        Then tell whoever is in it where to go, and do `then`.
        """

        def go(error: Exception | None) -> None:
            if not live.is_gone:
                live.enter(Phase.GONE)
                live.moved_to = url
                self._let_go(live, closed(code, "moved", room=code, at=url), Moved(code, url))
                then()

        code = live.room.code
        RoomChange(live, self._time(), then=go, make=leave_alone).submit()

    # -- lists --------------------------------------------------------------------------------------------------

    def list_room(self, listed: Listed, before: Room | None) -> None:
        """Have a room in the lists that is new, or was `before`, here or at another server."""
        status, was = listed.room.status, None if before is None else before.status
        if was is None:
            self.owners.add(listed)
        if status != was:
            self.by_status[status] += 1
            if was is not None:
                self.by_status[was] -= 1
        self.seats.update(listed, before)
        self._lobby.update(listed)
        if status == "waiting":
            self.matchmaker.offer(listed)

    def unlist_room(self, listed: Listed) -> None:
        """Have it in the lists no more."""
        self.by_status[listed.room.status] -= 1
        self.owners.remove(listed)
        self.seats.remove(listed.room)
        self._lobby.update(listed)

    # -- inside -------------------------------------------------------------------------------------------------

    async def _take_in_all(self) -> None:
        count = damaged = 0
        async for some in self._rooms.load_all():
            for number, stored in enumerate(some, 1):
                if isinstance(stored.value, Unreadable):
                    damaged += 1
                    self._report(stored.key, stored.value)
                else:
                    live = self.take_in(stored.value, stored.revision, all_are_away=True)
                    count += live is not None
                if number % _TAKEN_IN_AT_ONCE == 0:
                    await asyncio.sleep(0)
        if count or damaged:
            log.info("rooms restored", rooms=count, damaged=damaged)

    async def _load(self, code: str) -> tuple[Room, int] | None:
        """Return a stored room; a damaged one is named in the log and not there."""
        try:
            return None if self._has_all else await self._rooms.load(code)
        except Unreadable as damaged:
            self._report(code, damaged)
            return None

    def _hear(self, live: LiveRoom, before: Room | None, *, is_restored: bool = False) -> None:
        """Keep the lists true to a room that opened or changed, and log a game that began or ended with it."""
        room = live.room
        if before is None:
            self.by_code[room.code] = live
            self._opening.pop(room.code, None)
        if before is None or room.seats is not before.seats or room.result is not before.result:
            if not is_restored:
                self.log.follow(live.address, room, before)
            self.list_room(live, before)
            self.on_told(live)
        if room.clock is not None:
            self._timers.watch_clock(live)

    def _forget(self, live: LiveRoom, why: Closed) -> None:
        """Let go of a room that is no longer stored."""
        address = live.address
        self._let_go(live, why)
        self.log.note("room closed", address, room=why.room, reason=why.reason)

    def _let_go(self, live: LiveRoom, words: Closed, moved: Moved | None = None) -> None:
        """Have a room here no more and tell whoever is still there, who may go on where it has `moved`."""
        self._changes.catch_up()
        del self.by_code[live.room.code]
        self.unlist_room(live)
        live.show_watchers(self._time)
        live.watchers.finish()
        usual = encode_frame(encode(words))
        newer = usual if moved is None else encode_frame(encode(moved))
        for session in [*live.sessions]:
            session.connection.push_frame(newer if "moved" in session.features else usual)
            live.part(session)

    def _report(self, code: str, damaged: Unreadable) -> None:
        log.error("a damaged room is left alone", room=code, reason=str(damaged))
