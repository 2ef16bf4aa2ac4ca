"""Swiss: who has as many points plays each other, nobody meets the same opponent twice.

Each pair has a cost, and a round is the pairing with the least sum. What weighs more than all that follows together:
marks that would be the same three times in a row or off by more than two; points that are apart, by their square; marks
that somebody should not have again; and within a score group how far a pair is from first half against second half. Of
an odd number one is free for a point, who had none without a game before: the lower in the table, the rather.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from tictactoe_protocol.events import EntrantStatus
from tictactoe_server.events.event import Event, Pairing, pair_up
from tictactoe_server.events.matching import match_all

BAD_MARKS: Final = 10**15
POINTS: Final = 10**8  # for one half point of difference, by its square
MARKS: Final = 10**5
_FORBIDDEN: Final = 100  # more than what any marks that are allowed weigh


class Player(NamedTuple):
    """What somebody has had so far: half points, whom they met, whether a point without a game, which marks."""

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
    """Return the pairings of a round, none where every pairing would repeat one.

    They are of those who are in; only where these cannot be paired, those who are away have to play as well.
    """
    marks = event.marks
    pairs = pair(players_of(event, "in"), marks) or pair(players_of(event, "in", "away"), marks)
    seated = []
    for match, (one, other) in enumerate(pairs, 1):
        ids = (one.id, other.id if other else "")
        seated.append(ids if other is None or is_first(one, other, marks, match) else ids[::-1])
    return pair_up(round, seated, marks, bye=marks[0])


def players_of(event: Event, *statuses: EntrantStatus) -> list[Player]:
    """Return those who have such a status, the best first, in the order of their numbers where they are level."""
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
    """Return the pairing with the least sum of costs, its best pairs first, or nothing where there is none."""
    partners = match_all(costs_of(players, marks)) if len(players) > 1 else None
    if partners is None:
        return []
    pairs = [(one, partners[one]) for one in range(len(players)) if one < partners[one]]
    return [(players[one], players[other] if other < len(players) else None) for one, other in pairs]


def costs_of(players: Sequence[Player], marks: str) -> dict[int, dict[int, int]]:
    """Return the cost of each pair that is allowed, by places from 0; of an odd number the last place is nobody's."""
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
    """Tell whether the one who stands higher has the first mark; where both would do, they alternate by pairs."""
    first, second = tuple(marks)
    straight, crossed = one.mark_cost(first) + other.mark_cost(second), one.mark_cost(second) + other.mark_cost(first)
    return match % 2 == 1 if straight == crossed else straight < crossed
