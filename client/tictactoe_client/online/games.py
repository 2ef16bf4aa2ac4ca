"""Our finished games, as `Client.games`."""

from __future__ import annotations

from msgspec import UNSET

from tictactoe_client.online.address import reachable_address
from tictactoe_client.online.part import PartOwner
from tictactoe_protocol import MAX_LISTED_GAMES, requests
from tictactoe_protocol.pushes import PastGame


class Games:
    """Our finished games on this server."""

    def __init__(self, client: PartOwner) -> None:
        self._client = client

    async def list(self, limit: int = 20, *, before: str | None = None) -> tuple[PastGame, ...]:
        """Return our finished games, newest first; with `before`, a `game_id`, only older ones."""
        games: tuple[PastGame, ...] = ()
        while len(games) < limit:
            page_size = min(limit - len(games), MAX_LISTED_GAMES)
            page = (await self._client.ask(requests.History(limit=page_size, before=before or UNSET))).games or ()
            games += page
            if len(page) < page_size:
                break
            before = games[-1].game_id
        return games[:limit]

    async def record(self, game_id: str) -> str:
        """Return a finished game as text for `tictactoe_engine.records.parse_record`."""
        return (await self._client.ask(requests.Record(game_id=game_id))).record or ""

    async def share(self, game_id: str, *, on: bool = True) -> str | None:
        """Share a finished game and return the link; with `on` false, stop sharing it and return None."""
        replay = (await self._client.ask(requests.Share(game_id=game_id, on=on))).replay
        if replay is UNSET:
            return None
        return reachable_address(self._client.cluster.given.first).link_to(f"replay/{replay}")
