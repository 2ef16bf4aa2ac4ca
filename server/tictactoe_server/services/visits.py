"""Coming into rooms and going out of them: create, match, join, watch, leave."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_engine import InvalidRules, Rules
from tictactoe_protocol import ErrorCode, rules_of
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.requests import Create, Join, Leave, Match, RulesChoice, Watch
from tictactoe_server.admin.drain import Drain
from tictactoe_server.core.changes import Changes
from tictactoe_server.core.live_room import LiveRoom, not_in_room
from tictactoe_server.core.matchmaking import GameKind
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.session import Session
from tictactoe_server.core.timers import Timers
from tictactoe_server.rooms import Enter, Player, Refused, Room, open_room
from tictactoe_server.services.allowances import Allowances
from tictactoe_server.services.answers import Asked, answer, answer_with_room
from tictactoe_server.services.bots.levels import LEVEL_NAMES
from tictactoe_server.services.players import Players
from tictactoe_server.settings import Limits
from tictactoe_server.storage.store import MISSING


class Visits:
    """Carries these requests out; `now` is when they came, in ms of served time.

    New rooms hold seats for `hold_ms`.
    """

    def __init__(
        self,
        registry: Registry,
        changes: Changes,
        timers: Timers,
        allowances: Allowances,
        players: Players,
        drain: Drain,
        *,
        hold_ms: int,
        limits: Limits,
    ) -> None:
        self._allowances = allowances
        self._players = players
        self._drain = drain
        self._registry = registry
        self.log = registry.log
        self._changes = changes
        self._timers = timers
        self._hold_ms = hold_ms
        self._start_ms = round(limits.start_seconds * 1000)
        self._most_watchers = limits.watchers_per_room

    def create(self, session: Session, player: Player, request: Create, now: int) -> None:
        """Open a room in which the player plays the mark that was asked for; bots take the next seats.

        With as many bots as there are marks the player only watches.
        """
        self._drain.check()
        rules = _chosen_rules(request.rules)
        _check_bots(request.bots, rules)
        seat = None if request.seat is UNSET else request.seat
        if seat is not None and seat not in tuple(rules.marks):
            message = f"There is no seat {seat!r}: the marks are {', '.join(rules.marks)}."
            raise Refused(ErrorCode.BAD_MESSAGE, message, path="seat")
        if len(request.bots) + 1 < len(rules.marks):
            self.check_seats(session, player)
        seated = None if len(request.bots) == len(rules.marks) else player
        room = open_room(
            self._registry.new_code(),
            rules,
            seated,
            now,
            seat=seat,
            visibility=request.visibility,
            clock=request.clock,
            hold_ms=self._hold_ms,
            start_ms=self._start_ms,
            analysis=request.analysis,
            chat=request.chat,
            bots=_bot_seats(request.bots),
        )
        self._open(session, player, request, room, now)

    def match(self, session: Session, player: Player, request: Match, now: int) -> None:
        """Join the oldest open public room of this kind whose players are there, or open one."""
        self._drain.check()
        self.check_seats(session, player)
        found = self._registry.matchmaker.find(self.kind_of(request), player.id)
        live = None if found is None else self._registry.find_here(found.room.code)
        if live is not None:
            self.lead(session, player, request, live, now)
        else:
            self.open_for_match(session, player, request, self._registry.new_code(), now)

    def check_seats(self, session: Session, player: Player) -> None:
        """Raise `Refused` for one who sits in as many unfinished games as may be, or whose address does."""
        self._registry.seats.check(player.id, session.address)

    def kind_of(self, request: Match) -> GameKind:
        """Return what is asked for; raises `Refused` for what nobody can play."""
        return _chosen_rules(request.rules), request.clock

    def lead(self, session: Session, player: Player, request: Match, live: LiveRoom, now: int) -> None:
        """Let a player into a room by a match; where that fails, another will do."""
        self._changes.submit(_Matching(self, session, player, request, live, now))

    def open_for_match(self, session: Session, player: Player, request: Match, code: str, now: int) -> None:
        """Open the room in which a player waits for another one."""
        rules, clock = self.kind_of(request)
        room = open_room(code, rules, player, now, clock=clock, hold_ms=self._hold_ms, start_ms=self._start_ms)
        self._registry.matchmaker.offer(self._open(session, player, request, room, now))

    def join(self, session: Session, player: Player, request: Join, live: LiveRoom, now: int) -> None:
        """Take a free seat, or attach this session to the seat that the player holds."""
        self._look_again(session, player, request, live)
        if self._takes_seat(player, live.room):
            self.check_seats(session, player)
        self._changes.submit(_Joining(self, session, player, request, live, now))

    def watch(self, session: Session, player: Player, request: Watch, live: LiveRoom, now: int) -> None:
        """Spectate. A session that plays in the room is refused."""
        self.check_watching(session, live)
        if self._look_again(session, player, request, live):
            self._changes.submit(_Watching(self, session, player, request, live, now))
        else:
            self.let_watch(session, request, live, now)

    def check_watching(self, session: Session, live: LiveRoom) -> None:
        """Raise `Refused` for one who plays in the room, and for one too many of those who watch it."""
        if live.is_played_by(session):
            raise Refused(ErrorCode.NOT_ALLOWED, "You play in this room.")
        if session not in live.watchers and 0 < self._most_watchers <= len(live.watchers):
            self._registry.tally.limited["watchers"] += 1
            words = f"{len(live.watchers)} watch room {live.room.code}, and no more may."
            raise Refused(ErrorCode.ROOM_FULL, words, retry_ms=60_000)

    def let_watch(self, session: Session, request: Watch, live: LiveRoom, now: int) -> None:
        """Let a session spectate."""
        is_new = session not in live.watchers
        live.admit(session)
        self._registry.matchmaker.offer(live)
        if not live.is_abandoned:
            live.closing_at = None
        answer_with_room(session, request, live)
        if live.is_unshown:  # all are shown it next
            return
        if not (is_new and self._timers.tell_count(live)):
            live.show_to(session, now)
            if live.has_bots:  # that had paused
                self._changes.on_shown(live)

    def leave(self, session: Session, player: Player, request: Leave, live: LiveRoom, now: int) -> None:
        """Stop watching, free the seat of a waiting room, or resign and go."""
        if session in live.watchers:
            live.part(session)
            answer(session, request)
            self._timers.tell_count(live)
            if live.closing_at is None:
                self._timers.close_later(live)
        else:
            self._changes.submit(_Leaving(self, session, player, request, live, now))

    def _takes_seat(self, player: Player, room: Room) -> bool:
        """Tell whether one who joins takes a seat that counts."""
        return room.status == "waiting" and room.is_for_several and room.mark_of(player.id) is None

    def _look_again(self, session: Session, player: Player, request: Join | Watch, live: LiveRoom) -> bool:
        """Have a room read again before its next change where somebody says to have seen something newer; tell if so.

        Refused to one who said so in vain too often, unless they have a seat there: they come in as it is known here.
        """
        if not _is_ahead(request, live.room) or live.revision == MISSING:
            return False
        try:
            self._allowances.check_misses(session, player)
        except Refused:
            if live.room.mark_of(player.id) is None:
                raise
            return False
        live.is_uncertain = True
        return True

    # -- for the changes below ----------------------------------------------------------------------------------

    def note_visit(self, session: Session, player: Player, request: Join | Match | Watch, room: Room) -> None:
        """Count one who says to have seen something newer than what is stored; that alone is not refused."""
        if _is_ahead(request, room):
            with suppress(Refused):
                self._allowances.count_miss(session, player)

    def check_free(self, room: Room) -> None:
        """Refuse a seat that would begin a game while no new ones begin."""
        if room.status == "waiting":
            self._drain.check()

    def reserve(self, session: Session, player: Player, live: LiveRoom) -> None:
        """Reserve a seat for one who comes."""
        live.entering.add(player.id)
        if self._takes_seat(player, live.room):
            self._registry.seats.expect(player.id, live.room.code, session.address)

    def release(self, player: Player, live: LiveRoom) -> None:
        """Reserve it no longer."""
        live.entering.discard(player.id)
        self._registry.seats.give_up(player.id, live.room.code)

    def take_seat(self, session: Session, player: Player, live: LiveRoom) -> None:
        """Let a session play whose player has the seat now."""
        live.seat(session, player)
        self._players.note_seat(session)
        live.closing_at = None
        self._registry.matchmaker.offer(live)

    def after_leaving(self, live: LiveRoom) -> None:
        """Let a room end that all have left, at once or when nobody comes back."""
        if live.room.is_deserted:
            live.is_unshown = False
            self._timers.close(live, "Everybody left.")
        elif live.closing_at is None:
            self._timers.close_later(live)

    def give_up(self, live: LiveRoom) -> None:
        """Forget a room that could not be opened."""
        self._registry.give_up(live)

    def new_code(self) -> str:
        """Return a code for a room."""
        return self._registry.new_code()

    def _open(self, session: Session, player: Player, request: Create | Match, room: Room, now: int) -> LiveRoom:
        live = LiveRoom(room, owner=player.id, origin=session.address, source=self._registry.source_of(session.address))
        self._allowances.take_create(session, player)
        self._registry.expect(live)
        self._changes.submit(_Opening(self, session, player, request, live, now))
        return live


class _Visit(Asked):
    """A change by which somebody comes in or goes."""

    __slots__ = ("visits",)

    def __init__(
        self,
        visits: Visits,
        session: Session,
        player: Player,
        request: Create | Match | Join | Watch | Leave,
        live: LiveRoom,
        now: int,
    ) -> None:
        command = request if isinstance(request, Leave) else Enter()
        super().__init__(session, player, request, live, command, now)
        self.visits = visits


class _Opening(_Visit):
    """The first change of a room: it is stored at all, under a code that nobody has."""

    __slots__ = ()

    def apply(self, room: Room) -> Room:
        """Return the room as it was made, under another code where somebody has that one."""
        return replace(room, code=self.visits.new_code()) if self.attempts else room

    def settled(self, error: Exception | None) -> None:
        """Answer, and let nobody wait for a room that could not be opened."""
        if error is not None:
            self.visits.give_up(self.live)
        super().settled(error)

    def carried_out(self) -> None:
        """Let the opener in."""
        live, session = self.live, self.session
        if live.room.mark_of(self.player.id) is None:
            live.admit(session)
        else:
            self.visits.take_seat(session, self.player, live)
        answer_with_room(session, self.request, live)
        bots = sum(seat is not None and seat.bot is not None for seat in live.room.seats.values())
        facts = {"private": live.room.visibility == "private", "bots": bots}
        known = {name: value for name, value in facts.items() if value}
        self.visits.log.note("room opened", session.address, room=live.room.code, player=self.player.name, **known)


class _Joining(_Visit):
    """Somebody who takes a free seat, or is back in the own one."""

    __slots__ = ("is_back",)

    is_back: bool
    request: Join | Match

    def __init__(
        self, visits: Visits, session: Session, player: Player, request: Join | Match, live: LiveRoom, now: int
    ) -> None:
        super().__init__(visits, session, player, request, live, now)
        visits.reserve(session, player, live)

    def apply(self, room: Room) -> Room | None:
        """Return the room with the player in it."""
        if not self.attempts:
            self.visits.note_visit(self.session, self.player, self.request, room)
        self.is_back = room.mark_of(self.player.id) is not None
        if not self.is_back:
            self.visits.check_free(room)
        return super().apply(room)

    def settled(self, error: Exception | None) -> None:
        """Answer, and reserve the seat no longer."""
        self.visits.release(self.player, self.live)
        super().settled(error)

    def carried_out(self) -> None:
        """Let the player in."""
        live, session = self.live, self.session
        live.is_unshown |= session in live.watchers
        self.visits.take_seat(session, self.player, live)
        answer_with_room(session, self.request, live)
        if not live.is_unshown:
            live.show_to(session, self.now)
        if not self.is_back:
            mark = live.room.mark_of(self.player.id)
            facts = {"player": self.player.name, "mark": mark}
            self.visits.log.note("player joined", session.address, room=live.room.code, **facts)


class _Matching(_Joining):
    """Somebody who joins a room by a match: where that fails, another room will do."""

    __slots__ = ()

    request: Match

    def settled(self, error: Exception | None) -> None:
        """Answer, or match again."""
        if isinstance(error, Refused):
            self.visits.release(self.player, self.live)
            self.session.again(self.request, self.now)
        else:
            super().settled(error)


class _Watching(_Visit):
    """Somebody who comes to watch, and to whom nothing older may be shown than what they have seen."""

    __slots__ = ()

    request: Watch

    def apply(self, room: Room) -> Room:
        """Return this very room: nothing of it changes."""
        self.visits.note_visit(self.session, self.player, self.request, room)
        self.visits.check_watching(self.session, self.live)
        return room

    def carried_out(self) -> None:
        """Let the watcher in."""
        self.visits.let_watch(self.session, self.request, self.live, self.now)


class _Leaving(_Visit):
    """A player who goes for good."""

    __slots__ = ()

    def apply(self, room: Room) -> Room | None:
        """Return the room without the player, if it is still this session with which they play."""
        if not self.live.is_played_by(self.session):
            raise not_in_room(room.code)
        return super().apply(room)

    def carried_out(self) -> None:
        """Let the player go, and the room end with the last one."""
        live = self.live
        live.part(self.session)
        answer(self.session, self.request)
        self.visits.log.note("player left", self.session.address, room=live.room.code, player=self.player.name)
        self.visits.after_leaving(live)


def _is_ahead(request: Join | Match | Watch, room: Room) -> bool:
    """Tell whether somebody says to have seen a newer state than this one."""
    return not isinstance(request, Match) and request.seq is not UNSET and request.seq > room.seq


def _chosen_rules(choice: RulesChoice | UnsetType) -> Rules:
    try:
        return rules_of(choice)
    except InvalidRules as invalid:
        path = "rules" if isinstance(choice, str) or invalid.field is None else f"rules.{invalid.field}"
        raise Refused(ErrorCode(invalid.code), invalid.message, path=path) from None


def _check_bots(names: Sequence[str], rules: Rules) -> None:
    for index, name in enumerate(names):
        if name not in LEVEL_NAMES:
            message = f"There is no bot called {name!r}: {', '.join(LEVEL_NAMES)}."
            raise Refused(ErrorCode.BAD_MESSAGE, message, path=f"bots[{index}]")
    if len(names) > len(rules.marks):
        message = f"{len(names)} bots do not fit a game of {len(rules.marks)}."
        raise Refused(ErrorCode.BAD_MESSAGE, message, path="bots")


def _bot_seats(levels: Sequence[str]) -> list[SeatState]:
    """Return the seats of bots; those of one room are told apart by numbers."""
    names = [f"{level}-bot" if len(levels) == 1 else f"{level}-bot-{number}" for number, level in enumerate(levels, 1)]
    return [
        SeatState(f"bot-{secrets.token_hex(4)}", name, online=True, bot=level)
        for name, level in zip(names, levels, strict=True)
    ]
