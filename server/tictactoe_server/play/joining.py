"""Entering and leaving rooms: create, match, join, watch, leave."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec import UNSET

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.guests import is_guest
from tictactoe_protocol.pushes import Ok, SeatState
from tictactoe_protocol.requests import Create, Join, Leave, Match, Watch
from tictactoe_server.core.change import Call, RoomChange
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.core.session import Session
from tictactoe_server.operator.drain import Drain
from tictactoe_server.play.checks import check_clock, check_levels, chosen_rules
from tictactoe_server.play.names import Names
from tictactoe_server.rooms.play import apply
from tictactoe_server.rooms.room import Player, Refused, Room, moved_error
from tictactoe_server.rooms.seating import enter as take_seats
from tictactoe_server.rooms.view import GameKind
from tictactoe_server.transport.rate_limit import RateLimits

RELOAD_MS: Final = 1_000


class Joining(Service):
    """Handles requests to enter and leave rooms. `names` names guests, and stores that a player has taken a seat."""

    admits = frozenset({Join, Watch})

    def __init__(self, core: Core, names: Names, drain: Drain) -> None:
        self._names = names
        self._drain = drain
        self.handles = {
            Create: self.create,
            Match: self.match,
            Join: self.join,
            Watch: self.watch,
            Leave: self.leave,
        }
        self.core = core
        self._reloads = RateLimits(1, RELOAD_MS, core.monotonic_ns)

    # -- opening ------------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> None:
        """Open a room for the player, guests and bots. If bots take every seat, the player watches."""
        self._drain.check()
        request: Create = call.request
        rules = chosen_rules(request.rules)
        check_clock(request.clock, request.analysis)
        check_levels(request.bots, self.core.hooks.bot_levels)
        bots, guests, marks = len(request.bots), len(request.guests), len(rules.marks)
        if bots > marks:
            raise Refused(ErrorCode.BAD_MESSAGE, "bots", path="bots", bots=bots, marks=marks)
        if guests and 1 + guests + bots > marks:
            raise Refused(ErrorCode.BAD_MESSAGE, "guests", path="guests", seats=1 + guests + bots, marks=marks)
        player = call.player if bots < marks else None
        seat = rules.marks[0] if request.seat is UNSET else request.seat
        if seat not in tuple(rules.marks):
            raise Refused(ErrorCode.BAD_MESSAGE, "seat", path="seat", seat=seat, marks=list(rules.marks))
        if bots + 1 < marks:
            self.core.indexes.seats.check(call.player.id, call.session.address)
        policy = self.core.hooks.policy_for(request)
        terms = {name: getattr(request, name) for name in ("visibility", "clock", "analysis", "chat")}
        others = [mark for mark in rules.marks if player is None or mark != seat]
        terms |= {"seat": seat, "reserved": dict(zip(others[guests:], _bot_seats(request.bots), strict=False))}
        for name, value in policy.required.items():
            if getattr(request, name) != value:
                raise Refused(ErrorCode.NOT_ALLOWED, f"{policy.purpose.name} room", path=name)
        await policy.check(rules, request.clock, call.player)
        if guests:
            terms["guests"] = await self._names.name_guests(call.player, request.guests)
        await self._open(call, rules, player, purpose=policy.purpose, **terms)

    async def _check_opponents(self, call: Call, live: LiveRoom) -> None:
        """Raise `Refused` if the player may not take a seat against the players in a room."""
        room = live.room
        if _takes_seat(call.player, room):
            others, policy = live.player_ids - {call.player.id}, self.core.hooks.policies[room.purpose.name]
            await policy.check(room.rules, room.clock, call.player, others, room=room.code)

    async def _open(self, call: Call, rules: Rules, player: Player | None, **terms: Any) -> None:
        session, owner = call.session, call.player
        self.core.allowances.count_create(owner, session.address)

        def answer(live: LiveRoom) -> None:
            room = live.room
            if room.is_for_bots:
                live.admit(session)
            else:
                self._take_seat(call, live)
            call.answer_with_room(live, **room.purpose.fields_of(Ok))
            bots = sum(seat.is_server_bot for seat in room.held_seats)
            self._note("room opened", call, live, private=room.visibility == "private", bots=bots)

        rooms = self.core.rooms
        await rooms.open(rooms.expect(rules, player, owner=owner.id, origin=session.address, **terms), answer)

    # -- matches ------------------------------------------------------------------------------------------------

    async def match(self, call: Call) -> None:
        """Join an open public room with these terms whose players are connected, or open a new room."""
        checks = self.core.hooks.match_checks
        apart = set[str]()  # players whom the checks of features keep from a match with this player
        while True:
            self._drain.check()
            self.core.indexes.seats.check(call.player.id, call.session.address)
            rules, clock = chosen_rules(call.request.rules), call.request.clock
            check_clock(clock)
            policy = self.core.hooks.policy_for(call.request)
            await policy.check(rules, clock, call.player)
            skipped = apart.union(await policy.skipped_opponents(call.player.id))
            live, code = await self._find_match((rules, clock, policy.purpose.name), call.player, skipped)
            if live is None:
                await self._open(call, rules, call.player, clock=clock, purpose=policy.purpose, code=code)
                return
            others = live.player_ids - {call.player.id}
            apart |= {other for other in others for check in checks if await check(call.player.id, other)}
            if not apart.isdisjoint(others):
                continue
            await self._check_opponents(call, live)
            if live.player_ids - {call.player.id} != others:  # somebody came or left during the checks
                continue
            self._check_seat(call, live)
            try:
                await self._enter(call, live)
                return
            except Refused:  # another player took the seat first
                await asyncio.sleep(0)  # yield to other tasks before the next attempt

    async def _find_match(
        self, kind: GameKind, player: Player, excluded: Collection[str]
    ) -> tuple[LiveRoom | None, str]:
        """Return a matching room and its code, or None and the code for a new room ("" for any free code).

        May raise `Refused`, with the URL to connect to, if the matching room is on another server.
        """
        rooms = self.core.rooms
        if not rooms.elsewhere.is_several:
            found = self.core.indexes.matchmaker.find(kind, player.id, excluded)
            return None if found is None else rooms.find_here(found.room.code), ""
        code, url = await rooms.elsewhere.find_match(kind, player, excluded)
        live = rooms.find_here(code)
        if live is None and url is not None:
            raise moved_error(code, url)
        return live, code

    # -- joining and watching -----------------------------------------------------------------------------------

    async def join(self, call: Call) -> None:
        """Take free seats for the player and guests, or attach this session to the seats that they already have."""
        live, room = call.live, call.live.room
        is_back = room.mark_of(call.player.id) is not None
        guests = () if is_back else call.request.guests
        if guests and not room.terms.guests:
            raise Refused(ErrorCode.NOT_ALLOWED, "guests", path="guests")
        if not is_back:
            await self.core.hooks.policies[room.purpose.name].before_seat(call.live)
            await self._check_opponents(call, call.live)
        named = await self._names.name_guests(call.player, guests)
        # A game over days may have fallen asleep meanwhile.
        call.live = live = await self.core.rooms.find(live.room.code)
        self._reload_if_ahead(call)
        if _takes_seat(call.player, live.room):
            self.core.indexes.seats.check(call.player.id, call.session.address)
        self._check_seat(call, live)
        await self._enter(call, live, named)

    def _check_seat(self, call: Call, live: LiveRoom) -> None:
        if _takes_seat(call.player, live.room):
            self.core.indexes.seats.check_unbegun(live, call.session.address)

    async def _enter(self, call: Call, live: LiveRoom, guests: tuple[Player, ...] = ()) -> None:
        """Reserve and take free seats, or return to the player's own seat, and reply."""
        session, player, seats = call.session, call.player, self.core.indexes.seats
        if _takes_seat(player, live.room):
            seats.expect(player.id, live, session.address)
        entering = {player.id, *(guest.id for guest in guests)}
        live.entering |= entering
        is_back = False

        def enter(room: Room) -> Room:
            nonlocal is_back
            is_back = room.mark_of(player.id) is not None
            if not is_back and room.status == "waiting":  # a seat that would begin a game
                self._drain.check()
            return take_seats(room, player, call.now, guests)

        def on_settled(error: Exception | None) -> None:
            live.entering -= entering
            seats.give_up(player.id, live.room.code)
            if error is not None:
                return
            live.is_unshown |= session in live.watchers
            self._take_seat(call, live)
            call.answer_with_room(live)
            if not live.is_unshown:
                live.show_to(session, call.now)
            if not is_back:
                self._note("player joined", call, live, mark=live.room.mark_of(player.id))

        await RoomChange(live, call.now, player, call.request, make=enter, on_settled=on_settled).until_settled()

    def watch(self, call: Call) -> None:
        """Start watching a room, beginning with a state at least as new as the watcher has seen; refuse its players."""

        def check(room: Room) -> Room:
            self._check_watching(call.session, call.live)
            return room

        self._check_watching(call.session, call.live)
        if self._reload_if_ahead(call):
            call.change_room(check, lambda: self._let_watch(call))
        else:
            self._let_watch(call)

    def _check_watching(self, session: Session, live: LiveRoom) -> None:
        """Raise `Refused` if the session plays in the room, or if the room has too many watchers."""
        if live.is_played_by(session):
            raise Refused(ErrorCode.NOT_ALLOWED, "watch")
        if session not in live.watchers and 0 < self.core.limits.watchers_per_room <= len(live.watchers):
            self.core.counters.limited["watchers"] += 1
            room, watchers = live.room.code, len(live.watchers)
            raise Refused(ErrorCode.ROOM_FULL, "watchers", retry_ms=60_000, room=room, watchers=watchers)

    def _let_watch(self, call: Call) -> None:
        live, session, core = call.live, call.session, self.core
        is_new = session not in live.watchers
        live.admit(session)
        if not live.is_abandoned:
            live.closing_at = None
        call.answer_with_room(live)
        if live.is_unshown:  # the next update goes to every session
            return
        live.show_to(session, call.now)
        if is_new:
            core.timers.broadcast_count(live)
        if live.has_bots:  # bots pause while nobody watches
            core.rooms.on_shown(live)

    def leave(self, call: Call) -> None:
        """Stop watching, give up a seat in a waiting room, or resign and leave. A guest leaves without the host."""
        live, session, timers = call.live, call.session, self.core.timers

        def leave(room: Room) -> Room | None:
            if not live.is_played_by(session):
                raise Refused(ErrorCode.NOT_IN_ROOM, room=room.code)
            if room.mark_of(call.player.id) is None:  # an earlier attempt was stored, but its reply was lost
                return room
            return apply(room, call.player, call.request, call.now)

        def answer() -> None:
            live.part(session)
            call.answer()
            self._note("player left", call, live)
            if live.room.is_deserted:
                live.is_unshown = False
                timers.close(live, closing_notice(live.room.code, "left"))
            else:
                timers.close_later(live)

        if is_guest(call.player.id):
            call.submit()
        elif session in live.watchers:
            live.part(session)
            call.answer()
            timers.broadcast_count(live)
            timers.close_later(live)
        else:
            call.change_room(leave, answer)

    def _reload_if_ahead(self, call: Call) -> bool:
        """Return True if the sender claims to have seen a newer state. The next change then reloads the room.

        A room is reloaded at most once in `RELOAD_MS`, so that a flood of false claims does not delay moves.
        """
        live, seq = call.live, call.request.seq
        if seq is UNSET or seq <= live.room.seq or live.is_opening:
            return False
        if not self._reloads[live.room.code].consume():
            live.doubt()
        return True

    def _take_seat(self, call: Call, live: LiveRoom) -> None:
        live.seat(call.session, call.player)
        self._names.note(call.session, is_seated=True)
        live.closing_at = None
        self.core.indexes.matchmaker.offer(live)

    def _note(self, event: str, call: Call, live: LiveRoom, **facts: Any) -> None:
        known = {name: value for name, value in facts.items() if value}
        room, player = live.room.code, call.player.id
        self.core.rooms.log.note(event, call.session.address, room=room, player=player, **known)


def _takes_seat(player: Player, room: Room) -> bool:
    """Return True if joining takes a seat that counts towards the limits on seats."""
    return room.status == "waiting" and room.places > 1 and room.mark_of(player.id) is None


def _bot_seats(levels: Sequence[str]) -> list[SeatState]:
    """Return a seat for a bot of each level. The bots' names are numbered if there are several bots."""
    ends = [""] if len(levels) == 1 else [f"-{number + 1}" for number in range(len(levels))]
    seats = zip(levels, ends, strict=True)
    return [
        SeatState(f"bot-{secrets.token_hex(4)}", f"{level}-bot{end}", online=True, bot=level) for level, end in seats
    ]
