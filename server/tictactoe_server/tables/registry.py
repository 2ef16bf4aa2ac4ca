"""This process's rooms: how they are found, brought back from the store, opened, and let go of.

What is known of all rooms together is kept true here: the lobby, who waits for a match, who has a seat where.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Final

import structlog

from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, ErrorCode, parse_room_code
from tictactoe_protocol.pushes import ROOM_STATUSES, Closed, HeldSeat, RoomStatus
from tictactoe_server.rooms import Command, Dropped, Player, Refused, Room, apply
from tictactoe_server.settings import Limits
from tictactoe_server.stores import Rooms, StoreUnavailable, Unreadable
from tictactoe_server.tables.agenda import Agenda
from tictactoe_server.tables.changes import Changes
from tictactoe_server.tables.live_room import LiveRoom, no_such_room
from tictactoe_server.tables.lobby import Lobby
from tictactoe_server.tables.matchmaking import Matchmaker
from tictactoe_server.tables.seat_index import SeatIndex
from tictactoe_server.tables.served_time import ServedTime
from tictactoe_server.tables.session import Session
from tictactoe_server.tables.tally import Tally
from tictactoe_server.tables.timers import RETRY_SECONDS, Timers

_TAKEN_IN_AT_ONCE: Final = 100

log: Final = structlog.get_logger(__name__)
_LOGGER: Final = logging.getLogger(__name__)


class Registry:
    """The rooms of this process, which are opened within the limits. It hears of every room that changes, and when."""

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
        self._tally = tally
        self._rooms = rooms
        self._changes = changes
        self._timers = timers
        self._agenda = agenda
        self._lobby = lobby
        self._time = time
        self._limits = limits
        self._owned: defaultdict[str, set[LiveRoom]] = defaultdict(set)
        self.refused: Counter[str] = Counter()
        self._live: dict[str, LiveRoom] = {}
        self._opening: set[LiveRoom] = set()
        self._by_status: Counter[str] = Counter()
        self._seats = SeatIndex()
        self._restored = asyncio.Event()
        self.matchmaker = Matchmaker()
        changes.on_stored = self._hear
        changes.on_gone = timers.on_closed = self._forget

    # -- finding ------------------------------------------------------------------------------------------------

    def find_here(self, text: str) -> LiveRoom | None:
        """Return a room by its code in any spelling, or None where it is not in this process.

        Raises `Refused` for what can be no code.
        """
        live = self._live.get(text)
        if live is not None:
            return live
        try:
            return self._live.get(parse_room_code(text))
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
        if found is not None:
            self._take_in(code, *found)
        if code not in self._live:
            raise no_such_room(code)
        return self._live[code]

    async def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        await self._restored.wait()
        held = []
        for code in self._seats.rooms_of(player):
            room = self._live[code].room
            mark = room.mark_of(player)
            if mark is not None and room.status != "over":
                held.append(HeldSeat(code, mark))
        return tuple(held)

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
        """All rooms of this process."""
        return self._live.values()

    @property
    def count(self) -> int:
        """How many rooms count for the limit: those that are there, and those that are being opened."""
        return len(self._live) + len(self._opening)

    def most_of_one(self, kind: str) -> int:
        """Return how many rooms the player, or the address, has opened that has opened most."""
        return max((len(rooms) for owner, rooms in self._owned.items() if owner.startswith(f"{kind} ")), default=0)

    @property
    def by_status(self) -> dict[str, int]:
        """How many rooms there are of each status."""
        return {status: self._by_status[status] for status in ROOM_STATUSES}

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
        return self._seats.players

    def count_games(self) -> int:
        """Return how many games are on of which a player is here."""
        return sum(bool(live.players) and live.room.status == "playing" for live in self._live.values())

    # -- opening ------------------------------------------------------------------------------------------------

    def new_code(self) -> str:
        """Return a code that no room here has; where it names one that nobody could read, storing it conflicts."""
        while True:
            code = "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH))
            if code not in self._live:
                return code

    def expect(self, live: LiveRoom) -> None:
        """Take notice of a room that is about to be opened; raises `Refused` where there are too many."""
        limits, own = self._limits, self._owned.get(f"player {live.owner}", ())
        games = sum(other.has_bots and other.room.result is None for other in own) if live.has_bots else 0
        if limits.rooms and self.count >= limits.rooms:
            self.refused["rooms"] += 1
            raise Refused(ErrorCode.SERVER_FULL, "This server has as many rooms as it can hold.", retry_ms=60_000)
        for name, count, limit, words in (
            ("rooms-per-player", len(own), limits.rooms_per_player, "You have opened as many rooms as you may."),
            ("bot-games-per-player", games, limits.bot_games_per_player, "You let as many bots play as you may."),
            (
                "rooms-per-address",
                len(self._owned.get(f"address {live.origin}", ())),
                limits.rooms_per_address,
                "As many rooms as may be were opened from your address.",
            ),
        ):
            if limit and count >= limit:
                self.refused[name] += 1
                raise Refused(ErrorCode.RATE_LIMITED, f"{words} Leave one first.", retry_ms=60_000)
        self._opening.add(live)
        self._own(live)

    def _own(self, live: LiveRoom) -> None:
        """Count a room for whoever opened it."""
        for kind, name in (("player", live.owner), ("address", live.origin)):
            if name:
                self._owned[f"{kind} {name}"].add(live)

    def _disown(self, live: LiveRoom) -> None:
        """Count it no more."""
        for kind, name in (("player", live.owner), ("address", live.origin)):
            rooms = self._owned.get(f"{kind} {name}", set())
            rooms.discard(live)
            if not rooms:
                self._owned.pop(f"{kind} {name}", None)

    def give_up(self, live: LiveRoom) -> None:
        """Take notice that a room could not be opened."""
        self._opening.discard(live)
        self._disown(live)
        live.is_gone = True

    # -- coming back and going ----------------------------------------------------------------------------------

    async def restore(self) -> None:
        """Bring back all stored rooms; unreadable ones are named in the log and left alone.

        What the store refuses is tried again until it is here; players are not kept waiting for that.
        """
        is_complete = False
        while not is_complete:
            try:
                await self._take_in_all()
                is_complete = True
            except StoreUnavailable as error:
                log.warning("the rooms cannot be read yet", reason=str(error))
            self._lobby.put_in_order()
            self._restored.set()
            if not is_complete:
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

    # -- inside -------------------------------------------------------------------------------------------------

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
            self._own(live)
            self._take_notice(live, None)
            self._timers.close_later(live)
            if live.has_bots:
                self._changes.on_shown(live)
        except Exception:
            log.exception("a room could not be brought back", room=code)
            return False
        return True

    def _hear(self, live: LiveRoom, before: Room | None) -> None:
        """Take notice of a room that opened or changed."""
        self._take_notice(live, before)
        if before is None and live.room.status == "playing":
            _log_beginning(live.room)

    def _take_notice(self, live: LiveRoom, before: Room | None) -> None:
        """Keep what is known of all rooms true to one that opened or changed."""
        room = live.room
        if before is None:
            self._live[room.code] = live
            self._opening.discard(live)
        if before is None or room.seats is not before.seats or room.result is not before.result:
            self._seats.update(room, before)
            status = room.status
            self._by_status[status] += 1
            if before is not None:
                was = before.status
                self._by_status[was] -= 1
                if was != status:
                    self._follow(room, status)
            self._lobby.update(live)
            self.matchmaker.offer(live)
        if room.clock is not None:
            self._timers.watch_clock(live)

    def _follow(self, room: Room, status: RoomStatus) -> None:
        """Log a game that has begun or ended; where that is not wanted it costs next to nothing."""
        if status == "playing":
            _log_beginning(room)
        elif room.result is not None:
            result = room.result
            self._tally.games[result.reason] += 1
            if _LOGGER.isEnabledFor(logging.INFO):
                facts = {"winner": result.winner, "reason": result.reason, "moves": room.position.ply}
                log.info("game ended", room=room.code, game=room.game, **facts)

    def _forget(self, live: LiveRoom, reason: str) -> None:
        """Let go of a room that is no longer stored and tell whoever is still there."""
        code = live.room.code
        del self._live[code]
        self._disown(live)
        self._seats.remove(live.room)
        self._by_status[live.room.status] -= 1
        self._lobby.remove(live)
        live.push(Closed(code, reason))
        for session in list(live.sessions):
            live.part(session)
        log.info("room closed", room=code, reason=reason)

    def _report(self, code: str, damaged: Unreadable) -> None:
        log.error("a damaged room is left alone", room=code, reason=str(damaged))


def _first_person(room: Room) -> str:
    """Return the id of the first player of a room who is no bot, for whom it counts; empty where there is none."""
    return next((seat.player for seat in room.seats.values() if seat is not None and not seat.bot), "")


def _log_beginning(room: Room) -> None:
    if _LOGGER.isEnabledFor(logging.INFO):
        log.info("game began", room=room.code, game=room.game, rules=room.rules.preset, marks=room.rules.marks)
