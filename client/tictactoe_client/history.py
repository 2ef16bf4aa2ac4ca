"""What earlier runs left on a server: seats that wait for us or were lost meanwhile, and the games that were finished.

A person may be several players there, since runs at the same time are: their games are listed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tictactoe_client.files.players import KnownPlayer
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.session import Session
from tictactoe_client.text.home import describe_loss, describe_way_back
from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_protocol.pushes import PastGame


@dataclass(frozen=True, slots=True)
class WaitingGame:
    """A room where our seat still waits; `held_ms` is for how long it is held, None where that is not known."""

    room: str
    held_ms: int | None


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """What there still is of earlier runs, and a sentence for each game that is over since."""

    waiting: tuple[WaitingGame, ...] = ()
    losses: tuple[str, ...] = ()

    def describe(self, address: Address) -> list[str]:
        """Return a line for each game, those that wait with the command that leads back."""
        return [*(describe_way_back(game.room, game.held_ms, address) for game in self.waiting), *self.losses]


async def find_left_behind(session: Session, *, but: str | None = None) -> LeftBehind:
    """Return what earlier runs left behind, `but` the room that is being joined anyway.

    Asks the server only where there is such a seat; where it does not answer, nothing is said and nothing forgotten.
    """
    waiting: list[WaitingGame] = []
    losses: list[str] = []
    for player in session.players.on(session.house.urls):
        rooms = [room for room in reversed(player.rooms) if room != but and room not in session.rooms]
        if rooms and player.is_free:
            with suppress(ClientError):
                async with session.connect_as(player) as owner:
                    held = {seat.room for seat in owner.welcome.rooms}
                    waiting += [WaitingGame(room, owner.held_ms(room)) for room in rooms if room in held]
                    lost = [room for room in rooms if room not in held]
                    losses += await _settle(session, owner, lost, replay_from=owner.address)
    return LeftBehind(tuple(waiting), tuple(losses))


async def find_losses(session: Session) -> list[str]:
    """Return how each game ended whose seat the server does not hold for us any more, and forget those seats."""
    client = session.client
    if client is None:
        return []
    held = {seat.room for seat in client.welcome.rooms}
    own = (player.rooms for player in session.players.on(session.house.urls) if player.token == client.token)
    with suppress(ClientError):
        return await _settle(session, client, [room for rooms in own for room in rooms if room not in held])
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


@dataclass(slots=True)
class _Shelf:
    """The games of one of our players, as far as they are fetched and not yet listed."""

    player: KnownPlayer
    whose: str
    viewer: str = ""
    games: list[PastGame] = field(default_factory=list)
    last: str | None = None
    is_complete: bool = False


class PastGames:
    """The finished games of all players that this machine knows under our name, the newest first, each once.

    `is_shared` when these are several players. Where the server does not know one of them any more, there are only
    the others'.
    """

    def __init__(self, session: Session) -> None:
        client = session.client
        assert client is not None
        own = KnownPlayer(client.address.url, client.name, client.token)
        known = session.players.on(session.house.urls)
        others = [player for player in known if player.name == client.name and player.token != client.token]
        self._session = session
        self._shelves = [
            _Shelf(player, f"{client.name} ({number})" if number > 1 else client.name)
            for number, player in enumerate((own, *others), 1)
        ]
        self._listed: dict[str, KnownPlayer] = {}

    @property
    def is_shared(self) -> bool:
        """Whether there are several of whom games are listed."""
        return len(self._shelves) > 1

    async def read(self, count: int) -> tuple[OwnGame, ...]:
        """Return the next games, fewer than `count` where there are no more. Raises `Refused` and `ConnectionLost`."""
        found: list[OwnGame] = []
        while len(found) < count:
            for shelf in self._shelves:
                if not shelf.games and not shelf.is_complete:
                    await self._fetch(shelf, min(count, MAX_LISTED_GAMES))
            filled = [shelf for shelf in self._shelves if shelf.games]
            if not filled:
                break
            newest = max(filled, key=lambda shelf: shelf.games[0].at)
            game = newest.games.pop(0)
            if game.id not in self._listed:
                self._listed[game.id] = newest.player
                found.append(OwnGame(game, newest.viewer, newest.whose))
        return tuple(found)

    async def record(self, game: str) -> str:
        """Return the record of a game that one of our players played; raises `Refused` where none did."""
        listed = self._listed.get(game)
        players = [listed] if listed is not None else [shelf.player for shelf in self._shelves]
        for player in players:
            try:
                async with self._session.connect_as(player) as owner:
                    return await owner.record(game)
            except Refused as refused:
                if player is players[-1] or refused.code not in ("not_allowed", "bad_token"):
                    raise
        raise AssertionError("one of the players is always ours")

    async def _fetch(self, shelf: _Shelf, count: int) -> None:
        """Fetch the next games of a player; of one whom the server has forgotten there are none."""
        try:
            async with self._session.connect_as(shelf.player) as owner:
                games = await owner.history(count, before=shelf.last)
        except Refused as refused:
            if shelf is self._shelves[0] or refused.code != "bad_token":
                raise
            shelf.is_complete = True
            return
        shelf.viewer, shelf.games = owner.player, list(games)
        # A server that says the same games again has no others.
        shelf.is_complete = len(games) < count or games[-1].id == shelf.last
        shelf.last = games[-1].id if games else None
