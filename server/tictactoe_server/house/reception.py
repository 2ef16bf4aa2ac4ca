"""Sessions of other servers that are in rooms of this one, and everybody who comes back into a room that moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

import structlog

from tictactoe_protocol.pushes import Closed, Replaced
from tictactoe_server.house.guests import Guest
from tictactoe_server.house.parcels import Asked, Left, Lost, Met, Rejoined, Returned
from tictactoe_server.house.ways import Way
from tictactoe_server.rooms import NOBODY, Enter, Expire, Player, Room
from tictactoe_server.tables import Changes, LiveRoom, Registry, ServedTime, Session, Timers
from tictactoe_server.tables.live_room import Change

log = structlog.get_logger(__name__)


class Reception:
    """Lets the sessions of other servers in, each a guest that `make_guest` returns."""

    def __init__(
        self,
        registry: Registry,
        changes: Changes,
        timers: Timers,
        time: ServedTime,
        make_guest: Callable[[Way, Met], Guest],
    ) -> None:
        self._registry = registry
        self._changes = changes
        self._timers = timers
        self._time = time
        self._make_guest = make_guest
        self._guests: defaultdict[str, dict[int, Guest]] = defaultdict(dict)

    def met(self, way: Way, met: Met) -> None:
        """Get to know a session."""
        guest = self._guests[way.to].get(met.session)
        if guest is None:
            self._guests[way.to][met.session] = self._make_guest(way, met)
        else:
            guest.meet(met)

    def asked(self, way: Way, asked: Asked) -> None:
        """Carry a request out, on a room that is as new as what the session was shown."""
        guest = self._guests[way.to].get(asked.session)
        live = self._served(asked.room)
        if guest is None:
            way.put(Lost())
        elif live is None and not self._may_be_served(asked.room):
            way.put(Returned(asked.session, asked.number))
        elif live is not None and asked.seen > live.room.seq:
            self._refresh(live, lambda: guest.ask(asked))
        else:
            guest.ask(asked)

    def rejoined(self, way: Way, rejoined: Rejoined) -> None:
        """Let a session be where it was before the room came here."""
        guest = self._guests[way.to].get(rejoined.session)
        if guest is None:
            way.put(Lost())
        elif self._served(rejoined.room) is None and self._registry.find_here(rejoined.room) is not None:
            way.put(Returned(rejoined.session, 0, rejoined.room))
        else:
            self.rejoin(guest, rejoined.room, rejoined.plays, rejoined.seen)

    def left(self, way: Way, left: Left) -> None:
        """Take notice that a session is over."""
        guest = self._guests[way.to].pop(left.session, None)
        if guest is not None:
            guest.ended()

    def lose(self, server: str) -> None:
        """Take notice that a server is gone, and with it all its sessions."""
        for guest in self._guests.pop(server, {}).values():
            guest.ended()

    def rejoin(self, session: Session, code: str, plays: bool, seen: int) -> None:
        """Let a session play or watch again in a room that is served here now, and show it what it has not seen."""
        live, player = self._served(code), session.player
        if live is None or player is None:
            session.leave(code)
            session.push(Closed(code, "It was closed elsewhere."))
            return
        if plays:
            other = live.players.get(player.id)
            if live.room.mark_of(player.id) is None or (other is not None and other is not session):
                session.leave(code)
                session.push(Replaced(code))
                return
            live.seat(session, player)
        else:
            live.admit(session)
        self._registry.came_in(live)
        if not live.is_abandoned:
            live.closing_at = None
        if seen > live.room.seq:
            self._refresh(live, lambda: self._show(live, session, seen))
        elif seen < live.room.seq:
            live.show_to(session, self._time())
        if plays:
            self.let_return(live, player)
        else:
            self._timers.tell_count(live)

    def let_return(self, live: LiveRoom, player: Player) -> None:
        """Have a player be here again whom the room may believe to be away, as soon as the store can take it."""
        if not live.is_elsewhere and not live.is_gone:
            again = partial(self._timers.retry, partial(self.let_return, live, player))
            self._changes.submit(_Returning(live, player, self._time(), again))

    # -- inside -------------------------------------------------------------------------------------------------

    def _served(self, code: str) -> LiveRoom | None:
        """Return a room that is served here, from this moment on perhaps."""
        live = self._registry.find_here(code)
        return live if live is not None and self._registry.take_over(live) else None

    def _may_be_served(self, code: str) -> bool:
        """Tell whether a room that is not known yet would be served here."""
        return self._registry.find_here(code) is None and self._registry.is_own(code)

    def _show(self, live: LiveRoom, session: Session, seen: int) -> None:
        """Show the room to a session, if that is not older than what it saw: it may be that nothing could be read."""
        if live.room.seq >= seen and live.has(session):
            live.show_to(session, self._time())

    def _refresh(self, live: LiveRoom, then: Callable[[], None]) -> None:
        """Read a room again before something is done: somebody was shown a newer state."""
        live.is_uncertain = True
        self._changes.submit(_Refreshing(live, self._time(), then))


class _Refreshing(Change):
    """No change: the room is read again, and then something is done."""

    __slots__ = ("_then",)

    def __init__(self, live: LiveRoom, now: int, then: Callable[[], None]) -> None:
        super().__init__(live, NOBODY, Expire(), now)
        self._then = then

    def apply(self, room: Room) -> Room | None:
        return room

    def settled(self, error: Exception | None) -> None:
        self._then()


class _Returning(Change):
    """A player who is here again, whom the room may believe to be away; where that fails it is done `again`."""

    __slots__ = ("_again",)

    def __init__(self, live: LiveRoom, player: Player, now: int, again: Callable[[], None]) -> None:
        super().__init__(live, player, Enter(), now)
        self._again = again

    def apply(self, room: Room) -> Room | None:
        is_here = self.player.id in self.live.players and room.mark_of(self.player.id) is not None
        return super().apply(room) if is_here else room

    def settled(self, error: Exception | None) -> None:
        if error is not None:
            log.debug("one who is back could not be stored yet", room=self.live.room.code, reason=str(error))
            self._again()
