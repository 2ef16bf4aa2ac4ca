"""Carries out commands about challenges, and fetches profiles and ladders."""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_client.input.intents import BadInput
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.part import require_field
from tictactoe_client.online.room import Room
from tictactoe_protocol import clean_text
from tictactoe_protocol.challenges import OpenChallenge
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.rated import LadderState, Profile, Ratings
from tictactoe_words.catalogue import say
from tictactoe_words.choices import describe_reason
from tictactoe_words.commands import Verb


def find_asked(client: Client, *, or_own: bool = False) -> OpenChallenge | None:
    """Return the newest challenge to us, or None; with `or_own`, fall back to our own newest challenge."""
    newest = [*reversed(client.challenges.open.values())]
    offers = [challenge for challenge in newest if challenge.player != client.player] or (newest if or_own else [])
    return offers[0] if offers else None


async def carry_out(client: Client, verb: Verb, room: Room | None = None) -> str:
    """Challenge the opponent in `room` or another player, answer a challenge, or block a player.

    Returns a line about a new challenge or about blocked players, or "". Raises `BadInput` (challenges cannot be made
    or accepted during our own game), `Refused` or `Interrupted`.
    """
    if verb.kind == "block":
        offer = find_asked(client)
        blocks = await client.challenges.block(offer.player if offer else None)
        return say("blocked now", name=clean_text(offer.name)) if offer else describe_blocks(blocks)
    if verb.argument in ("accept", "decline"):
        await _answer(client, accept=verb.argument == "accept")
    elif client.rooms.plays:
        raise BadInput(say("challenge in game"))
    elif room is not None:
        lines: list[str] = []
        await _propose(room, verb.argument).ask(client, lines.append)
        return " ".join(lines)
    return ""


def describe_blocks(blocks: Sequence[str]) -> str:
    return f"{say('blocked many', n=len(blocks))} {', '.join(blocks)}" if blocks else say("blocked nobody")


async def fetch_profile(client: Client, player: str) -> PlayerProfile:
    try:
        return require_field((await client.ask(Profile(player=player))).profile)
    except Refused as refused:
        if player == client.player and refused.path == "player":
            refused.message = say("ladder no games")
        raise


async def fetch_ladder(client: Client, rules: str) -> tuple[LadderState, LadderState]:
    asked = Ratings(rules=rules, around=client.player), Ratings(rules=rules)
    near, best = [require_field((await client.ask(each)).ladder) for each in asked]
    return near, best


async def _answer(client: Client, *, accept: bool) -> None:
    offer = find_asked(client, or_own=not accept)
    if offer is None:
        raise BadInput(say("refused no_offer challenge"))
    if accept and client.rooms.plays:
        raise BadInput(say("challenge in game"))
    await client.challenges.answer(offer.challenge, accept=accept)


def _propose(room: Room, name: str) -> Choice:
    """Return a challenge on a room's terms to the player `name`, by default to our opponent, with swapped marks."""
    state, mark, player = room.state, None, name
    if not name:
        if (reason := room.choices(0).find_reason("challenge")) is not None:
            raise BadInput(describe_reason(reason, state))
        others = ((mark, seat) for mark, seat in state.seats.items() if seat and mark != room.seat)
        mark, (player, name) = next((mark, (seat.player, seat.name)) for mark, seat in others)
    return Choice.like(room, "challenge", seat=mark, player=player, name=name)
