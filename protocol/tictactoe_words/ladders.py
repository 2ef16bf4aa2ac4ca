"""Describes ladders, profiles and challenges in words, for all clients. Pure.

In every function, `viewer` is the id of the player who reads the text. The page's port of this module is
`web/ladders/words.js`; test vectors keep the two equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from tictactoe_protocol.challenges import CHALLENGE_ENDS, ChallengeOver, OpenChallenge
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.rated import CLOSINGS, LadderState, Rated, RatingChange
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.wording import describe_clock, describe_rules

MEASURED_GAMES: Final = 20
"""A ladder shows its statistics after this number of games."""

# -- ratings --------------------------------------------------------------------------------------------------------


def describe_rating(rating: float, deviation: float, *, is_provisional: bool = False) -> str:
    """Return a rating with the margin of its 95 % confidence interval, or a question mark if it is provisional."""
    return f"{round(rating)}?" if is_provisional else f"{round(rating)} ±{round(2 * deviation)}"


def describe_change(change: RatingChange, name: str = "") -> str:
    """Return a sentence about the change of a rating by a game. Without a `name`, the rating is the viewer's."""
    who = "other" if name else "you"
    whole, hundredths = divmod(round(change.expected * 100), 100)
    expected = say("decimal", whole=whole, hundredths=f"{hundredths:02}")
    rating, points = round(change.after), f"{round(change.after) - round(change.before):+}"
    after = f"{rating}?" if change.provisional else str(rating)
    return say(f"rated {who}", name=name, after=after, change=points, expected=expected)


def describe_rated(push: Rated, names: Mapping[str, str], viewer: str) -> list[str]:
    """Return a line for each player in a rated game, the viewer's line first.

    `names` are the names of the players by id.
    """
    rows = sorted(push.players.items(), key=lambda row: row[0] != viewer)
    return [describe_change(change, "" if id == viewer else clean_text(names.get(id, id))) for id, change in rows]


def describe_ladder(ladder: LadderState) -> list[str]:
    """Return sentences with the figures of a ladder and, if it is closed, the reason."""
    told = [say("ladder games", n=ladder.games)]
    if ladder.games >= MEASURED_GAMES:
        advantage, decided = round(ladder.advantage), round(ladder.decided * 100)
        told = [say("ladder measures", n=ladder.games, advantage=advantage, decided=decided)]
    if closed := ladder.closed or None:
        if closed.reason in CLOSINGS:
            told.append(say(f"ladder closed {closed.reason}", n=closed.figure, of=closed.of))
        else:
            told.append(clean_text(closed.reason))
    return told


def tabulate_ladder(ladder: LadderState) -> dict[str, tuple[str, ...]]:
    """Return the rows of a ladder by player id; the first row, under "", has the column titles."""
    titles = ("place", "player", "rating", "games", "trend")
    rows = {
        row.player: (
            "" if row.place is None else str(row.place),
            clean_text(row.name),
            describe_rating(row.rating, row.deviation, is_provisional=row.place is None),
            str(row.games),
            f"{round(row.trend):+}",
        )
        for row in ladder.rows
    }
    return {"": tuple(say(f"column {title}") for title in titles), **rows}


def tabulate_standings(profile: PlayerProfile) -> dict[str, tuple[str, ...]]:
    """Return a player's ladders by key; the first row, under "", has the column titles."""
    titles = ("rules", "rating", "place", "won", "drawn", "lost")
    rows = {}
    for one in profile.ladders:
        rating = describe_rating(one.rating, one.deviation, is_provisional=one.provisional)
        place = "" if one.place is UNSET else str(one.place)
        rows[one.rules] = (one.rules, rating, place, str(one.wins), str(one.draws), str(one.losses))
    return {"": tuple(say(f"column {title}") for title in titles), **rows}


def describe_meetings(profile: PlayerProfile) -> str:
    """Return a sentence with the viewer's results against the player, or "" if they have not met."""
    met = profile.with_
    if met is UNSET:
        return ""
    return say("ladder meetings", name=clean_text(profile.name), wins=met.wins, draws=met.draws, losses=met.losses)


def describe_terms(challenge: OpenChallenge) -> str:
    """Return the terms of a challenge in a few words: rules, clock, whether it is rated, and the challenger's mark."""
    told = [describe_rules(challenge.rules), describe_clock(challenge.clock)]
    if challenge.rated:
        told.append(say("rated"))
    if challenge.side is not UNSET:
        told.append(say("challenge side", name=clean_text(challenge.name), mark=challenge.side))
    return ", ".join(told)


def describe_challenge(challenge: OpenChallenge, viewer: str, other: str = "") -> str:
    """Return a sentence about a challenge; `other` is the name of the challenged player, or "" if it is unknown."""
    terms = describe_terms(challenge)
    if challenge.player == viewer:
        return say("challenge by you", name=clean_text(other) or say("challenge somebody"), terms=terms)
    return say("challenge you", name=clean_text(challenge.name), terms=terms)


def describe_challenge_end(over: ChallengeOver, challenge: OpenChallenge, viewer: str, other: str = "") -> str:
    """Return a sentence about the end of a challenge.

    If `over` does not say how it ended, as after a lost connection, the sentence only says that it is over. `other` is
    the name of the challenged player, or "" if it is unknown.
    """
    room, how = ("" if over.room is UNSET else over.room), over.how if over.how in CHALLENGE_ENDS else "over"
    if challenge.player == viewer:
        return say(f"challenge {how} asker", name=clean_text(other) or say("challenge somebody"), room=room)
    return say(f"challenge {how} asked", name=clean_text(challenge.name), room=room)
