"""What somebody does about challenges in whatever way they say it, and what is told of one that came. See `Choice`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tictactoe_client.input.intents import BadInput
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import Interrupted, Refused
from tictactoe_client.online.room import Room
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.challenges import OpenChallenge
from tictactoe_protocol.choices import describe_reason
from tictactoe_protocol.commands import Verb

_MOST_NAMED: Final = 10
"""For each name the server is asked."""


def find_asked(client: Client, *, or_own: bool = False) -> OpenChallenge | None:
    """Return the newest challenge that waits for us, else with `or_own` of ours; None where there is none."""
    newest = [*reversed(client.challenges.values())]
    asked = [one for one in newest if one.player != client.player] or (newest if or_own else [])
    return asked[0] if asked else None


async def carry_out(
    client: Client,
    verb: Verb,
    tell: Callable[[str], object],
    room: Room | None = None,
    *,
    proposed: Callable[[str], object] | None = None,
) -> None:
    """Challenge the opponent of this room again or another player, answer a challenge, or block somebody.

    A refusal is told, and a challenge of ours too, that by `proposed` where it is given. While we play nobody is
    challenged, and nothing is accepted.
    """
    try:
        if verb.kind == "block":
            asked = find_asked(client)
            name = verb.argument or (asked.name if asked else "") or ""
            blocks = await client.block(verb.argument or (asked.player if asked else "") or None)
            tell(say("blocked now", name=clean_text(name)) if name else await describe_blocks(client, blocks))
        elif verb.argument in ("accept", "decline"):
            await _answer(client, accept=verb.argument == "accept")
        elif client.plays:
            raise BadInput(say("challenge in game"))
        elif room is not None:
            await _propose(room, verb.argument).ask(client, proposed or tell)
    except (BadInput, Interrupted, Refused) as failed:
        tell(clean_text(failed.message))


async def describe_blocks(client: Client, blocks: Sequence[str]) -> str:
    """Return how many are blocked and whom, by the first of their names, or the ids where no name is known."""
    names = []
    for player in blocks[:_MOST_NAMED]:
        try:
            names.append(clean_text((await client.profile(player)).name))
        except Refused:
            names.append(player)
    more = ["..."] if len(blocks) > len(names) else []
    return f"{say('blocked many', n=len(blocks))} {', '.join([*names, *more])}" if names else say("blocked nobody")


async def _answer(client: Client, *, accept: bool) -> None:
    asked = find_asked(client, or_own=not accept)
    if asked is None:
        raise BadInput(say("refused no_offer challenge"))
    if accept and client.plays:
        raise BadInput(say("challenge in game"))
    await client.answer(asked.challenge, accept=accept)


def _propose(room: Room, name: str) -> Choice:
    """Return the challenge to the player of this name by the terms of a room, by default to who played with us there.

    They then play the mark that was ours. Raises `BadInput`.
    """
    state, mark, player = room.state, None, name
    if not name:
        if (reason := room.choices(0).find_reason("challenge")) is not None:
            raise BadInput(describe_reason(reason, state))
        others = ((mark, seat) for mark, seat in state.seats.items() if seat and mark != room.seat)
        mark, (player, name) = next((mark, (seat.player, seat.name)) for mark, seat in others)
    return Choice.like(room, "challenge", seat=mark, player=player, name=name)
