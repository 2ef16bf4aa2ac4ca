"""The requests and pushes for challenging and blocking other players.

See `docs/reference/protocol/challenges.md`.
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
"""The time for accepting a challenge."""

MAX_CHALLENGES: Final = 5
MAX_RECEIVED: Final = 20
MAX_BLOCKS: Final = 200
"""The largest number of open challenges from a player, of open challenges to a player, and of players that a player
can block."""

CHALLENGE_ENDS: Final = ("accepted", "declined", "withdrawn", "expired")

ChallengeEnd = Annotated[str, Meta(examples=list(CHALLENGE_ENDS))]


class Challenge(RequestFields, frozen=True, tag="challenge"):
    """Challenges a player to a game.

    Attributes:
        player: The id or the claimed name of the challenged player.
        side: The mark for the challenger. By default, the marks are random.
    """

    player: ShortText
    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None
    rated: bool = False
    side: ShortText | UnsetType = UNSET


class Answer(RequestFields, frozen=True, tag="answer"):
    """Accepts or declines a challenge. If the challenger sends it with `accept` false, the challenge is withdrawn."""

    challenge: ShortText
    accept: bool


class Block(RequestFields, frozen=True, tag="block"):
    """Blocks a player, which hides their challenges and chat, or ends the block. Every reply lists the blocked players.

    Attributes:
        player: The id or the claimed name of the player; left out if no block changes.
        on: Whether to block the player or to end the block.
        strangers: True blocks challenges from players who were not in one of the sender's last 50 games, false allows
            them again.
    """

    player: ShortText | UnsetType = UNSET
    on: bool = True
    strangers: bool | UnsetType = UNSET


ChallengeRequest = Challenge | Answer | Block


class OpenChallenge(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A challenge that can still be accepted.

    Attributes:
        challenge: The id of the challenge.
        player: The id of the challenger.
        name: The name of the challenger.
        to: The id of the challenged player.
        side: The mark for the challenger; left out if the marks are random.
        expires_ms: The time left for accepting it.
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
    """A new challenge to the recipient, or from the recipient on another connection."""


class ChallengeOver(PushFields, frozen=True, tag="challenge_over", omit_defaults=True):
    """The end of a challenge from or to the recipient.

    Attributes:
        room: The room where both players have a seat, if the challenge was accepted.
    """

    challenge: str
    how: ChallengeEnd
    room: str | UnsetType = UNSET


ChallengePush = Challenged | ChallengeOver
