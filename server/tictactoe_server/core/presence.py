"""Who is here: the sessions of all peers whose handshake is done, each with the time of its arrival."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tictactoe_server.core.session import Session


class Presence:
    """Sessions in the order of their arrival."""

    def __init__(self) -> None:
        self._since: dict[Session, float] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._since))

    def __len__(self) -> int:
        return len(self._since)

    @property
    def greeted(self) -> int:
        """How many have said who they are."""
        return sum(session.player is not None for session in self._since)

    def add(self, session: Session) -> None:
        self._since[session] = asyncio.get_running_loop().time()

    def remove(self, session: Session) -> None:
        self._since.pop(session, None)

    def seconds(self, session: Session) -> float:
        """Return for how long somebody has been here."""
        return asyncio.get_running_loop().time() - self._since[session]

    def of_player(self, id: str) -> list[Session]:
        """Return the sessions of one player."""
        return [session for session in self._since if session.player is not None and session.player.id == id]

    def ids_called(self, name: str) -> list[str]:
        """Return the ids of those who are here under a name."""
        players = (session.player for session in self._since)
        return list(dict.fromkeys(player.id for player in players if player is not None and player.name == name))
