"""What an earlier run left behind on a server: a game that still waits for us, or one that ended while we were away.

The first is said at every start, the second once: its seat is then struck out. The file is `seats`', the sentences are
those of the words of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tictactoe_client.files.seats import SavedSeat, Seats
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client, connect
from tictactoe_client.online.errors import ClientError
from tictactoe_client.text.home import describe_loss, describe_way_back
from tictactoe_protocol import MAX_LISTED_GAMES


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


async def describe_left_behind(client: Client, timeout_seconds: float, *, but: str | None = None) -> list[str]:
    """Return a line for each game that an earlier run left behind, `but` the room that is being joined anyway."""
    found = await find_left_behind(client, timeout_seconds, but=but)
    ways = [describe_way_back(game.room, game.held_ms, client.address) for game in found.waiting]
    return [*ways, *found.losses]


async def find_left_behind(client: Client, timeout_seconds: float, *, but: str | None = None) -> LeftBehind:
    """Return what an earlier run left behind, `but` the room that is being joined anyway.

    Asks the server only where there is such a seat; where it does not answer, nothing is said and nothing forgotten.
    """
    saved = [seat for seat in Seats().left_behind(client.house.urls) if seat.room != but]
    waiting: list[WaitingGame] = []
    losses: list[str] = []
    for token in dict.fromkeys(seat.token for seat in saved):
        seats = [seat for seat in saved if seat.token == token]
        with suppress(ClientError):
            if token == client.token:
                found = await _look_for(client, seats)
            else:
                async with connect(client.house, token=token, timeout_seconds=timeout_seconds, ca=client.ca) as owner:
                    found = await _look_for(owner, seats)
            waiting += found.waiting
            losses += found.losses
    return LeftBehind(tuple(waiting), tuple(losses))


async def describe_losses(client: Client) -> list[str]:
    """Return how each game ended whose seat the server does not hold for us any more, and forget those seats.

    Where the server does not answer, nothing is said and nothing forgotten.
    """
    held = {seat.room for seat in client.welcome.rooms}
    lost = [seat for seat in Seats().of_player(client.house.urls, client.token) if seat.room not in held]
    with suppress(ClientError):
        return await _settle(client, lost)
    return []


async def _look_for(owner: Client, seats: Sequence[SavedSeat]) -> LeftBehind:
    """Return what has become of these seats, all of one player, and forget those that are gone."""
    held = {seat.room for seat in owner.welcome.rooms}
    waiting = (WaitingGame(seat.room, owner.held_ms(seat.room)) for seat in seats if seat.room in held)
    lost = [seat for seat in seats if seat.room not in held]
    return LeftBehind(tuple(waiting), tuple(await _settle(owner, lost, replay_from=owner.address)))


async def _settle(owner: Client, lost: Sequence[SavedSeat], *, replay_from: Address | None = None) -> list[str]:
    """Forget seats that are gone, and return how the game of each ended; the server is asked once, where there is one.

    `replay_from` as for `describe_loss`.
    """
    games = await owner.history(MAX_LISTED_GAMES) if lost else ()
    told = []
    for seat in lost:
        Seats().forget(owner.house.urls, seat.token, seat.room)
        ended = next((game for game in games if game.room == seat.room), None)
        told.append(describe_loss(seat.room, ended, owner.player, replay_from=replay_from))
    return told
