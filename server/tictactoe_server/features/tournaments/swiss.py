"""Swiss tournaments: players with equal points meet, but no two players meet twice.

Every possible pair has a cost, and a round consists of the pairs with the least total cost. The cost counts, from the
greatest weight to the least:

1. the same mark three times in a row, or three more games with one mark than with the other
2. the square of the difference in points
3. a mark that the player should not have next
4. how far the pair is from the ideal, which pairs the first half of a group with equal points with its second half

With an odd number of players, one player has a bye, which gives a point. No player gets a second point without a game;
of the others, those with the fewest points come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tictactoe_protocol.events import EntrantStatus
from tictactoe_server.features.tournaments.event import Event, Pairing, pair_up

BAD_MARKS: Final = 10**15  # cost of marks that are avoided if at all possible
POINTS: Final = 10**8  # multiplied by the square of the difference in half points
MARKS: Final = 10**5  # multiplied by the sum of the two mark costs
_FORBIDDEN: Final = 100  # mark cost of an avoided mark; greater than any other mark cost


class Player(NamedTuple):
    """A player's record in the tournament.

    Attributes:
        met: The ids of all opponents so far.
        was_free: Whether the player has scored a point without a game.
        marks: The marks in the games played, in order.
    """

    id: str
    halves: int
    met: frozenset[str]
    was_free: bool
    marks: str

    def mark_cost(self, mark: str) -> int:
        """Return the cost of giving the player this mark in the next game; 0 is the best."""
        more = sum(1 if had == mark else -1 for had in self.marks)
        if more > 1 or self.marks.endswith(2 * mark):
            return _FORBIDDEN
        return 2 * max(0, more) + self.marks.endswith(mark)


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the pairings of a round, or nothing if some players would have to meet again.

    If the players with the status ``in`` cannot be paired among themselves, players with ``away`` are paired, too.
    """
    marks = event.marks
    pairs = pair(players_of(event, "in"), marks) or pair(players_of(event, "in", "away"), marks)
    seated = []
    for match, (one, other) in enumerate(pairs, 1):
        ids = (one.id, other.id if other else "")
        seated.append(ids if other is None or is_first(one, other, marks, match) else ids[::-1])
    return pair_up(round, seated, marks, bye=marks[0])


def players_of(event: Event, *statuses: EntrantStatus) -> list[Player]:
    """Return the records of the entrants with one of these statuses: best first, then by number."""
    players = []
    for entrant in event.field:
        if entrant.status in statuses:
            had = event.pairings_of(entrant.player)
            met = frozenset(player for meeting in had for player in meeting.players.values()) - {entrant.player}
            marks = "".join(meeting.mark_of(entrant.player) or "" for meeting in had if meeting.by == "game")
            halves = sum(meeting.result_for(entrant.player) for meeting in had)
            was_free = any(meeting.by not in ("", "game") and meeting.winner == entrant.player for meeting in had)
            players.append(Player(entrant.player, halves, met, was_free, marks))
    return sorted(players, key=lambda player: -player.halves)


def pair(players: Sequence[Player], marks: str) -> list[tuple[Player, Player | None]]:
    """Return the pairs with the least total cost, best players first, or an empty list if they cannot be paired.

    The second player is None for a bye.
    """
    partners = match_all(costs_of(players, marks)) if len(players) > 1 else None
    if partners is None:
        return []
    pairs = [(one, partners[one]) for one in range(len(players)) if one < partners[one]]
    return [(players[one], players[other] if other < len(players) else None) for one, other in pairs]


def match_all(costs: Mapping[int, Mapping[int, int]]) -> dict[int, int] | None:
    """Return each vertex's partner in a perfect matching of minimum cost, or None if there is no perfect matching.

    Args:
        costs: The cost of every edge, in both directions, by vertex. Vertices are numbered from 0.

    >>> costs = {0: {1: 1, 2: 5, 3: 9}, 1: {0: 1, 2: 9, 3: 5}, 2: {0: 5, 1: 9, 3: 40}, 3: {0: 9, 1: 5, 2: 40}}
    >>> match_all(costs) == {0: 2, 1: 3, 2: 0, 3: 1}
    True
    """
    import rustworkx  # only a server with a Swiss needs it

    graph = rustworkx.PyGraph[int, int]()
    graph.add_nodes_from(range(len(costs)))
    graph.add_edges_from([(one, other, cost) for one in costs for other, cost in costs[one].items() if one < other])
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int.__neg__)
    partners = dict(pairs) | {other: one for one, other in pairs}
    return partners if len(partners) == len(costs) else None


def costs_of(players: Sequence[Player], marks: str) -> dict[int, dict[int, int]]:
    """Return the cost of each allowed pair, by the two players' indices.

    With an odd number of players, the index after the last player represents the bye.
    """
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
    """Return True if the higher-ranked player `one` gets the first mark.

    If both ways cost the same, the first mark goes to the higher-ranked player in every other pair.
    """
    first, second = tuple(marks)
    straight, crossed = one.mark_cost(first) + other.mark_cost(second), one.mark_cost(second) + other.mark_cost(first)
    return match % 2 == 1 if straight == crossed else straight < crossed
