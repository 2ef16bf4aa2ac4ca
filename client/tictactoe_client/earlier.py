"""What earlier runs left behind: seats that wait, and games that ended without us."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError
from tictactoe_client.session import Session
from tictactoe_client.text.lobby import describe_loss
from tictactoe_protocol import MAX_LISTED_GAMES


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
