"""Runs tournaments: opens rooms, calls players, scores games and begins rounds.

Theory of operation. The next step always follows from the stored tournament and the stored rooms alone, so a restarted
server simply continues. Every step is idempotent: it may be repeated, and two servers may take it at the same time.

A pairing passes through these states:

- ``due``: the pairing is stored, and so is the code of its room, before the room exists.
- ``open``: the room exists, and the two players have been called to it. When the game ends, it is stored like any other
  finished game, and the pairing stays open until the next step.
- ``scored``: the tournament contains the result. Any later result for the pairing is ignored.

One server of the cluster, chosen by the tournament's code (`is_chosen`), opens rooms and begins rounds. Every server
scores the games in its own rooms; the chosen server also scores stored games whose rooms are closed.

After a restart, games and rounds wait until the players have reconnected, for at most `IN_TIME_SECONDS`. If no player
has been present for `DESERTED_SECONDS`, the tournament and its games pause until half of the players are back or the
organiser resumes the tournament.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast

import structlog
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.events import Call as EventCall
from tictactoe_protocol.events import round_of
from tictactoe_protocol.pushes import Closed, Replaced, Result, SeatState
from tictactoe_server.core.change import RoomChange
from tictactoe_server.core.core import Core
from tictactoe_server.core.hooks import RoomPolicy
from tictactoe_server.core.indexes import RoomExists
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.features.tournaments import commands
from tictactoe_server.features.tournaments.attendance import Attendances
from tictactoe_server.features.tournaments.event import Entrant, Event, Pairing, due_at
from tictactoe_server.features.tournaments.event_store import EventStore
from tictactoe_server.features.tournaments.knock_out import terms_of
from tictactoe_server.http.texts import Seated
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.play import go_on, stand_still
from tictactoe_server.rooms.room import Player, Purpose, Refused, Room, Terms
from tictactoe_server.rooms.seating import hand_over
from tictactoe_server.scheduler import Tasks
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.rate_limit import RateLimits

LOOK_SECONDS: Final = 1.0  # between checks of all running tournaments
IN_TIME_SECONDS: Final = 30.0  # how long a restarted server waits for players; restarts after a stall
LATE_SECONDS: Final = 1.0  # the shortest stall of the event loop that counts
DESERTED_SECONDS: Final = 10.0  # without any player present, before a tournament pauses
SEEK_MS: Final = 5_000  # between searches for a room that another server should have: its game may have ended
AGAIN_SECONDS: Final = 0.5  # before a step is retried that was refused or could not be stored
_JUST_AFTER_SECONDS: Final = 0.002  # from a round's due time to the check, so that the check is not too early
_POINTLESS: Final = ("forfeit", "aborted")  # with these reasons and no winner, neither player scores

NAME: Final = "event"
TERMS: Final = Terms(
    is_organised=True,
    absence="loses",
    games_count="never",
    is_aborted=False,
    stands_still=True,
    draw_from=EVENT_DRAW_PLY,
    undo=False,
    rematch=False,
    hints=False,
    guests=False,
)
"""The terms of games in a tournament: each is between two players, and ends with a result."""

Found = TypeVar("Found")

log: Final = structlog.get_logger(__name__)


def purpose_of(event: str, pairing: str) -> Purpose:
    """Return the purpose of the room for one pairing; `event` is the code of the tournament."""
    return Purpose(NAME, {"event": event, "pairing": pairing, "round": round_of(pairing)}, TERMS)


def event_of(room: Room | FinishedGame) -> str:
    """Return the code of the tournament to which a room or a finished game belongs, or ""."""
    return cast(str, room.purpose.fields.get("event", ""))


class Running(RoomPolicy):
    """Runs all tournaments. While `is_draining` returns True, no round begins and no room is opened."""

    def __init__(
        self, core: Core, events: EventStore, attendances: Attendances, tasks: Tasks, is_draining: Callable[[], bool]
    ) -> None:
        self._tasks = tasks
        self._core = core
        self._events = events
        self._attendances = attendances
        self._is_draining = is_draining
        self._rooms: dict[str, LiveRoom] = {}
        self._sought = RateLimits(1, SEEK_MS, core.monotonic_ns)
        self._woken: dict[str, bool] = {}
        self._awaited: set[str] = set()
        self._in_time_since = math.inf
        self._attended_at: dict[str, float] = {}  # when a player of an event was last present
        events.on_change.add(self._on_change)
        core.rooms.on_result.add(self._note_result)

    async def run(self) -> None:
        """Check all running tournaments periodically, until cancelled."""
        await self._events.restored.wait()
        await self._core.rooms.restored.wait()
        loop = asyncio.get_running_loop()
        self._in_time_since = loop.time()
        while True:
            self._attendances.announce(self._events.current)
            codes = [event.code for event in self._events.current if event.status != "open"]
            for code in dict.fromkeys([*codes, *(event_of(live.room) for live in self._rooms.values())]):
                self.wake(code)
                await asyncio.sleep(0)  # each tournament in its own turn of the event loop
            due = loop.time() + LOOK_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
            if loop.time() > due + LATE_SECONDS:
                self._in_time_since = loop.time()

    def wake(self, code: str) -> None:
        """Schedule the next step of a tournament, unless `code` is ""."""
        if code and code not in self._woken:
            self._tasks.start(self._work(code))
        if code:
            self._woken[code] = True

    async def calls_of(self, account: Account) -> tuple[EventCall, ...] | UnsetType:
        await self._events.restored.wait()
        calls = tuple(
            self._call(event, one, mark)
            for event in self._events.current
            for one, mark, id in _open_seats(event)
            if id == account.player.id
        )
        return calls or UNSET

    def _on_change(self, event: Event, before: Event | None) -> None:
        known = {(one.room, id) for one, _, id in _open_seats(before)} if before else ()
        seats = [(one, mark, id) for one, mark, id in _open_seats(event) if (one.room, id) not in known]
        calls = {id: self._call(event, one, mark) for one, mark, id in seats}
        if event.is_over:
            self._attended_at.pop(event.code, None)
        elif before is None and event.status != "open":
            self._awaited.add(event.code)
        for session, player in self._core.presence.players if calls else ():
            if player.id in calls:
                session.push(calls[player.id])
        self.wake(event.code)

    def _call(self, event: Event, pairing: Pairing, mark: str) -> EventCall:
        other = event.entrant(next(id for own, id in pairing.players.items() if own != mark))
        player = pairing.players[mark]
        rooms = [one.room for one in self._core.indexes.seats.rooms_of(player) if one.room.code == pairing.room]
        left = pairing.opened_at + event.ready_ms - self._core.time()
        if any(room.seat(room.mark_of(player)).online for room in rooms):
            left = 0
        elif left <= 0:  # show an absent player the whole time, which restarts when the game goes on
            left = event.ready_ms
        return EventCall(event.code, pairing.id, pairing.room, mark, "" if other is None else other.name, left)

    def after_change(self, live: LiveRoom) -> None:
        if self._rooms.get(live.room.code) is not live and live.room.stands_still:
            # Store the stopped clock, so that it is still stopped after another restart.
            RoomChange(live, self._core.time(), make=lambda room: replace(room, seq=room.seq + 1)).submit()
        self._rooms[live.room.code] = live
        if live.room.result is not None:
            self.wake(event_of(live.room))

    def _note_result(self, game: FinishedGame, id: str) -> None:
        if game.purpose.name == NAME:
            self.wake(event_of(game))

    async def _work(self, code: str) -> None:
        try:
            while self._woken[code]:
                self._woken[code] = False
                await self._advance(code)
        except (Refused, StoreUnavailable) as error:
            log.debug("tournament step will be retried", code=code, reason=str(error))
            asyncio.get_running_loop().call_later(AGAIN_SECONDS, self.wake, code)
        except Exception:
            log.exception("tournament step failed", code=code)
        finally:
            del self._woken[code]

    async def _advance(self, code: str) -> None:
        """Take all steps that are due: in the tournament's rooms on this server, and if it is the chosen one, in all.

        If the tournament is missing or unreadable, its rooms stay as they are.
        """
        event = await _or_none(self._events.load(code))
        self._rooms = {live.room.code: live for live in self._rooms.values() if not live.is_gone}
        rooms = [live for live in self._rooms.values() if event_of(live.room) == code]
        if event is not None:
            await _all([self._update_room(event, live) for live in rooms])
        if event is not None and event.needed:
            await _all([self._change_clock(live, stand_still) for live in rooms if not live.is_gone])
            rooms = []
        still = [live for live in rooms if live.room.stands_still and not live.is_gone]
        back = [live for live in still if self._are_back(live.room.held_seats)]
        await _all([self._change_clock(live, go_on) for live in back])
        for live in back:
            await self._events.change(code, "", commands.Opened(live.room.purpose.fields["pairing"], again=True))
        event = self._events.known(code)
        if event is None or self._is_draining() or self._is_awaited(event):
            return
        if self._core.rooms.elsewhere.is_chosen(code):
            await self._open_rooms(await self._begin_round(await self._check_presence(event)))

    async def _check_presence(self, event: Event) -> Event:
        """Pause a tournament if no player is present during a round, or resume it once enough players are back."""
        if event.needed and len(self._attendances.here.intersection(event.people)) >= event.needed:
            return await self._events.change(event.code, "", commands.Deserted(is_so=False))
        is_deserted = event.status == "running" and event.open_pairings and self._is_deserted(event)
        return await self._pause(event) if is_deserted else event

    async def _pause(self, event: Event) -> Event:
        log.info("tournament paused: no player is present", code=event.code)
        return await self._events.change(event.code, "", commands.Deserted())

    async def _begin_round(self, event: Event) -> Event:
        """Return the event with its next round begun, or unchanged if no round is due."""
        due, now = due_at(event), self._core.time()
        if due is None:
            return event
        if due > now:
            if due - now < LOOK_SECONDS * 1000:
                asyncio.get_running_loop().call_later((due - now) / 1000 + _JUST_AFTER_SECONDS, self.wake, event.code)
            return event
        paired = await asyncio.to_thread(commands.pair_next, event)
        if paired.pairings and event.round and self._is_deserted(event):
            return await self._pause(event)
        new_code = self._core.indexes.new_code
        with_rooms = tuple(one if one.is_bye else replace(one, room=new_code()) for one in paired.pairings)
        return await self._events.change(event.code, "", replace(paired, pairings=with_rooms))

    def _is_deserted(self, event: Event) -> bool:
        """Return True if no player has been present for `DESERTED_SECONDS`, unless games take days."""
        if event.clock.counts_days:
            return False
        now, people = asyncio.get_running_loop().time(), event.people
        if not people or not self._attendances.here.isdisjoint(people):
            self._attended_at[event.code] = now
        return now - self._attended_at.setdefault(event.code, now) > DESERTED_SECONDS

    def _is_awaited(self, event: Event) -> bool:
        if event.code in self._awaited and self._are_back(entrant for entrant in event.field if entrant.status == "in"):
            self._awaited.discard(event.code)
        return event.code in self._awaited

    def _are_back(self, players: Iterable[Entrant | SeatState]) -> bool:
        """Return True if all these players are connected, or have had `IN_TIME_SECONDS` to reconnect."""
        in_time = asyncio.get_running_loop().time() - self._in_time_since
        here = self._core.presence.ids
        return in_time >= IN_TIME_SECONDS or all(player.is_server_bot or player.player in here for player in players)

    async def before_seat(self, live: LiveRoom) -> None:
        """Give the seats of a room to the players of the stored pairing, for a player may have changed devices."""
        event = await _or_none(self._events.read(event_of(live.room)))
        pairing = _pairing_in(event, live)
        if event is not None and pairing is not None:
            await self._hand_over(event, pairing, live)

    async def _update_room(self, event: Event, live: LiveRoom) -> None:
        """Give the seats to the right players, score a finished game, or close a room whose pairing is already scored.

        A room with a running game is closed only after reading the tournament again, because another server may have
        opened the room for a pairing that is not in memory yet.
        """
        pairing, result = _pairing_in(event, live), live.room.result
        if pairing is not None and result is None:
            await self._hand_over(event, pairing, live)
        elif pairing is not None and result is not None:
            await self._score(event, pairing, result, live.room.seats, live.room.game_id)
        elif result is not None and live.is_kept:
            live.is_kept = False
            self._core.timers.close_later(live)
        elif result is None and _pairing_in(stored := await _or_none(self._events.read(event.code)), live) is None:
            await self._core.timers.end(live, _notice_of(stored, live.room))

    async def _change_clock(self, live: LiveRoom, change: Callable[[Room, int], Room]) -> None:
        now = self._core.time()
        await RoomChange(live, now, make=lambda room: change(room, now)).until_settled()

    async def _hand_over(self, event: Event, pairing: Pairing, live: LiveRoom) -> None:
        known = {entrant.name: entrant.player for entrant in event.sitting_in(pairing).values()}
        for seat in live.room.held_seats:
            heir = known.get(seat.name, seat.player)
            if heir != seat.player:
                holder, now = Player(seat.player, seat.name), self._core.time()
                make = partial(hand_over, player=holder, now=now, heir=heir)
                on_settled = partial(_notify_replaced, live, seat.player)
                await RoomChange(live, now, holder, make=make, on_settled=on_settled).until_settled()

    async def _score(self, event: Event, pairing: Pairing, result: Result, seats: Seated, id: str) -> None:
        """Score a pairing by its finished game; `seats` are the players at the end, who may have swapped marks."""
        seat, sitting = seats.get(result.winner or ""), event.sitting_in(pairing)
        winner = next((mark for mark, one in sitting.items() if seat is not None and one.name == seat.name), None)
        how = winner or ("none" if result.reason in _POINTLESS else "draw")
        by = "forfeit" if result.reason == "forfeit" else "game"
        await self._events.change(event.code, "", commands.Score(pairing.id, how, result.reason, id, by))

    async def _open_rooms(self, event: Event) -> None:
        """Open the rooms of all due pairings unless the event is paused, and look for rooms that this server lacks."""
        pairings = event.open_pairings
        without = [pairing.id for pairing in pairings if not pairing.room]
        if without and event.status == "running":
            event = await self._give_codes(event, *without)
            pairings = event.open_pairings
        due = [pairing for pairing in pairings if pairing.state == "due" and event.status == "running"]
        by_code, opened = self._core.rooms.by_code, list[str]()
        away = [pairing for pairing in pairings if pairing.state == "open" and pairing.room not in by_code]
        searches = [self._seek(event, one) for one in away if not self._sought[one.room].consume()]
        try:
            await _all([*(self._open(event, one, opened) for one in due), *searches])
        finally:
            await _all([self._events.change(event.code, "", commands.Opened(id)) for id in opened])  # stored together

    async def _open(self, event: Event, pairing: Pairing, opened: list[str]) -> None:
        """Open the room of a pairing, and add the pairing's id to `opened`."""
        rules, clock = terms_of(event, pairing)
        rooms = self._core.rooms
        seats = {
            mark: SeatState(entrant.player, entrant.name, entrant.is_server_bot, bot=entrant.bot)
            for mark, entrant in event.sitting_in(pairing).items()
        }
        terms: dict[str, Any] = {"clock": clock, "chat": event.chat, "start_ms": event.ready_ms}
        if self._core.settings.hides_names:
            terms["visibility"] = "private"
        try:
            purpose = purpose_of(event.code, pairing.id)
            live = rooms.expect(rules.to_rules(), reserved=seats, code=pairing.room, purpose=purpose, **terms)
            await rooms.open(live, self._core.timers.close_later)
        except RoomExists:
            state = await _or_none(self._core.rooms.load_state(pairing.room))
            if state is None or (state.event, state.pairing) != (event.code, pairing.id):
                await self._give_codes(event, pairing.id)
                return
        opened.append(pairing.id)

    async def _seek(self, event: Event, pairing: Pairing) -> None:
        """Score a pairing whose game has ended; otherwise load its room, or assign a new room if the room is lost."""
        code = pairing.room
        state = await _or_none(self._core.rooms.load_state(code))
        if state is None:
            event = await self._events.read(event.code)
            games = await self._core.store.games.games_at(code, 1)
            purpose = purpose_of(event.code, pairing.id)
            game = next((game for _, game in games if game.purpose.fields == purpose.fields), None)
            if game is not None:
                await self._score(event, pairing, game.result, game.players, game.id)
            elif (now := event.pairing(pairing.id)) is not None and (now.state, now.room) == ("open", code):
                log.warning("room of a tournament game is lost; opening another", code=event.code, pairing=pairing.id)
                await self._give_codes(event, pairing.id)
        elif state.result is not None:
            await self._score(event, pairing, state.result, state.seats, state.game_id or "")
        elif self._core.rooms.elsewhere.find(code) is None:
            await self._core.rooms.find(code)

    async def _give_codes(self, event: Event, *pairings: str) -> Event:
        codes = {id: self._core.indexes.new_code() for id in pairings}
        return await self._events.change(event.code, "", commands.RoomCodes(codes))


def _open_seats(event: Event) -> Iterator[tuple[Pairing, str, str]]:
    return ((one, mark, id) for one in event.pairings if one.state == "open" for mark, id in one.players.items())


def _notify_replaced(live: LiveRoom, holder: str, error: Exception | None) -> None:
    session = live.players.get(holder)
    if error is None and session is not None and live.room.mark_of(holder) is None:
        live.part(session)
        session.push(Replaced(live.room.code, by_card=True))


async def _all(work: Sequence[Coroutine[Any, Any, object]]) -> None:
    """Await all coroutines concurrently until each has ended, then raise the first exception."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _or_none(finding: Awaitable[Found]) -> Found | None:
    try:
        return await finding
    except Refused as refused:
        if refused.code not in (ErrorCode.NO_SUCH_ROOM, ErrorCode.NO_SUCH_EVENT):
            raise
        return None


def _notice_of(event: Event | None, room: Room) -> Closed:
    """Return the notice to players whose unfinished game an event has scored, or plays in another room."""
    one = None if event is None else event.pairing(room.purpose.fields["pairing"])
    if event is None or one is None or one.state != "scored" or one.result == "draw":
        return closing_notice(room.code, "event")
    winner = event.sitting_in(one).get(one.result or "")
    if winner is None:
        return closing_notice(room.code, "event void")
    return closing_notice(room.code, "event won", name=winner.name)


def _pairing_in(event: Event | None, live: LiveRoom) -> Pairing | None:
    one = event and event.pairing(live.room.purpose.fields["pairing"])
    return one if one and one.room == live.room.code and one.state != "scored" else None
