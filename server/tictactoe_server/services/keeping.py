"""Which finished games are kept for good: what players and addresses keep is counted, and past a limit none is kept."""

from __future__ import annotations

import time
from typing import Final

from tictactoe_protocol.pushes import Announcement
from tictactoe_server.core.core import Core
from tictactoe_server.core.kept import encode_game
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.rooms import FinishedGame
from tictactoe_server.core.service import Service
from tictactoe_server.transport.rate_limit import RateLimits

ROW_BYTES: Final = 200
"""About what a finished game takes in SQLite beside its document: its row, its players, their indexes."""

TOLD: Final = (
    "You have played so many games within an hour that this server keeps no more of yours for now. "
    "They are played as ever, but are in no history."
)
_HOUR_MS: Final = 3_600_000


class Keeping(Service):
    """Counts what is kept of finished games, and tells those who play when theirs are not."""

    def start(self, core: Core) -> None:
        self._allowances = core.allowances
        self._told = RateLimits(1, _HOUR_MS, core.monotonic_ns)
        core.changes.keeps = self.keeps

    def keeps(self, live: LiveRoom, game: FinishedGame) -> bool:
        """Count a game that a room has finished, and tell whether it is kept: where one who played it may keep more.

        A game of bots counts for who opened the room. Where it is not kept, its players are told, each once an hour.
        """
        size = ROW_BYTES + len(encode_game(game))
        sessions = {player: live.players.get(player) for player in game.people or (live.owner,)}
        addresses = {player: live.origin if one is None else one.address for player, one in sessions.items()}
        if self._allowances.take_kept(addresses, size):
            return True
        for player, session in sessions.items():
            if session is not None and not self._told[player].take():
                session.push(Announcement(TOLD, time.time_ns() // 1_000_000))
        return False
