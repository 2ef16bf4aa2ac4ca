"""Who we were on a server before: the tokens that make a later run the same player, with the same finished games.

Two programs of one person at once are two players, or one of them would take the other's seats away: a token belongs
to the process that plays with it, and the next one takes it up when that has ended. Whoever only reads may use it at
any time. Tokens are secrets: the file is for its owner alone, and none of them appears in a log or on a screen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from tictactoe_client.files.private_file import change_private, is_alive, read_private, state_folder
from tictactoe_client.files.servers import Servers, each_of

_VERSION: Final = 1
_MOST_PLAYERS: Final = 100
_GUEST: Final = "guest-"
"""How the names begin that servers give to those who choose none."""


@dataclass(frozen=True, slots=True)
class KnownPlayer:
    """Who we were: where, under which name, and which process played last. `used_at` is in seconds since 1970."""

    server: str
    name: str
    token: str = field(repr=False)
    pid: int = field(default_factory=os.getpid)
    used_at: float = field(default_factory=time.time)

    @property
    def key(self) -> tuple[str, str]:
        """What no two rows share: server and token."""
        return (self.server, self.token)

    @property
    def is_free(self) -> bool:
        """Whether no living process but this one plays as them."""
        return self.pid == os.getpid() or not is_alive(self.pid)


class KnownPlayers:
    """The file, `players.json` in the folder for state; a file that cannot be read counts as empty."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "players.json"

    def find(self, servers: Servers, name: str | None = None) -> KnownPlayer | None:
        """Return whom we played as last on these servers, under this name where one is given, or None."""
        return _newest(self._read(), servers, name)

    def find_name(self) -> str | None:
        """Return the name that we chose last, on any server, or None where we never chose one."""
        chosen = [player for player in self._read() if not player.name.startswith(_GUEST)]
        return max(chosen, key=lambda player: player.used_at).name if chosen else None

    def take(self, servers: Servers, name: str | None = None) -> KnownPlayer | None:
        """Return whom we played as last of those whom no other living process plays as, and play as them from now."""
        urls, taken = each_of(servers), list[KnownPlayer]()

        def take(players: list[KnownPlayer]) -> list[KnownPlayer]:
            found = _newest([player for player in players if player.is_free], servers, name)
            if found is None:
                return players
            taken.append(replace(found, pid=os.getpid(), used_at=time.time()))
            same = [player for player in players if player.token == found.token and player.server in urls]
            others = [player for player in players if player not in same]
            return [*others, *(replace(taken[0], server=player.server) for player in same)]

        self._change(take)
        return taken[0] if taken else None

    def keep(self, *kept: KnownPlayer) -> None:
        """Write down whom we play as, in place of what was known of them."""
        keys = {player.key for player in kept}
        self._change(lambda players: [*(player for player in players if player.key not in keys), *kept])

    def forget(self, servers: Servers, token: str) -> None:
        """Strike out a player whom the servers do not know any more."""
        keys = {(server, token) for server in each_of(servers)}
        self._change(lambda players: [player for player in players if player.key not in keys])

    def _read(self) -> list[KnownPlayer]:
        try:
            return [KnownPlayer(**row) for row in read_private(self.path)["players"]]
        except (ValueError, TypeError, KeyError):
            return []

    def _change(self, change: Callable[[list[KnownPlayer]], list[KnownPlayer]]) -> None:
        def apply(before: list[KnownPlayer]) -> tuple[list[KnownPlayer], object]:
            after = change(before)[-_MOST_PLAYERS:]
            return after, {"version": _VERSION, "players": [asdict(player) for player in after]}

        change_private(self.path, self._read, apply)


def _newest(players: list[KnownPlayer], servers: Servers, name: str | None) -> KnownPlayer | None:
    urls = each_of(servers)
    found = [player for player in players if player.server in urls and name in (None, player.name)]
    return max(found, key=lambda player: player.used_at, default=None)
