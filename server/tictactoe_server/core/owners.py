"""Who opened which rooms, and how many of them one player or one address may have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import Listed
from tictactoe_server.rooms import Refused
from tictactoe_server.settings import Limits


class Owners:
    """The rooms by the players, and by the addresses, that opened them. `limited` counts what was too much."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited
        self._rooms: defaultdict[str, set[Listed]] = defaultdict(set)

    def check(self, live: Listed) -> None:
        """Raise `Refused` where a room is one too many for whoever opens it."""
        limits, own = self._limits, self._rooms.get(f"player {live.owner}", ())
        games = _bot_games(own) if live.has_bots else 0
        for name, count, limit, words in (
            ("rooms-per-player", len(own), limits.rooms_per_player, "You have opened as many rooms as you may."),
            ("bot-games-per-player", games, limits.bot_games_per_player, "You let as many bots play as you may."),
            (
                "rooms-per-address",
                len(self._rooms.get(f"address {live.source}", ())),
                limits.rooms_per_address,
                "As many rooms as may be were opened from your address.",
            ),
        ):
            if limit and count >= limit:
                self._limited[name] += 1
                raise Refused(ErrorCode.RATE_LIMITED, f"{words} Leave one first.", retry_ms=60_000)

    def add(self, live: Listed) -> None:
        """Count a room for whoever opened it."""
        for key in _keys_of(live):
            self._rooms[key].add(live)

    def remove(self, live: Listed) -> None:
        """Count it no more."""
        for key in _keys_of(live):
            rooms = self._rooms.get(key, set())
            rooms.discard(live)
            if not rooms:
                self._rooms.pop(key, None)

    def most_of_one(self, kind: str) -> int:
        """Return how many rooms the player, or the address, has opened that has opened most."""
        return max((len(rooms) for key, rooms in self._rooms.items() if key.startswith(f"{kind} ")), default=0)

    @property
    def most_bot_games(self) -> int:
        """How many games with bots that are not over the player has opened that has opened most."""
        return max((_bot_games(rooms) for key, rooms in self._rooms.items() if key.startswith("player ")), default=0)


def _bot_games(rooms: Iterable[Listed]) -> int:
    return sum(live.has_bots and live.room.result is None for live in rooms)


def _keys_of(live: Listed) -> list[str]:
    return [f"{kind} {name}" for kind, name in (("player", live.owner), ("address", live.source)) if name]
