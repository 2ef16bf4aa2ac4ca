"""Swiss tournaments: players with equal points meet, and never the same opponent twice.

Each pair has a cost, and a round is the pairing with the least sum. In order of weight: the same mark three times in a
row or a balance of marks beyond two, the square of the difference in points, an undue mark, and the distance from
pairing the first half of a score group with its second half. With an odd number of players, one gets a bye for a point:
preferably the lowest in the table who has not had a point without a game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from tictactoe_protocol.events import EntrantStatus
from tictactoe_server.features.tournaments.event import Event, Pairing, pair_up
from tictactoe_server.features.tournaments.matching import match_all

BAD_MARKS: Final = 10**15
POINTS: Final = 10**8  # times the square of the difference in half points
MARKS: Final = 10**5
_FORBIDDEN: Final = 100  # more than the cost of any allowed mark


class Player(NamedTuple):
    """A player's record: half points, opponents, whether there was a point without a game, marks in order."""

    id: str
    halves: int
    met: frozenset[str]
    was_free: bool
    marks: str

    def mark_cost(self, mark: str) -> int:
        """Return the cost of giving a player this mark next, 0 if it is due."""
        more = sum(1 if had == mark else -1 for had in self.marks)
        if more > 1 or self.marks.endswith(2 * mark):
            return _FORBIDDEN
        return 2 * max(0, more) + self.marks.endswith(mark)


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the pairings of a round, or none if every pairing would repeat one.

    Absent players are paired, too, if the present ones alone cannot be.
    """
    marks = event.marks
    pairs = pair(players_of(event, "in"), marks) or pair(players_of(event, "in", "away"), marks)
    seated = []
    for match, (one, other) in enumerate(pairs, 1):
        ids = (one.id, other.id if other else "")
        seated.append(ids if other is None or is_first(one, other, marks, match) else ids[::-1])
    return pair_up(round, seated, marks, bye=marks[0])


def players_of(event: Event, *statuses: EntrantStatus) -> list[Player]:
    """Return the entrants with one of the statuses, best first, then by number."""
    players = []
    for entrant in event.field:
        if entrant.status in statuses:
            had = event.pairings_of(entrant.player)
            met = frozenset(player for one in had for player in one.players.values()) - {entrant.player}
            marks = "".join(one.mark_of(entrant.player) or "" for one in had if one.by == "game")
            halves = sum(one.result_for(entrant.player) for one in had)
            was_free = any(one.by not in ("", "game") and one.winner == entrant.player for one in had)
            players.append(Player(entrant.player, halves, met, was_free, marks))
    return sorted(players, key=lambda player: -player.halves)


def pair(players: Sequence[Player], marks: str) -> list[tuple[Player, Player | None]]:
    """Return the pairing with the least sum of costs, best pairs first; empty if there is none."""
    partners = match_all(costs_of(players, marks)) if len(players) > 1 else None
    if partners is None:
        return []
    pairs = [(one, partners[one]) for one in range(len(players)) if one < partners[one]]
    return [(players[one], players[other] if other < len(players) else None) for one, other in pairs]


def costs_of(players: Sequence[Player], marks: str) -> dict[int, dict[int, int]]:
    """Return the cost of each allowed pair, by places from 0; with an odd number, the last place is the bye."""
    nobody = len(players)
    costs: dict[int, dict[int, int]] = {place: {} for place in range(nobody + nobody % 2)}
    wanted = [[player.mark_cost(mark) for mark in marks] for player in players]
    level = Counter(player.halves for player in players)
    for one, player in enumerate(players):
        half = level[player.halves] // 2
        for other in range(one + 1, nobody):
            if players[other].id in player.met:
                continue
            apart = player.halves - players[other].halves
            (first, second), (other_first, other_second) = wanted[one], wanted[other]
            unwanted = min(first + other_second, second + other_first)
            off = abs(other - one - half) if not apart else 0
            bad = BAD_MARKS if unwanted >= _FORBIDDEN else 0
            cost = bad + POINTS * apart * apart + MARKS * (unwanted % _FORBIDDEN) + off
            costs[one][other] = costs[other][one] = cost
        if nobody % 2 and not player.was_free:
            apart = player.halves - players[-1].halves
            costs[one][nobody] = costs[nobody][one] = POINTS * apart * apart + nobody - 1 - one
    return costs


def is_first(one: Player, other: Player, marks: str, match: int) -> bool:
    """Return whether the higher-ranked player gets the first mark; if both fit, it alternates by pairs."""
    first, second = tuple(marks)
    straight, crossed = one.mark_cost(first) + other.mark_cost(second), one.mark_cost(second) + other.mark_cost(first)
    return match % 2 == 1 if straight == crossed else straight < crossed
