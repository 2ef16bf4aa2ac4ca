"""Challenges to one player or to all, and whom one wants to hear nothing of: what is asked, and what is sent.

See `docs/protocol/challenges.md`.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import ClockFields, ClockTerms, PushFields, RequestFields, RulesChoice, RulesState

CHALLENGE_MS: Final = 60_000
SEEK_MS: Final = 600_000
"""For how long a challenge to one player, and one to all, can be accepted."""

MAX_CHALLENGES: Final = 5
MAX_BLOCKS: Final = 200
"""How many challenges of one player may be open at a time, and how many others one player may block."""

CHALLENGE_ENDS: Final = ("accepted", "declined", "withdrawn", "expired", "failed")

Name = Annotated[str, Meta(min_length=1, max_length=64)]
Within = Annotated[int, Meta(ge=50, le=500)]
ChallengeEnd = Annotated[str, Meta(examples=list(CHALLENGE_ENDS))]


class Challenge(RequestFields, frozen=True, tag="challenge"):
    """Asks one player for a game, in which the challenger plays `side`, a mark, or one that is drawn."""

    player: Name
    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None
    rated: bool = False
    side: Name | UnsetType = UNSET


class Answer(RequestFields, frozen=True, tag="answer"):
    """Accepts a challenge or declines it; who has made it takes it back by not accepting it."""

    challenge: Name
    accept: bool


class Seek(RequestFields, frozen=True, tag="seek"):
    """Asks all in the lobby for a game, where it is rated those whose rating is `within` so many points of one's own.

    The player's seek before that ends.
    """

    rules: RulesChoice | UnsetType = UNSET
    clock: ClockFields | None = None
    rated: bool = False
    within: Within | UnsetType = UNSET


class Block(RequestFields, frozen=True, tag="block"):
    """Hides the challenges and the chat of a player from now on, or shows them again; without one it only lists."""

    player: Name | UnsetType = UNSET
    on: bool = True


ChallengeRequest = Challenge | Answer | Seek | Block


class OpenChallenge(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A challenge by its id, of whom it is, and `to` whom, left out for all; it can be accepted for `expires_ms`.

    Where people are hid, that of one to all has neither `player` nor `name`. Without a `side` the marks are drawn.
    """

    challenge: str
    player: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    to: str | UnsetType = UNSET
    rules: RulesState
    clock: ClockTerms | None
    rated: bool = False
    side: str | UnsetType = UNSET
    within: int | UnsetType = UNSET
    expires_ms: int


class Challenged(OpenChallenge, frozen=True, tag_field="type", tag="challenge"):
    """A challenge to this player, or one of their own that was made at another connection."""


class ChallengeOver(PushFields, frozen=True, tag="challenge_over", omit_defaults=True):
    """A challenge of this player, or to this player, is over; `room` is where both have a seat if it was accepted."""

    challenge: str
    how: ChallengeEnd
    room: str | UnsetType = UNSET


class SeekChanges(PushFields, frozen=True, tag="seeks"):
    """What changed in the list of challenges to all since the last of these: new ones, and the ids of those over."""

    changed: tuple[OpenChallenge, ...]
    closed: tuple[str, ...]


ChallengePush = Challenged | ChallengeOver | SeekChanges
