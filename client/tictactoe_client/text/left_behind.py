"""What is said of a seat that an earlier run left: that its game waits, or what has become of it."""

from __future__ import annotations

from tictactoe_client.online.address import Address
from tictactoe_client.text.listing import describe_outcome
from tictactoe_client.text.program import own_command
from tictactoe_client.text.wording import format_duration
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame


def describe_way_back(room: str, held_ms: int | None, address: Address) -> str:
    """Return that a game waits, for how long, and the command that takes its seat up again."""
    return f"You have a game in {name_with_time(room, held_ms)}: {own_command('join', address.word_for(room))}"


def name_with_time(room: str, held_ms: int | None) -> str:
    """Return a room with how long one's seat there is held, None where that is not known.

    >>> name_with_time("K7M4PQ", 31_000), name_with_time("K7M4PQ", 0), name_with_time("K7M4PQ", None)
    ('K7M4PQ (0:31 left)', 'K7M4PQ (yours until it is claimed)', 'K7M4PQ')
    """
    if held_ms is None:
        return room
    return f"{room} ({f'{format_duration(held_ms)} left' if held_ms else 'yours until it is claimed'})"


def describe_loss(room: str, ended: PastGame | None, viewer: str, replay_from: Address | None = None) -> str:
    """Return how the game of a room ended, or that it is closed where no game was played to an end there.

    With the server to replay it from, the command for that follows.
    """
    if ended is None:
        return f"Your room {room} is closed."
    told = f"Your game in {room} is over: {describe_outcome(ended, viewer)}."
    if replay_from is None:
        return told
    return f"{told} {own_command('replay', clean_text(ended.id), server=replay_from)}"
