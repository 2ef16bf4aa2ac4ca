"""The pairings in a round robin, from the Berger tables in the FIDE Handbook, C.05 annex 1.

Players are numbered from 1. With an odd number of players, the player paired with the missing last number has a bye.
The first player in a pair has the first move.
"""

from __future__ import annotations


def berger_round(players: int, round: int) -> list[tuple[int, int]]:
    """Return the pairs in a round for an even number of players; rounds are numbered from 1.

    >>> berger_round(6, 2)
    [(6, 4), (5, 3), (1, 2)]
    """
    last, others = players, players - 1
    alone = next(number for number in range(1, players) if (2 * number - round - 1) % others == 0)
    pairs = [(alone, last) if round % 2 else (last, alone)]
    for step in range(1, players // 2):
        one, other = ((alone + way - 1) % others + 1 for way in (step, -step))
        low, high = min(one, other), max(one, other)
        pairs.append((low, high) if (low + high) % 2 else (high, low))
    return pairs


def berger_rounds(players: int, *, double: bool = False) -> int:
    """Return the number of rounds in a single or double round robin.

    >>> berger_rounds(5), berger_rounds(6, double=True)
    (5, 10)
    """
    return (players - 1 + players % 2) * (2 if double else 1)


def berger_pairs(players: int, round: int, *, double: bool = False) -> list[tuple[int, int | None]]:
    """Return the pairs in a round for any number of players. The opponent of a free player is None.

    The second half of a double round robin repeats the first half with the first move exchanged. The last two rounds of
    the first half change places, as the handbook advises, so that no player moves first three times in a row.

    >>> berger_pairs(3, 1)
    [(1, None), (2, 3)]
    """
    even = players + players % 2
    single = even - 1
    number = (round - 1) % single + 1
    if double and round <= single and single > 1 and number >= single - 1:
        number = 2 * single - 1 - number
    pairs = berger_round(even, number)
    if round > single:
        pairs = [(second, first) for first, second in pairs]
    return [
        (second, None) if first > players else (first, second if second <= players else None) for first, second in pairs
    ]
