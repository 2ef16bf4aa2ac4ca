"""What earlier runs left behind: seats that wait, and the finished games of all players that we were."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from tictactoe_client.files.players import KnownPlayer
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.session import Session
from tictactoe_client.text.lobby import describe_loss
from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_protocol.pushes import PastGame

Answer = TypeVar("Answer")


async def find_left_behind(session: Session, *, but: str | None = None) -> tuple[dict[str, int | None], list[str]]:
    """Return the rooms where a seat of ours waits, with the ms for which it is held or None where that is not known.

    And a sentence for each game of an earlier run that is over. `but` is the room that is being joined anyway. Asks the
    server only where there is such a seat; where it does not answer, nothing is said and nothing forgotten.
    """
    waiting: dict[str, int | None] = {}
    losses: list[str] = []
    for player in session.identity.players.on(session.cluster.given.urls):
        rooms = [room for room in reversed(player.rooms) if room != but and room not in session.identity.rooms]
        if rooms and player.is_free:
            with suppress(ClientError):
                async with session.connect_as(player) as owner:
                    held = {seat.room for seat in owner.welcome.rooms}
                    waiting.update((room, owner.held_ms(room)) for room in rooms if room in held)
                    losses.extend(await _settle(session, owner, rooms, replay_from=owner.cluster.given.first))
    return waiting, losses


async def find_losses(session: Session) -> list[str]:
    """Return how each game ended whose seat the server does not hold for us any more, and forget those seats."""
    client = session.client
    if client is not None:
        known = session.identity.players.on(session.cluster.given.urls)
        rooms = [room for player in known if player.token == client.token for room in player.rooms]
        with suppress(ClientError):
            return await _settle(session, client, rooms)
    return []


async def _settle(
    session: Session, owner: Client, rooms: Sequence[str], *, replay_from: Address | None = None
) -> list[str]:
    """Forget those of our seats that the server does not hold any more, and return how the game of each ended."""
    held = {seat.room for seat in owner.welcome.rooms}
    lost = [room for room in rooms if room not in held]
    games = await owner.history(MAX_LISTED_GAMES) if lost else ()
    told = []
    for room in lost:
        await session.identity.write(
            session.identity.players.forget_room, session.cluster.given.urls, owner.token, room
        )
        ended = next((game for game in games if game.room == room), None)
        told.append(describe_loss(room, ended, owner.player, replay_from=replay_from))
    return told


@dataclass(frozen=True, slots=True)
class OwnGame:
    """A finished game of ours: the player that we were in it, by the public id, and by name: ``ana``, ``ana (2)``."""

    game: PastGame
    viewer: str
    whose: str


class PastGames:
    """The finished games of all players that this machine knows under our name, the newest first, each once.

    `is_shared` where these are several. Of one whom the server does not know any more there are none.
    """

    def __init__(self, session: Session) -> None:
        client = session.client
        assert client is not None
        own = KnownPlayer(client.address.url, client.name, client.token)
        known = session.identity.players.on(session.cluster.given.urls)
        others = (player for player in known if player.name == client.name and player.token != client.token)
        self._session = session
        self._names = {own: own.name} | {player: f"{own.name} ({number})" for number, player in enumerate(others, 2)}
        self.is_shared = len(self._names) > 1
        self._unread: dict[KnownPlayer, list[OwnGame]] = {player: [] for player in self._names}
        self._before: dict[KnownPlayer, str | None] = dict.fromkeys(self._names)
        self._owners: dict[str, KnownPlayer] = {}

    async def read(self, count: int) -> tuple[OwnGame, ...]:
        """Return the next games, fewer than `count` where there are no more. Raises `Refused` and `ConnectionLost`."""
        found: list[OwnGame] = []
        while len(found) < count:
            for player, unread in self._unread.items():
                while not unread and player in self._before:
                    await self._fetch(player, min(count, MAX_LISTED_GAMES))
            newest = max(filter(None, self._unread.values()), key=lambda unread: unread[0].game.at, default=None)
            if newest is None:
                break
            found.append(newest.pop(0))
        return tuple(found)

    async def _fetch(self, player: KnownPlayer, count: int) -> None:
        """Fetch the next games of a player, who is in `_before` as long as there are more."""
        try:
            async with self._session.connect_as(player) as owner:
                games = await owner.history(count, before=self._before[player])
        except Refused as refused:
            if refused.code != "bad_token":
                raise
            games = ()
        for game in games:
            if self._owners.setdefault(game.id, player) is player:
                self._unread[player].append(OwnGame(game, owner.player, self._names[player]))
        if len(games) < count:
            del self._before[player]
        else:
            self._before[player] = games[-1].id

    async def record(self, game: str) -> str:
        """Return the record of a game that one of our players played; raises `Refused` where none did."""
        return await self._ask(game, lambda owner: owner.record(game))

    async def share(self, game: str, *, on: bool) -> str | None:
        """Show such a game to all who know the link, which is returned, or take that back; raises like `record`."""
        return await self._ask(game, lambda owner: owner.share(game, on=on))

    async def _ask(self, game: str, ask: Callable[[Client], Awaitable[Answer]]) -> Answer:
        """Return what the player answers who played a game."""
        players = [self._owners[game]] if game in self._owners else list(self._names)
        for player in players:
            with suppress(*(() if player is players[-1] else (Refused,))):
                async with self._session.connect_as(player) as owner:
                    return await ask(owner)
        raise AssertionError("the last one returns or raises")
