"""Players present at a tournament, and the progress of its games. Both change without a change to the stored event.

A player is present if connected to this server or another one; bots always are. Each server tells the others once a
second which players of current events are connected to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tictactoe_protocol.events import EventGame
from tictactoe_server.core.core import Core
from tictactoe_server.features.tournaments.event import Event, Pairing
from tictactoe_server.rooms.view import Listed

AGAIN_SECONDS: Final = 0.25  # for how long an attendance is cached
MOST_KNOWN: Final = 64  # events in the cache
MOST_AWAY: Final = 40
MOST_GAMES: Final = 25  # with the absent players about 4 kB
HEARD_SECONDS: Final = 3.0  # for how long the players at another server count as present
_PRESENT: Final = "present"  # the table named in notices to other servers


class Attendance(NamedTuple):
    """The number of players present, how long (ms) the others have been away, and the running games by pairing."""

    present: int = 0
    away: Mapping[str, int] = {}
    games: Mapping[str, EventGame] = {}

    @property
    def told(self) -> dict[str, Any]:
        """The nonempty fields, as messages name them."""
        return {name: value for name in ("away", "games") if (value := getattr(self, name))}

    @property
    def changing(self) -> tuple[Any, ...]:
        """The parts that change if a player comes, goes or moves; clocks and durations are left out."""
        return self.present, [*self.away], [(id, one.ply, one.turn) for id, one in self.games.items()]


class Attendances:
    """The attendances of all events, computed on demand.

    Attributes:
        _elsewhere: The ids of the players at other servers, by URL, each with the end of its validity.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._known: dict[str, tuple[Event, float, Attendance]] = {}
        self._elsewhere: dict[str, tuple[float, set[str]]] = {}
        core.rooms.elsewhere.on_changed[_PRESENT].add(self._on_present)

    @property
    def here(self) -> set[str]:
        """The ids of all connected players, and of the players of events at other servers."""
        now = self._core.monotonic_ns() / 1e9
        return self._core.presence.ids.union(*(ids for until, ids in self._elsewhere.values() if until > now))

    def announce(self, events: Iterable[Event]) -> None:
        """Tell the other servers which players of these events are connected to this one."""
        elsewhere = self._core.rooms.elsewhere
        if elsewhere.cluster is None:
            return
        if entrants := {one.player for event in events if not event.is_over for one in event.entrants}:
            here = sorted(entrants & self._core.presence.ids)
            elsewhere.broadcast_change(_PRESENT, " ".join((elsewhere.cluster.urls[0], *here)))

    def _on_present(self, key: str) -> None:
        url, *ids = key.split(" ")
        self._elsewhere[url] = self._core.monotonic_ns() / 1e9 + HEARD_SECONDS, {*ids}

    def of(self, event: Event) -> Attendance:
        """Return the attendance of an event, cached for a moment."""
        now = self._core.monotonic_ns() / 1e9
        known, until, attendance = self._known.pop(event.code, (None, 0.0, Attendance()))
        if known is not event or until < now:
            attendance, until = self._look(event), now + AGAIN_SECONDS
        self._known[event.code] = event, until, attendance
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return attendance

    def _look(self, event: Event) -> Attendance:
        here = self.here
        playing = [one for one in event.open_pairings if one.state == "open"]
        waited_for = {player for one in playing for player in one.players.values()}
        entrants = [one for one in event.entrants if not one.is_gone and one.joined_round]
        away = [one for one in entrants if not (one.is_server_bot or one.player in here)]
        away.sort(key=lambda one: one.player not in waited_for)
        now = self._core.time()
        boards = [(one.id, listed.board(now)) for one in playing if (listed := self._find(one)) is not None]
        games = {id: EventGame(board.ply, board.turn, board.clock) for id, board in boards[:MOST_GAMES]}
        seconds = self._core.presence.seconds_away
        told = {} if event.is_over else {one.player: round(1000 * seconds(one.player)) for one in away[:MOST_AWAY]}
        return Attendance(len(entrants) - len(away), told, games)

    def _find(self, pairing: Pairing) -> Listed | None:
        live = self._core.rooms.by_code.get(pairing.room)
        rooms = (one for id in pairing.players.values() for one in self._core.indexes.seats.rooms_of(id))
        return live or next((one for one in rooms if one.room.code == pairing.room), None)
