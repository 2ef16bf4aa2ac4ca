"""Games over days: they sleep in the store while their rooms are empty, and end when a player's time is up.

Theory of operation. The room is the truth. A `DayGame` repeats the part that all servers need: whose turn it is, and
when the time for it is up. A row is written after each change of its room that matters, by the server that has
the room; every server has all rows in memory. A crash between the two writes leaves an old row of a room that was
awake. It is corrected when the room is loaded: at the next start, when a client opens it, or when its time seems up.

A room is in one of these states:

- awaiting an opponent: it is in memory, and has no row;
- awake: it is in memory, because a client is in the room or has been within `SLEEP_SECONDS`;
- asleep: its document is in the store, and nothing of it is in memory except its row. Opening the room wakes it.
  Rows say which rooms are asleep, so that only the others are read at the start of a server;
- due: its time is up, or a player has been forgotten. One server of a cluster wakes the room and ends the game. A
  finished game that has been left alone for `KEPT_DAYS` is closed.

Clocks count served time, so that players lose no time by an outage. For an hour after the start of a server, no game is
lost on time.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from typing import Final

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.days import Turn, Turns
from tictactoe_protocol.guests import other_owner, owner_of
from tictactoe_protocol.pushes import Closed, HeldSeat
from tictactoe_protocol.requests import Leave
from tictactoe_protocol.terms import DAY_MS, RulesState
from tictactoe_server import clock
from tictactoe_server.core.change import RoomChange
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.records.changes import Phase
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.play import expire, leave
from tictactoe_server.rooms.room import Player, Refused, Room, expires_at
from tictactoe_server.scheduler import Listeners, every
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.rate_limit import Quota

SLEEP_SECONDS: Final = 60.0  # from the departure of the last person until the room sleeps
LOOK_SECONDS: Final = 5.0  # between checks of empty rooms and of games that are due
GRACE_MS: Final = 60 * 60 * 1000  # from the start of a server until players may lose on time
KEPT_DAYS: Final = 7  # how long a finished game stays open for a rematch
SETTLED_AT_ONCE: Final = 50
OPEN_DAYS: Final = 30  # how long an empty room awaits an opponent

log: Final = structlog.get_logger(__name__)


class DayGame(Struct, frozen=True, omit_defaults=True):
    """A game over days, as all servers know it. Times are in ms of served time.

    Attributes:
        players: The ids of the people in the game, by mark; guests have their own ids.
        seq: The number of the state that the row describes.
        turn: The mark to move, or "" if the game is over.
        since: When the turn began, or the game ended.
        due: When the time for the turn is up, or the room of a finished game is closed.
        is_awake: Whether a server has the room in memory, or had it when the row was written.
        began: When the turn began, in ms since 1970.
    """

    room: str
    rules: RulesState
    players: dict[str, str]
    seq: int
    turn: str
    since: int
    due: int
    is_awake: bool = True
    began: int = 0

    @property
    def mover(self) -> str:
        """The id of the person whose turn it is, or "" if a bot moves or the game is over."""
        return owner_of(self.players.get(self.turn, ""))

    @property
    def is_abandoned(self) -> bool:
        """Whether a player of an unfinished game has been forgotten."""
        return self.turn != "" and any(map(_is_stand_in, self.players.values()))

    @property
    def people(self) -> set[str]:
        return {owner_of(player) for player in self.players.values()}

    def without(self, id: str, stand_in: str) -> DayGame:
        return replace(self, players={mark: other_owner(one, id, stand_in) for mark, one in self.players.items()})


_DECODER: Final = msgspec.json.Decoder(DayGame)


def _decode(document: bytes) -> DayGame:
    row = _DECODER.decode(document)
    return replace(row, rules=_shared(row.rules))


@lru_cache(maxsize=256)
def _shared(rules: RulesState) -> RulesState:
    """Return one object for equal rules, to save memory."""
    return rules


DAY_GAMES: Final[TableSpec[DayGame]] = TableSpec(
    *("day_games", "correspondence game", msgspec.json.encode, _decode),
    key_of=lambda game: game.room,
    persons=Persons(lambda game: game.people, DayGame.without),
)
"""Games over days by the codes of their rooms, from the first turn until the room is closed."""


def row_of(room: Room, now: int) -> DayGame | None:
    """Return the row for a room at `now` (ms of served time), or None if it has none."""
    if not room.keeps_seats or room.status == "waiting" or room.is_for_bots:
        return None
    turn, since, due = room.position.turn, room.clock_started_at, expires_at(room)
    if turn is None or since is None or due is None:
        turn, since, due = "", now, now + KEPT_DAYS * DAY_MS
    seated = {mark: seat for mark, seat in room.seats.items() if seat is not None}
    players = {mark: seat.player for mark, seat in seated.items() if not (seat.is_server_bot or seat.left)}
    return DayGame(room.code, _shared(RulesState.of(room.rules)), players, room.seq, turn, since, due)


def _is_stand_in(id: str) -> bool:
    """Return True if an id belongs to a forgotten player, or to a guest of one; see `Forgotten.stand_in`."""
    return owner_of(id).startswith("player-")


def _stand_in_of(room: Room) -> Player | None:
    """Return the stand-in of a forgotten player in a running game, or None."""
    seats = room.held_seats if room.status == "playing" else ()
    found = (Player(owner_of(seat.player), seat.name) for seat in seats if _is_stand_in(seat.player) and not seat.left)
    return next(found, None)


def settle(room: Room, now: int) -> Room:
    """Return the room after a forgotten player has left it, or after the end of a turn whose time is up."""
    stand_in = _stand_in_of(room)
    return expire(room, now) if stand_in is None else leave(room, stand_in, Leave(room=room.code), now)


class DayGames(Service):
    """Puts rooms to sleep and wakes them, and tells players which games await their move.

    Attributes:
        games: The rows of all games.
        on_turns: Called with the id of a player whose waiting games have changed.
        on_visit: Called with the id of a player who has connected.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._rooms = rooms = core.rooms
        self._seats = core.indexes.seats.day_games
        self._free_from = core.time() + GRACE_MS  # corrected in `prepare`, when the served time is known
        self._empty_since: dict[LiveRoom, float | None] = {}
        self._due: list[tuple[int, str]] = []
        self._waiting = Quota()  # games by the id of the player whose turn it is
        self._unwritten: dict[str, DayGame] = {}
        self.on_turns, self.on_visit = Listeners[[str]](), Listeners[[str]]()
        self.games = Mirror(core.store.table(DAY_GAMES), DAY_GAMES.name, rooms.elsewhere, self.tasks)
        self.games.on_change.add(self._on_row)
        rooms.leaving_asleep.append(self._leaves_asleep)
        rooms.waking.append(self._with_grace)
        rooms.on_long_game.add(self._on_change)
        rooms.on_close.add(self._on_close)
        core.hooks.welcome_fields["turns"] = self._turns_for_welcome
        core.hooks.held_seats.append(self._asleep_seats)
        self.jobs = (self.games.run, lambda: every(LOOK_SECONDS, self._look), self._keep_settling)

    async def prepare(self) -> None:
        self._free_from = self._core.time() + GRACE_MS
        with suppress(StoreUnavailable):  # `run` retries
            await self.games.load()

    def games_of(self, player: str) -> list[DayGame]:
        """Return the games that await a player's move, the longest wait first."""
        rows = filter(None, map(self.games.get, self._waiting.get(player, ())))
        return sorted(rows, key=lambda game: game.since)

    def turns_of(self, player: str) -> tuple[Turn, ...]:
        """Return the games that await a player's move as messages have them."""
        now = self._core.time()
        return tuple(
            Turn(game.room, game.rules, max(0, now - game.since), max(0, self._due_at(game) - now))
            for game in self.games_of(player)
        )

    def changed_at(self, player: str) -> int:
        """Return when a player's unfinished games last changed (ms since 1970), or 0 without such games."""
        rows = filter(None, map(self.games.get, self._seats.get(player, ())))
        return max((game.began for game in rows), default=0)

    def _asleep_seats(self, player: str) -> Iterator[HeldSeat]:
        """Yield the player's seats in games that are asleep, without the names of the players.

        A room that another server has just woken is listed before its row arrives here.
        """
        listed = self._core.indexes.seats
        for code in self._seats.get(player, ()):
            game = self.games.get(code)
            if game is not None and code in self._rooms.asleep and not listed.has(player, code):
                yield from (
                    HeldSeat(code, mark, game.rules, {}, game.turn) for mark, id in game.players.items() if id == player
                )

    async def _turns_for_welcome(self, account: Account) -> tuple[Turn, ...]:
        await self.games.loaded.wait()
        self.on_visit(account.player.id)
        return self.turns_of(account.player.id)

    # -- rows ---------------------------------------------------------------------------------------------------

    def _on_change(self, live: LiveRoom) -> None:
        if not live.room.terms.is_organised:
            live.is_kept = True
            self._empty_since.setdefault(live, None)
        if _stand_in_of(live.room) is not None:
            self._core.scheduler.soon(partial(self._submit, live))
        self._note(live.room)

    def _submit(self, live: LiveRoom) -> None:
        now = self._core.time()
        RoomChange(live, now, make=partial(settle, now=now)).submit()

    def _note(self, room: Room, *, is_awake: bool = True) -> None:
        """Write the row of a room, if it says something new."""
        row, known = row_of(room, self._core.time()), self.games.get(room.code)
        if row is None:
            return
        is_same_turn = known is not None and (known.turn, known.since) == (row.turn, row.since)
        began = known.began if known is not None and is_same_turn else clock.wall_ms()
        row = replace(row, began=began, is_awake=is_awake)
        if known is not None and _is_same(known, row):
            self._unwritten.pop(room.code, None)
            return
        is_writing = room.code in self._unwritten
        self._unwritten[room.code] = row
        if not is_writing:
            self.tasks.start(self._write(room.code))

    async def _write(self, code: str) -> None:
        while (row := self._unwritten.get(code)) is not None:
            try:
                await self.games.change(code, partial(_newer, row))
                if self._unwritten.get(code) is row:
                    del self._unwritten[code]
                continue
            except StoreUnavailable as unavailable:
                log.debug("turn not stored yet", room=code, reason=str(unavailable))
            except Exception:
                log.exception("storing a turn failed", room=code)
            await asyncio.sleep(LOOK_SECONDS)

    def _on_close(self, live: LiveRoom, why: Closed) -> None:
        self._empty_since.pop(live, None)
        self._unwritten.pop(live.room.code, None)
        if self.games.get(live.room.code) is not None:
            self.tasks.start(self._delete(live.room.code))

    async def _delete(self, code: str) -> None:
        with suppress(StoreUnavailable):  # a row without a room is deleted when it is due
            await self.games.change(code, lambda old: None)

    def _on_row(self, code: str, before: DayGame | None, after: DayGame | None) -> None:
        """Update the indexes, and tell the players whose waiting games have changed."""
        rooms = self._rooms
        if before is not None:
            self._waiting.discard(before.mover, code)
            for person in before.people:
                self._seats.discard(person, code)
        if after is None or (after.is_awake and rooms.elsewhere.is_several):
            rooms.asleep.pop(code, None)
        if after is not None:
            self._waiting.add(after.mover, code)
            for person in after.people if after.turn else ():
                self._seats.add(person, code)
            if not after.is_awake and code not in rooms.by_code:
                rooms.asleep[code] = (*after.people,)
            heapq.heappush(self._due, (self._due_at(after), code))
        for player in {row.mover for row in (before, after) if row is not None} - {""}:
            self._push(player)

    def _push(self, player: str) -> None:
        for session in self._core.presence.of_player(player):
            session.push(Turns(self.turns_of(player)))
        self.on_turns(player)

    # -- sleeping -----------------------------------------------------------------------------------------------

    def _leaves_asleep(self, room: Room) -> bool:
        """Leave a game asleep that was awake when its server stopped, and correct its row."""
        is_asleep = room.keeps_seats and room.status != "waiting" and not room.terms.is_organised
        if is_asleep:
            self._rooms.asleep[room.code] = [seat.player for seat in room.held_seats]
            self._note(room, is_awake=False)
        return is_asleep

    def _look(self) -> None:
        """Put to sleep the rooms that have been empty for a while."""
        now = asyncio.get_running_loop().time()
        for live, since in [*self._empty_since.items()]:
            if live.is_gone:
                del self._empty_since[live]
            elif [*live.sessions]:
                self._empty_since[live] = None
            elif live.room.status == "waiting":
                if self._core.time() - live.room.opened_at > OPEN_DAYS * DAY_MS:
                    live.is_kept = False
                    self._core.timers.close_later(live)
            elif since is None:
                self._empty_since[live] = now
            elif now - since >= SLEEP_SECONDS and live.phase is Phase.STORED and not (live.change or live.waiting):
                live.enter(Phase.GONE)
                self._rooms.remove(live, None)
                self._note(live.room, is_awake=False)

    # -- time ---------------------------------------------------------------------------------------------------

    def _with_grace(self, room: Room) -> Room:
        """Return a loaded room whose time is up at the earliest when the server has run for an hour."""
        due = expires_at(room)
        if not room.keeps_seats or due is None or due >= self._free_from or room.clock_started_at is None:
            return room
        return replace(room, clock_started_at=room.clock_started_at + self._free_from - due)

    def _due_at(self, game: DayGame) -> int:
        if game.is_abandoned:
            return 0
        return max(game.due, self._free_from) if game.turn else game.due

    async def _keep_settling(self) -> None:
        """Wake the games that are due, and close the finished ones, until cancelled; one server of a cluster does."""
        await self._rooms.restored.wait()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            while self._rooms.elsewhere.is_chosen(DAY_GAMES.name) and (due := self._take_due()):
                await asyncio.gather(*map(self._settle, due))

    def _take_due(self) -> list[DayGame]:
        taken, now = list[DayGame](), self._core.time()
        while len(taken) < SETTLED_AT_ONCE and self._due and self._due[0][0] <= now:
            game = self.games.get(heapq.heappop(self._due)[1])
            if game is not None and self._due_at(game) <= now:  # else there is a later entry
                taken.append(game)
        return taken

    async def _settle(self, game: DayGame) -> None:
        """End a game whose time is up, or close the room of a finished game if it is empty."""
        again = self._core.time() + DAY_MS
        try:
            live = await self._rooms.find(game.room)
            now = self._core.time()
            await RoomChange(live, now, make=partial(settle, now=now)).until_settled()
            if not game.turn and not [*live.sessions]:
                await self._core.timers.end(live, closing_notice(game.room, "idle"))
        except Refused as refused:
            if refused.code == ErrorCode.NO_SUCH_ROOM:
                await self._delete(game.room)
        except StoreUnavailable:
            again = self._core.time() + round(LOOK_SECONDS * 1000)
        except Exception:
            log.exception("game that is due not settled", room=game.room)
        heapq.heappush(self._due, (again, game.room))


def _newer(row: DayGame, known: DayGame | None) -> DayGame:
    """Return the row that describes the newer state; another server may have had the room meanwhile."""
    return known if known is not None and known.seq > row.seq else row


def _is_same(known: DayGame, row: DayGame) -> bool:
    """Return True if a row says nothing new: only the number of the state differs, or a game is still over."""
    if not row.turn:
        return not known.turn and known.players == row.players and known.is_awake == row.is_awake
    return replace(row, seq=known.seq) == known
