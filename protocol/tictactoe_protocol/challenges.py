"""Challenges to another player, and blocks: requests and pushes.

See `docs/protocol/challenges.md`.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import (
    ClockFields,
    ClockTerms,
    PushFields,
    RequestFields,
    RulesChoice,
    RulesState,
    ShortText,
)

CHALLENGE_MS: Final = 60_000
"""How long a challenge can be accepted."""

MAX_CHALLENGES: Final = 5
MAX_RECEIVED: Final = 20
MAX_BLOCKS: Final = 200
"""The most open challenges by one player and to one player, and the most players that a player can block."""

CHALLENGE_ENDS: Final = ("accepted", "declined", "withdrawn", "expired", "failed")

ChallengeEnd = Annotated[str, Meta(examples=list(CHALLENGE_ENDS))]


class Challenge(RequestFields, frozen=True, tag="challenge"):
    """Asks a player for a game. The challenger plays the mark `side`, or a random mark."""

    player: ShortText
    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None
    rated: bool = False
    side: ShortText | UnsetType = UNSET


class Answer(RequestFields, frozen=True, tag="answer"):
    """Accepts or declines a challenge; the challenger withdraws it with `accept` false."""

    challenge: ShortText
    accept: bool


class Block(RequestFields, frozen=True, tag="block"):
    """Blocks a player, whose challenges and chat are hidden, or ends the block; without a player it lists blocks.

    Attributes:
        strangers: True blocks challenges from people whom the sender has not played, false allows them again.
    """

    player: ShortText | UnsetType = UNSET
    on: bool = True
    strangers: bool | UnsetType = UNSET


ChallengeRequest = Challenge | Answer | Block


class OpenChallenge(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A challenge with its id, from `player` to the player `to`; it can be accepted for `expires_ms`.

    Without a `side` the marks are random.
    """

    challenge: str
    player: str
    name: str
    to: str
    rules: RulesState
    clock: ClockTerms | None
    rated: bool = False
    side: str | UnsetType = UNSET
    expires_ms: int


class Challenged(OpenChallenge, frozen=True, tag_field="type", tag="challenge"):
    """A new challenge to this player, or made by this player on another connection."""


class ChallengeOver(PushFields, frozen=True, tag="challenge_over", omit_defaults=True):
    """The end of a challenge made by or to this player; `room` is where both have a seat if it was accepted."""

    challenge: str
    how: ChallengeEnd
    room: str | UnsetType = UNSET


ChallengePush = Challenged | ChallengeOver
