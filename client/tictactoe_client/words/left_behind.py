"""What is said of a seat that an earlier run left: that its game waits, or what has become of it."""

from __future__ import annotations

from tictactoe_client.wire.address import Address
from tictactoe_client.words.listing import describe_outcome
from tictactoe_client.words.program import own_command
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame


def describe_way_back(room: str, address: Address) -> str:
    """Return that a game waits, and the command that takes its seat up again."""
    return f"You have a game in {room}: {own_command('join', address.word_for(room))}"


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
