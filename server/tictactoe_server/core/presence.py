"""Who is here: the sessions of all peers whose handshake is done, each with the time of its arrival."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tictactoe_server.core.rooms import Player
from tictactoe_server.core.session import Session


class Presence:
    """Sessions in the order of their arrival."""

    def __init__(self) -> None:
        self._since: dict[Session, float] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._since))

    @property
    def greeted(self) -> list[tuple[Session, Player]]:
        """Those who have said who they are, with that."""
        return [(session, session.player) for session in self._since if session.player is not None]

    def add(self, session: Session) -> None:
        self._since[session] = asyncio.get_running_loop().time()

    def remove(self, session: Session) -> None:
        self._since.pop(session, None)

    def seconds(self, session: Session) -> float:
        """Return for how long somebody has been here."""
        return asyncio.get_running_loop().time() - self._since[session]

    def of_player(self, id: str) -> list[Session]:
        """Return the sessions of one player."""
        return [session for session, player in self.greeted if player.id == id]
