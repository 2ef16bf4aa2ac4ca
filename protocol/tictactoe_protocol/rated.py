"""Rated games: what is asked of ladders and players, and what the server says of them.

See `docs/protocol/ratings.md`.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import PushFields, RequestFields, RulesChoice

CLOSINGS: Final = ("undecided", "advantage")
MAX_LISTED_PLAYERS: Final = 100

PlayerText = Annotated[str, Meta(min_length=1, max_length=64)]
ClosingReason = Annotated[str, Meta(examples=list(CLOSINGS))]


class Ratings(RequestFields, frozen=True, tag="ratings"):
    """Asks for the ladder of some rules: its best `top` players, or the rows next to that of the player `around`."""

    rules: RulesChoice
    around: PlayerText | UnsetType = UNSET
    top: Annotated[int, Meta(ge=1, le=MAX_LISTED_PLAYERS)] | UnsetType = UNSET


class Profile(RequestFields, frozen=True, tag="profile"):
    """Asks what ladders and rated games tell of a player, by the public id."""

    player: PlayerText


RatingRequest = Ratings | Profile


class LadderRow(Struct, frozen=True):
    """One player of a leaderboard; `trend` is by how much the last ten games moved the rating."""

    place: int
    player: str
    name: str
    rating: float
    deviation: float
    games: int
    trend: float


class LadderClosing(Struct, frozen=True):
    """Why a ladder rates no more games: `figure` of the last `of` were decided, or the advantage after `of` games."""

    reason: ClosingReason
    figure: int
    of: int


class LadderState(Struct, frozen=True, omit_defaults=True):
    """Some `rows` of the ladder of rules, by its key, and what is known of it after so many `games`.

    `advantage` is what the first move is worth in points of a rating, `decided` which share of the last games, at most
    200, was not drawn. `closed` is there where no more games are rated.
    """

    rules: str
    rows: tuple[LadderRow, ...]
    games: int
    advantage: float
    decided: float
    closed: LadderClosing | UnsetType = UNSET


class LadderStanding(Struct, frozen=True, omit_defaults=True):
    """A player in the ladder of rules, by its key.

    Until the rating is known well enough to be shown, `to_rank` stands in place of `rating` and `deviation`: how many
    games of about how many there are. `place` is there for those on the leaderboard.
    """

    rules: str
    wins: int
    draws: int
    losses: int
    rating: float | UnsetType = UNSET
    deviation: float | UnsetType = UNSET
    to_rank: tuple[int, int] | UnsetType = UNSET
    place: int | UnsetType = UNSET


class Encounters(Struct, frozen=True):
    """How the last rated games with somebody ended, for who asks; `last` is when the newest did (ms since 1970)."""

    wins: int
    draws: int
    losses: int
    last: int


class RatingChange(Struct, frozen=True, omit_defaults=True):
    """A player's rating before and after a game, and how many points they were expected to get, from 0 to 1.

    With `to_rank` it is not known well enough to be shown; see `LadderStanding`.
    """

    before: float
    after: float
    expected: float
    to_rank: tuple[int, int] | UnsetType = UNSET


class Rated(PushFields, frozen=True, tag="rated"):
    """A game of a room was rated, in the ladder of `rules`: what that changed for its players, by their ids."""

    room: str
    game: int
    rules: str
    players: dict[str, RatingChange]
