"""The requests, replies and pushes for ladders and rated games. See `docs/reference/protocol/ratings.md`."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import PushFields, RequestFields, RulesChoice, ShortText

CLOSINGS: Final = ("undecided", "advantage")
MAX_LISTED_PLAYERS: Final = 100

ClosingReason = Annotated[str, Meta(examples=list(CLOSINGS))]


class Ratings(RequestFields, frozen=True, tag="ratings"):
    """Asks for a part of a ladder.

    Attributes:
        around: The id of a player, for the rows around that player.
        top: The number of best players, if `around` is left out.
    """

    rules: RulesChoice
    around: ShortText | UnsetType = UNSET
    top: Annotated[int, Meta(ge=1, le=MAX_LISTED_PLAYERS)] | UnsetType = UNSET


class Profile(RequestFields, frozen=True, tag="profile"):
    """Asks for the ladders and rated games of a player, given by id or claimed name."""

    player: ShortText


RatingRequest = Ratings | Profile


class LadderRow(Struct, frozen=True):
    """A row of a leaderboard.

    Attributes:
        place: The place, or None if the rating is provisional; such rows are below all others.
        trend: The change of the rating over the last ten games.
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
        figure: For ``undecided``, how many of the last `of` games were decided; for ``advantage``, the advantage of the
            first move in rating points after `of` games.
    """

    reason: ClosingReason
    figure: int
    of: int


class LadderState(Struct, frozen=True, omit_defaults=True):
    """A part of a ladder.

    Attributes:
        rules: The key of the ladder, which is the name of its rules.
        games: The number of rated games.
        advantage: The advantage of the first move in rating points.
        decided: The share of the last 200 games that were not drawn, from 0 to 1.
        closed: Why the ladder has stopped rating games, if it has.
        text: In an answer, the figures and the reason for closing as sentences in the language of `Hello`.
    """

    rules: str
    rows: tuple[LadderRow, ...]
    games: int
    advantage: float
    decided: float
    closed: LadderClosing | UnsetType = UNSET
    text: tuple[str, ...] = ()


class LadderStanding(Struct, frozen=True, omit_defaults=True):
    """A player's record in one ladder.

    Attributes:
        rules: The key of the ladder, which is the name of its rules.
        provisional: Whether the rating is uncertain; clients show it with a question mark.
        place: The player's place on the leaderboard, if there is one.
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
    """The results of the player who sent the request against another player.

    Attributes:
        last: The end of their newest game, in ms since 1970.
    """

    wins: int
    draws: int
    losses: int
    last: int


class RatingChange(Struct, frozen=True, omit_defaults=True):
    """The change of a player's rating by a game.

    Attributes:
        before: The rating before the game.
        after: The rating after the game.
        expected: The expected score before the game, from 0 to 1.
        provisional: Whether the rating after the game is provisional; see `LadderStanding`.
    """

    before: float
    after: float
    expected: float
    provisional: bool = False


class Rated(PushFields, frozen=True, tag="rated"):
    """A game was rated.

    Attributes:
        rules: The key of the ladder.
        players: The changes of the players' ratings, by player id.
    """

    room: str
    game: int
    rules: str
    players: dict[str, RatingChange]
