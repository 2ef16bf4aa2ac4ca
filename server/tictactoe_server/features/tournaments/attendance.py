"""Which players of a tournament are present, and how far its running games are. Neither is stored.

A player is present while connected to any server of the cluster; bots are always present. Once a second, each server
tells the others which players of unfinished tournaments are connected to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from tictactoe_protocol.events import EventGame
from tictactoe_server.core.core import Core
from tictactoe_server.features.tournaments.event import Event, Pairing
from tictactoe_server.rooms.view import RoomListing

MAX_AWAY: Final = 40  # absent players in an attendance
MAX_GAMES: Final = 25  # games in an attendance, which then has about 4 kB
REMOTE_SECONDS: Final = 3.0  # how long the players that another server named count as present
_PRESENT: Final = "present"  # replaces the name of a table in notices between servers


class Attendance(NamedTuple):
    """The presence of a tournament's players, and the progress of its games.

    Attributes:
        away: How long each absent player has been away, in ms, by player id.
        games: The running games, by id of the pairing.
    """

    present: int = 0
    away: Mapping[str, int] = {}
    games: Mapping[str, EventGame] = {}

    @property
    def message_fields(self) -> dict[str, Any]:
        """The fields `away` and `games` that are not empty, for a message to clients."""
        return {name: value for name in ("away", "games") if (value := getattr(self, name))}

    @property
    def changing(self) -> tuple[Any, ...]:
        """A value that differs when a player has come, left or moved; it contains no clocks or durations."""
        return self.present, [*self.away], [(id, game.ply, game.turn) for id, game in self.games.items()]


class Attendances:
    """Computes the attendance of tournaments on demand.

    Attributes:
        _elsewhere: Maps the URL of another server to the ids of the players connected to it and to the time (s) until
            which they count as present.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._elsewhere: dict[str, tuple[float, set[str]]] = {}
        core.rooms.elsewhere.on_changed[_PRESENT].add(self._on_present)

    @property
    def here(self) -> set[str]:
        """The ids of all players connected to this server, and of tournament players connected to other servers."""
        now = self._core.monotonic_ns() / 1e9
        return self._core.presence.ids.union(*(ids for until, ids in self._elsewhere.values() if until > now))

    def announce(self, events: Iterable[Event]) -> None:
        """Tell the other servers which players of these tournaments are connected to this server."""
        elsewhere = self._core.rooms.elsewhere
        if not elsewhere.is_several:
            return
        if entrants := {entrant.player for event in events if not event.is_over for entrant in event.entrants}:
            present = sorted(entrants & self._core.presence.ids)
            elsewhere.broadcast_change(_PRESENT, " ".join((elsewhere.cluster_status.urls[0], *present)))

    def _on_present(self, key: str) -> None:
        url, *ids = key.split(" ")
        self._elsewhere[url] = self._core.monotonic_ns() / 1e9 + REMOTE_SECONDS, {*ids}

    def of(self, event: Event) -> Attendance:
        here = self.here
        playing = [pairing for pairing in event.open_pairings if pairing.state == "open"]
        waited_for = {player for one in playing for player in one.players.values()}
        entrants = [entrant for entrant in event.entrants if not entrant.is_gone and entrant.joined_round]
        away = [entrant for entrant in entrants if not (entrant.is_server_bot or entrant.player in here)]
        away.sort(key=lambda one: one.player not in waited_for)  # players with waiting opponents first
        now = self._core.time()
        boards = ((one.id, listed.board(now)) for one in playing if (listed := self._find(one)) is not None)
        games = {id: EventGame(board.ply, board.turn, board.clock) for id, board in islice(boards, MAX_GAMES)}
        seconds = self._core.presence.seconds_away
        away_ms = {} if event.is_over else {one.player: round(1000 * seconds(one.player)) for one in away[:MAX_AWAY]}
        return Attendance(len(entrants) - len(away), away_ms, games)

    def _find(self, pairing: Pairing) -> RoomListing | None:
        live = self._core.rooms.by_code.get(pairing.room)
        rooms = (listed for id in pairing.players.values() for listed in self._core.indexes.seats.rooms_of(id))
        return live or next((one for one in rooms if one.room.code == pairing.room), None)
