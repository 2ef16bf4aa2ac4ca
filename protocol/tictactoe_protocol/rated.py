"""Ladders and rated games: requests, answers and pushes. See `docs/protocol/ratings.md`."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import PushFields, RequestFields, RulesChoice, ShortText

CLOSINGS: Final = ("undecided", "advantage")
MAX_LISTED_PLAYERS: Final = 100

ClosingReason = Annotated[str, Meta(examples=list(CLOSINGS))]


class Ratings(RequestFields, frozen=True, tag="ratings"):
    """Asks for a ladder: its best `top` players, or the rows around the player `around`."""

    rules: RulesChoice
    around: ShortText | UnsetType = UNSET
    top: Annotated[int, Meta(ge=1, le=MAX_LISTED_PLAYERS)] | UnsetType = UNSET


class Profile(RequestFields, frozen=True, tag="profile"):
    """Asks for a player's ladders and rated games, by id or claimed name."""

    player: ShortText


RatingRequest = Ratings | Profile


class LadderRow(Struct, frozen=True):
    """One row of a leaderboard; `trend` is the change of the rating over the last ten games.

    Attributes:
        place: None while the rating is provisional; such rows stand below the others.
    """

    place: int | None
    player: str
    name: str
    rating: float
    deviation: float
    games: int
    trend: float


class LadderClosing(Struct, frozen=True):
    """Why a ladder has stopped rating games.

    Attributes:
        figure: How many of the last `of` games were decided, or the advantage in rating points after `of` games.
    """

    reason: ClosingReason
    figure: int
    of: int


class LadderState(Struct, frozen=True, omit_defaults=True):
    """A part of a ladder.

    Attributes:
        rules: The ladder's key, the name of the rules.
        games: The number of rated games.
        advantage: The value of the first move in rating points.
        decided: The share of the last 200 games that were not drawn.
        closed: Why the ladder has stopped rating games, if it has.
    """

    rules: str
    rows: tuple[LadderRow, ...]
    games: int
    advantage: float
    decided: float
    closed: LadderClosing | UnsetType = UNSET


class LadderStanding(Struct, frozen=True, omit_defaults=True):
    """A player's record in one ladder.

    Attributes:
        rules: The ladder's key, the name of the rules.
        provisional: Whether the rating is uncertain; clients show it with a question mark.
        place: Only if the player has a place on the leaderboard.
    """

    rules: str
    wins: int
    draws: int
    losses: int
    rating: float
    deviation: float
    provisional: bool = False
    place: int | UnsetType = UNSET


class Encounters(Struct, frozen=True):
    """The asking player's results against another player; `last` is the end of the newest game in ms since 1970."""

    wins: int
    draws: int
    losses: int
    last: int


class RatingChange(Struct, frozen=True, omit_defaults=True):
    """A player's rating before and after a game, and the expected score from 0 to 1.

    The new rating may be `provisional`; see `LadderStanding`.
    """

    before: float
    after: float
    expected: float
    provisional: bool = False


class Rated(PushFields, frozen=True, tag="rated"):
    """A game of a room was rated in the ladder of `rules`; `players` has the changes by player id."""

    room: str
    game: int
    rules: str
    players: dict[str, RatingChange]
