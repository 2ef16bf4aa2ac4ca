"""What an earlier run left behind on a server: a game that still waits for us, or one that ended while we were away.

The first is said at every start, the second once: its seat is then struck out. The file is `seats`'.
"""

from __future__ import annotations

from collections.abc import Iterable

from tictactoe_client.kept.seats import SavedSeat, Seats
from tictactoe_client.wire.address import Address
from tictactoe_client.wire.client import Client, connect
from tictactoe_client.wire.errors import ClientError
from tictactoe_client.words.listing import describe_outcome
from tictactoe_client.words.program import own_command
from tictactoe_protocol import MAX_LISTED_GAMES, clean_text


async def describe_left_behind(client: Client, timeout_seconds: float, *, but: str | None = None) -> list[str]:
    """Return a line for each game that an earlier run left behind, `but` the room that is being joined anyway.

    Asks the server only where there is such a seat; where it does not answer, nothing is said and nothing forgotten.
    """
    address = client.address
    saved = [seat for seat in Seats().left_behind(address.url) if seat.room != but]
    told: list[str] = []
    for token in dict.fromkeys(seat.token for seat in saved):
        seats = [seat for seat in saved if seat.token == token]
        try:
            if token == client.token:
                told += await _describe_seats(client, seats)
            else:
                async with connect(address, token=token, timeout_seconds=timeout_seconds) as owner:
                    told += await _describe_seats(owner, seats)
        except ClientError:
            continue
    return told


def describe_way_back(room: str, address: Address) -> str:
    """Return that a game waits, and the command that takes its seat up again."""
    return f"You have a game in {room}: {own_command('join', address.word_for(room))}"


async def _describe_seats(owner: Client, seats: Iterable[SavedSeat]) -> list[str]:
    """Return what has become of these seats, all of one player, and forget those that are gone."""
    held = {seat.room for seat in owner.welcome.rooms}
    told = []
    for seat in seats:
        if seat.room in held:
            told.append(describe_way_back(seat.room, owner.address))
            continue
        told.append(await _describe_loss(owner, seat.room))
        Seats().forget(owner.address.url, seat.token, seat.room)
    return told


async def _describe_loss(owner: Client, room: str) -> str:
    ended = next((game for game in await owner.history(MAX_LISTED_GAMES) if game.room == room), None)
    if ended is None:
        return f"Your room {room} is closed."
    replay = own_command("replay", clean_text(ended.id), server=owner.address)
    return f"Your game in {room} is over: {describe_outcome(ended, owner.player)}. {replay}"
