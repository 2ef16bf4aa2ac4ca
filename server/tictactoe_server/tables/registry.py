"""All rooms: how they are found, brought back from the store, opened, and let go of.

What is known of all of them together is kept true here: the lobby, who waits for a match, who has a seat where. In a
house of several servers the rooms of the others are known as well; which are its own it is told by the house.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Final

import structlog

from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, ErrorCode, parse_room_code
from tictactoe_protocol.pushes import ROOM_STATUSES, Closed, HeldSeat, RoomStatus
from tictactoe_server.rooms import Command, Dropped, Player, Refused, Room, apply
from tictactoe_server.settings import Limits
from tictactoe_server.stores import MISSING, Rooms, StoreUnavailable, Unreadable, decode_room, outline_of
from tictactoe_server.tables.agenda import Agenda
from tictactoe_server.tables.changes import Changes
from tictactoe_server.tables.live_room import LiveRoom, no_such_room
from tictactoe_server.tables.lobby import Lobby
from tictactoe_server.tables.matchmaking import Matchmaker
from tictactoe_server.tables.owners import Owners
from tictactoe_server.tables.room_log import RoomLog
from tictactoe_server.tables.seat_index import SeatIndex
from tictactoe_server.tables.served_time import ServedTime
from tictactoe_server.tables.session import Session
from tictactoe_server.tables.tally import Tally
from tictactoe_server.tables.timers import RETRY_SECONDS, Timers

_TAKEN_IN_AT_ONCE: Final = 100

_CODES: Final = 1_000
"""How many codes are tried until one is free, and this server's own."""

_QUIET_SECONDS: Final = 0.1
_QUIET_AT_ONCE: Final = 10
"""How many rooms in which nobody is are looked through, how often, for players who are not there any more."""

MISSING_SECONDS: Final = 3.0
"""How long after a room came from another server its players may take to be heard of."""

log: Final = structlog.get_logger(__name__)


class Registry:
    """The rooms, which are opened within the limits. It hears of every room that changes, and when.

    With `is_shared` other servers serve rooms, too: `is_own` tells by its code whether a room is this server's;
    `knows_all` once every room that is stored is known here, but for damaged ones.
    `on_moved` is called with each session here that is in a room which is no longer, `on_present` with each player
    who is here although the room says otherwise.
    """

    def __init__(
        self,
        rooms: Rooms,
        changes: Changes,
        timers: Timers,
        agenda: Agenda,
        lobby: Lobby,
        time: ServedTime,
        limits: Limits,
        tally: Tally,
    ) -> None:
        self.tally = tally
        self._rooms = rooms
        self._changes = changes
        self._timers = timers
        self._agenda = agenda
        self._lobby = lobby
        self._time = time
        self._limits = limits
        self.owners = Owners(limits, tally.limited)
        self.log = RoomLog()
        self.is_shared = False
        self.is_own: Callable[[str], bool] = lambda code: True
        self.on_moved: Callable[[Session], None] = lambda session: None
        self.on_present: Callable[[LiveRoom, Player], None] = lambda live, player: None
        self._live: dict[str, LiveRoom] = {}
        self._opening: dict[str, LiveRoom] = {}
        self._quiet: dict[LiveRoom, bool] = {}
        self._reading: dict[LiveRoom, asyncio.Task[None]] = {}
        self._by_status: Counter[str] = Counter()
        self.seats = SeatIndex(limits, tally.limited)
        self._restored = asyncio.Event()
        self.knows_all = False
        self.matchmaker = Matchmaker(self.seats.is_full)
        changes.on_stored = self._hear
        changes.on_gone = timers.on_closed = self._forget

    # -- finding ------------------------------------------------------------------------------------------------

    def find_here(self, text: str) -> LiveRoom | None:
        """Return a room by its code in any spelling, or None where it is not known here.

        Raises `Refused` for what can be no code.
        """
        live = self._live.get(text)
        if live is not None:
            return live
        try:
            code = parse_room_code(text)
            return self._live.get(code) or self._opening.get(code)
        except BadRoomCode as bad:
            raise Refused(ErrorCode.NO_SUCH_ROOM, bad.message, path="room") from None

    async def find(self, text: str) -> LiveRoom:
        """Return a room by its code in any spelling, from the store where it is not here; raises `Refused`."""
        live = self.find_here(text)
        if live is not None:
            return live
        code = parse_room_code(text)
        try:
            found = await self._rooms.load(code)
        except Unreadable as damaged:
            self._report(code, damaged)
            found = None
        if found is not None and self.is_shared:
            self._meet(*found)
        elif found is not None:
            self._take_in(code, *found)
        if code not in self._live:
            raise no_such_room(code)
        return self._live[code]

    async def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        await self._restored.wait()
        held = (self._live[code].held_seat(player) for code in self.seats.rooms_of(player))
        return tuple(seat for seat in held if seat is not None)

    def rooms_of(self, player: str) -> list[Room]:
        """Return the rooms in which a player has a seat that they did not leave."""
        return [self._live[code].room for code in self.seats.rooms_of(player)]

    def holds_left(self, held: tuple[HeldSeat, ...]) -> dict[str, int]:
        """Return for how many ms each of these seats is still held, by room; only those the player is away from."""
        now = self._time()
        left = {seat.room: self._live[seat.room].room.hold_left(seat.seat, now) for seat in held}
        return {code: ms for code, ms in left.items() if ms is not None}

    async def act(self, code: str, player: Player, command: Command) -> None:
        """Carry out a command of a player of the house; raises `Refused` and `StoreUnavailable`."""
        await self._changes.carry_out(await self.find(code), player, command)

    # -- looking ------------------------------------------------------------------------------------------------

    @property
    def rooms(self) -> Iterable[LiveRoom]:
        """All rooms, those of other servers too."""
        return self._live.values()

    @property
    def count(self) -> int:
        """How many rooms count for the limit: those that are there, and those that are being opened."""
        return len(self._live) + len(self._opening)

    @property
    def by_status(self) -> dict[str, int]:
        """How many rooms there are of each status."""
        return {status: self._by_status[status] for status in ROOM_STATUSES}

    def set_restored(self) -> None:
        """Take notice that all stored rooms are known, or as many as the store gave."""
        self._lobby.put_in_order()
        self._restored.set()

    @property
    def is_restored(self) -> bool:
        """Whether all stored rooms have been brought back, as far as the store gave them."""
        return self._restored.is_set()

    async def until_restored(self) -> None:
        """Return when they have been."""
        await self._restored.wait()

    @property
    def seated(self) -> Iterable[str]:
        """The ids of all players who have a seat that they did not leave."""
        return self.seats.players

    def count_games(self) -> int:
        """Return how many games are on of which a player is here."""
        return sum(bool(live.players) and live.room.status == "playing" for live in self._live.values())

    # -- opening ------------------------------------------------------------------------------------------------

    def new_code(self) -> str:
        """Return a code that no room has; where it names one that nobody could read, storing it conflicts.

        Raises `Refused` where this server can serve none.
        """
        for _ in range(_CODES):
            code = "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH))
            if code not in self._live and code not in self._opening and self.is_own(code):
                return code
        raise Refused(ErrorCode.UNAVAILABLE, "This server can open no rooms now.", retry_ms=1000)

    def expect(self, live: LiveRoom) -> None:
        """Take notice of a room that is about to be opened; raises `Refused` where there are too many."""
        limits = self._limits
        if limits.rooms and self.count >= limits.rooms:
            self.tally.limited["rooms"] += 1
            raise Refused(ErrorCode.SERVER_FULL, "This server has as many rooms as it can hold.", retry_ms=60_000)
        self.owners.check(live)
        self._opening[live.room.code] = live
        self.owners.add(live)
        if live.room.is_for_several and live.room.mark_of(live.owner) is not None:
            self.seats.expect(live.owner, live.room.code, live.origin)

    def give_up(self, live: LiveRoom) -> None:
        """Take notice that a room could not be opened."""
        self._opening.pop(live.room.code, None)
        self.owners.remove(live)
        self.seats.give_up(live.owner, live.room.code)
        live.is_gone = True

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
        """Take notice that a session is over: its seats are held, its watching ends."""
        self._lobby.unsubscribe(session)
        for code in session.rooms:
            self._agenda.soon(partial(self._part, session, code))

    def _part(self, session: Session, code: str) -> None:
        live = self._live.get(code)
        if live is None or not live.has(session):
            return
        is_player = live.is_played_by(session)
        live.part(session)
        if is_player and session.player is not None:
            self._timers.drop(live, session.player)
        else:
            self._timers.tell_count(live)
        if live.closing_at is None:
            self._timers.close_later(live)

    # -- a house of several servers -----------------------------------------------------------------------------

    def room_changed(self, code: str, revision: int, document: bytes | None) -> None:
        """Hear of a room that was stored, by whomever, or of its end, where there is no document."""
        live = self._live.get(code)
        if live is None:
            opening = self._opening.get(code)
            if document is not None and (opening is None or opening.is_elsewhere):
                try:
                    self._meet(decode_room(document), revision)
                except Unreadable as damaged:
                    self._report(code, damaged)
        elif revision <= live.revision or (live.change is not None and not live.is_elsewhere):
            return
        elif document is None:
            live.is_gone = True
            self._forget(live, "It was closed elsewhere.")
        else:
            self._catch_up(live, revision, document)

    def announce(self, room: Room, owner: str) -> LiveRoom:
        """Take notice of a room that another server is about to open."""
        live = LiveRoom(room, owner=owner)
        live.is_elsewhere = True
        self._opening[room.code] = live
        self.owners.add(live)
        return live

    def set_apart(self) -> None:
        """Let go of every room that is another server's by now, and take over what is this server's."""
        for code, live in list(self._live.items()):
            is_own = self.is_own(code)
            if live.is_elsewhere and is_own:
                self._agenda.soon(partial(self.take_over, live))
            elif not live.is_elsewhere and not is_own:
                self.let_go(live)

    def take_over(self, live: LiveRoom) -> bool:
        """Serve a room from now on if it is this server's; tell whether it is served here."""
        if live.is_elsewhere and not live.is_gone and live.revision != MISSING and self.is_own(live.room.code):
            if live.document is not None and not self._read(live, live.document):
                return False
            if live.seen > live.room.seq:
                self._read_first(live)
                return False
            live.is_elsewhere = False
            self._time.go_on_from(live.room.newest_time)
            self._take_notice(live, live.room)
            self._begin_serving(live)
            self._agenda.at(asyncio.get_running_loop().time() + MISSING_SECONDS, partial(self._look_for_missing, live))
        return not live.is_elsewhere

    def let_go(self, live: LiveRoom) -> None:
        """Serve a room no longer that is another server's; whoever is in it here is led there by the house."""
        if live.is_elsewhere or live.is_gone or self.is_own(live.room.code):
            return
        live.is_elsewhere, live.is_uncertain = True, False
        live.flag_at = live.closing_at = live.outline = live.document = None
        live.ply_elsewhere, live.seen = live.room.position.ply, live.room.seq
        code = live.room.code
        for session in list(live.sessions):
            session.move(code, plays=live.is_played_by(session))
            self.on_moved(session)
        live.players.clear()
        live.watchers.clear()
        self.matchmaker.offer(live)

    def _meet(self, room: Room, revision: int) -> None:
        """Get to know a room that others have opened, and that was perhaps announced."""
        code = room.code
        live = self._opening.get(code) or LiveRoom(room, owner=_first_person(room))
        live.room, live.revision, live.ply_elsewhere = room, revision, room.position.ply
        live.has_bots = room.has_bots
        live.is_elsewhere = True
        self.owners.add(live)
        self._take_notice(live, None)
        if self.is_own(code):  # opened by one who did not know that yet
            self._agenda.soon(partial(self.take_over, live))

    def _catch_up(self, live: LiveRoom, revision: int, document: bytes) -> None:
        """Take in what others stored of a room."""
        before = live.room
        live.revision = revision
        if live.is_elsewhere:
            try:
                outline, live.ply_elsewhere = outline_of(document)
            except Unreadable as damaged:
                self._report(before.code, damaged)
                return
            if outline == live.outline:
                live.document = document
                return
            live.outline = outline
        if self._read(live, document):
            live.entering.difference_update(seat.player for seat in live.room.seats.values() if seat is not None)
            self._take_notice(live, before)
            if not live.is_elsewhere:
                self._changes.show(live)

    def _read_first(self, live: LiveRoom) -> None:
        """Read a room before it is served: somebody was shown something newer than what is known of it."""
        if live not in self._reading:
            task = self._reading[live] = asyncio.create_task(self._read_newest(live))
            task.add_done_callback(lambda _: self._reading.pop(live))

    async def _read_newest(self, live: LiveRoom) -> None:
        try:
            found = await self._rooms.load(live.room.code)
        except StoreUnavailable as unavailable:
            log.debug("a room cannot be read yet", room=live.room.code, reason=str(unavailable))
            return
        live.seen = 0
        if found is not None and found[1] > live.revision:
            before, (live.room, live.revision) = live.room, found
            live.document = live.outline = None
            self._take_notice(live, before)
        self.take_over(live)

    def _read(self, live: LiveRoom, document: bytes) -> bool:
        """Take a document for true, and tell whether that was possible."""
        try:
            live.room, live.document = decode_room(document), None
        except Unreadable as damaged:
            self._report(live.room.code, damaged)
            return False
        return True

    def hear_watched(self, watched: dict[str, int]) -> None:
        """Take notice of how many watch rooms of another server."""
        for code, count in watched.items():
            live = self._live.get(code)
            if live is not None and live.is_elsewhere:
                live.counted = count

    def came_in(self, live: LiveRoom) -> None:
        """Take notice that somebody plays or watches in a room: who waits there can be found, and who is missing."""
        self.matchmaker.offer(live)
        if self._quiet and self._quiet.pop(live, False):
            self._drop_missing(live)

    def _look_for_missing(self, live: LiveRoom) -> None:
        """Hold the seats of those who were here before the room came to this server, and were not heard of since.

        Where nobody is here to see it, that has time: after many servers have ended there may be very many of them.
        """
        if live.players or live.watchers:
            self._drop_missing(live)
        elif not live.is_elsewhere and not live.is_gone:
            if not self._quiet:
                self._agenda.at(asyncio.get_running_loop().time() + _QUIET_SECONDS, self._drop_quiet)
            self._quiet[live] = True

    def _drop_quiet(self) -> None:
        for live in list(islice(self._quiet, _QUIET_AT_ONCE)):
            del self._quiet[live]
            self._drop_missing(live)
        if self._quiet:
            self._agenda.at(asyncio.get_running_loop().time() + _QUIET_SECONDS, self._drop_quiet)

    def _look_for_present(self, live: LiveRoom) -> None:
        """Take notice of players who are here, and whom another server has stored as away."""
        for id, session in live.players.items():
            mark = live.room.mark_of(id)
            if mark is not None and session.player is not None and not live.room.seat(mark).online:
                self.on_present(live, session.player)

    def _drop_missing(self, live: LiveRoom) -> None:
        if not live.is_elsewhere and not live.is_gone:
            for seat in live.room.seats.values():
                if seat is not None and seat.online and not seat.bot and seat.player not in live.players:
                    self._timers.drop(live, Player(seat.player, seat.name))

    # -- inside -------------------------------------------------------------------------------------------------

    def _begin_serving(self, live: LiveRoom) -> None:
        self._timers.close_later(live)
        if live.has_bots:
            self._changes.on_shown(live)

    async def _take_in_all(self) -> None:
        count = damaged = 0
        async for some in self._rooms.load_all():
            for number, stored in enumerate(some, 1):
                if isinstance(stored.value, Unreadable):
                    damaged += 1
                    self._report(stored.key, stored.value)
                else:
                    count += self._take_in(stored.key, stored.value, stored.revision)
                if number % _TAKEN_IN_AT_ONCE == 0:
                    await asyncio.sleep(0)
        if count or damaged:
            log.info("rooms restored", rooms=count, damaged=damaged)

    def _take_in(self, code: str, room: Room, revision: int) -> bool:
        """Let a stored room live, with everybody in it away; tell whether it is new here.

        One that fails keeps no other from coming.
        """
        if code in self._live:
            return False
        try:
            self._time.go_on_from(room.newest_time)
            for seat in room.seats.values():
                if seat is not None and seat.online and not seat.bot:
                    room = apply(room, Player(seat.player, seat.name), Dropped(), self._time())
            live = LiveRoom(room, revision, owner=_first_person(room))
            self.owners.add(live)
            self._take_notice(live, None)
            self._begin_serving(live)
        except Exception:
            log.exception("a room could not be brought back", room=code)
            return False
        return True

    def _hear(self, live: LiveRoom, before: Room | None) -> None:
        """Take notice of a room that opened or changed."""
        self._take_notice(live, before)
        if before is None and live.room.status == "playing":
            self._follow(live, "playing")
        if before is None and not self.is_own(live.room.code):
            self._agenda.soon(partial(self.let_go, live))

    def _take_notice(self, live: LiveRoom, before: Room | None) -> None:
        """Keep what is known of all rooms true to one that opened or changed."""
        room = live.room
        if before is None:
            self._live[room.code] = live
            self._opening.pop(room.code, None)
        if before is None or room.seats is not before.seats or room.result is not before.result:
            self.seats.update(room, before)
            status = room.status
            self._by_status[status] += 1
            if before is not None:
                was = before.status
                self._by_status[was] -= 1
                if was != status:
                    self._follow(live, status)
            self._lobby.update(live)
            self.matchmaker.offer(live)
            if self.is_shared and not live.is_elsewhere:
                self._look_for_present(live)
        if room.clock is not None and not live.is_elsewhere:
            self._timers.watch_clock(live)

    def _follow(self, live: LiveRoom, status: RoomStatus) -> None:
        """Log a game that has begun or ended; where that is not wanted it costs next to nothing."""
        room, result = live.room, live.room.result
        if status == "playing":
            if self.log.is_on:
                facts = {"rules": room.rules.preset, "marks": room.rules.marks}
                self.log.note("game began", live.address, room=room.code, game=room.game, **facts)
        elif result is not None:
            self.tally.games[result.reason] += 1
            if self.log.is_on:
                ending = {"winner": result.winner, "reason": result.reason, "moves": room.position.ply}
                self.log.note("game ended", live.address, room=room.code, game=room.game, **ending)

    def _forget(self, live: LiveRoom, reason: str) -> None:
        """Let go of a room that is no longer stored and tell whoever is still there."""
        code = live.room.code
        del self._live[code]
        self.owners.remove(live)
        self.seats.remove(live.room)
        self._by_status[live.room.status] -= 1
        self._lobby.remove(live)
        self._changes.show_watchers(live)
        live.push(Closed(code, reason))
        live.watchers.finish()
        address = live.address
        for session in list(live.sessions):
            live.part(session)
        self.log.note("room closed", address, room=code, reason=reason)

    def _report(self, code: str, damaged: Unreadable) -> None:
        log.error("a damaged room is left alone", room=code, reason=str(damaged))


def _first_person(room: Room) -> str:
    """Return the id of the first player of a room who is no bot, for whom it counts; empty where there is none."""
    return next((seat.player for seat in room.seats.values() if seat is not None and not seat.bot), "")
