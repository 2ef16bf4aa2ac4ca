"""What earlier runs left on a server: seats that wait for us or were lost meanwhile, and the games that were finished.

A person may be several players there, since runs at the same time are: their games are listed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tictactoe_client.files.players import KnownPlayer
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.session import Session
from tictactoe_client.text.lobby import describe_loss, describe_way_back
from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_protocol.pushes import PastGame


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """What there still is of earlier runs: rooms where our seat waits, and a sentence for each game that is over since.

    With each room stands for how many ms the seat is held, None where that is not known.
    """

    waiting: dict[str, int | None]
    losses: list[str]

    def describe(self, address: Address) -> list[str]:
        """Return a line for each game, those that wait with the command that leads back."""
        return [*(describe_way_back(room, held_ms, address) for room, held_ms in self.waiting.items()), *self.losses]


async def find_left_behind(session: Session, *, but: str | None = None) -> LeftBehind:
    """Return what earlier runs left behind, `but` the room that is being joined anyway.

    Asks the server only where there is such a seat; where it does not answer, nothing is said and nothing forgotten.
    """
    left = LeftBehind({}, [])
    for player in session.players.on(session.house.urls):
        rooms = [room for room in reversed(player.rooms) if room != but and room not in session.rooms]
        if rooms and player.is_free:
            with suppress(ClientError):
                async with session.connect_as(player) as owner:
                    held = {seat.room for seat in owner.welcome.rooms}
                    left.waiting.update((room, owner.held_ms(room)) for room in rooms if room in held)
                    lost = [room for room in rooms if room not in held]
                    left.losses.extend(await _settle(session, owner, lost, replay_from=owner.address))
    return left


async def find_losses(session: Session) -> list[str]:
    """Return how each game ended whose seat the server does not hold for us any more, and forget those seats."""
    client = session.client
    known = session.players.on(session.house.urls)
    if client is not None:
        held = {seat.room for seat in client.welcome.rooms}
        own = [room for player in known if player.token == client.token for room in player.rooms]
        with suppress(ClientError):
            return await _settle(session, client, [room for room in own if room not in held])
    return []


async def _settle(
    session: Session, owner: Client, lost: Sequence[str], *, replay_from: Address | None = None
) -> list[str]:
    """Forget seats that are gone, and return how the game of each ended; `replay_from` as for `describe_loss`."""
    games = await owner.history(MAX_LISTED_GAMES) if lost else ()
    told = []
    for room in lost:
        await session.write(session.players.forget_room, session.house.urls, owner.token, room)
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
        known = session.players.on(session.house.urls)
        others = (player for player in known if player.name == client.name and player.token != client.token)
        self._session = session
        self._names = {own: own.name} | {player: f"{own.name} ({number})" for number, player in enumerate(others, 2)}
        self._unlisted: dict[KnownPlayer, list[OwnGame]] = {player: [] for player in self._names}
        self._before: dict[KnownPlayer, str | None] = dict.fromkeys(self._names)
        self._owners: dict[str, KnownPlayer] = {}

    @property
    def is_shared(self) -> bool:
        """Whether there are several of whom games are listed."""
        return len(self._names) > 1

    async def read(self, count: int) -> tuple[OwnGame, ...]:
        """Return the next games, fewer than `count` where there are no more. Raises `Refused` and `ConnectionLost`."""
        found: list[OwnGame] = []
        while len(found) < count:
            for player in tuple(self._before):
                if not self._unlisted[player]:
                    await self._fetch(player, min(count, MAX_LISTED_GAMES))
            filled = [player for player, games in self._unlisted.items() if games]
            if not filled:
                break
            newest = max(filled, key=lambda player: self._unlisted[player][0].game.at)
            own = self._unlisted[newest].pop(0)
            if self._owners.setdefault(own.game.id, newest) is newest:
                found.append(own)
        return tuple(found)

    async def _fetch(self, player: KnownPlayer, count: int) -> None:
        """Fetch the next games of a player, who is in `_before` as long as there may be more."""
        try:
            async with self._session.connect_as(player) as owner:
                games = await owner.history(count, before=self._before[player])
        except Refused as refused:
            if refused.code != "bad_token":
                raise
            games = ()
        self._unlisted[player] += (OwnGame(game, owner.player, self._names[player]) for game in games)
        if len(games) < count:
            del self._before[player]
        else:
            self._before[player] = games[-1].id

    async def record(self, game: str) -> str:
        """Return the record of a game that one of our players played; raises `Refused` where none did."""
        players = [self._owners[game]] if game in self._owners else list(self._names)
        for player in players:
            with suppress(*(() if player is players[-1] else (Refused,))):
                async with self._session.connect_as(player) as owner:
                    return await owner.record(game)
        raise AssertionError("the last one returns or raises")
