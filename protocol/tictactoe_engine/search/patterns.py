"""Counts the stones of one side in windows: runs of `line` places that could become a line.

All windows in a direction are counted at once: bit `i` of level `n` is set if the window that starts at place `i` has
no stone of another side and at least `n` stones of this side. The counts give the estimate of a position, the candidate
moves on large boards, and the moves that make threats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tictactoe_engine.search.grid import Grid, bits_of

_TOP_WEIGHTS: Final = (96, 24, 6, 1)
"""The value of a window that lacks 1, 2, 3 or 4 stones to a line; other windows count 0."""

_TEMPO: Final = 8
"""The value of being the side to move."""


class Patterns:
    """Counts windows on one grid; created once for each search."""

    __slots__ = ("_gains", "_grid", "_sign", "_span")

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._span = min(grid.line - 1, len(_TOP_WEIGHTS))
        weights = (*_TOP_WEIGHTS[: self._span], 0)
        # A window with n stones is in all levels up to n, so each level adds its difference from the level below.
        self._gains = tuple(weights[i] - weights[i + 1] for i in range(self._span))
        self._sign = -1 if grid.misere else 1

    def levels(self, own: int, free: int, step: int) -> list[int]:
        """Return the windows of own and free places with at least 0, 1, … `line` own stones, as a list of bitboards.

        With exact lines, windows with an own stone at either end are left out, because their lines would be too long.
        """
        line = self._grid.line
        levels = [own | free, *([0] * line)]
        open_windows = levels[0]
        for index in range(line):
            shifted = own >> index * step
            if index:
                open_windows &= levels[0] >> index * step
            for level in range(min(index + 1, line), 1, -1):
                levels[level] |= levels[level - 1] & shifted
            levels[1] |= shifted
        if self._grid.exact:
            open_windows &= ~(own << step | own >> line * step)
        return [open_windows, *(level & open_windows for level in levels[1:])]

    def estimate(self, own: int, other: int) -> int:
        """Return the estimate for the side to move, whose stones are `own`; 0 is even.

        With misère, windows count against their side.
        """
        free = self._grid.cells & ~(own | other)
        return self._sign * (self._worth(own, free) - self._worth(other, free) + _TEMPO)

    def estimate_of_many(self, stones: Sequence[int], player: int) -> int:
        """Return the estimate for the first player against the strongest other player.

        Args:
            stones: The stones of each player.
            player: The index of the player to move.
        """
        free = self._grid.cells
        for bitboard in stones:
            free &= ~bitboard
        worths = [self._worth(bitboard, free) for bitboard in stones]
        worths[player] += _TEMPO
        return worths[0] - max(worths[1:])

    def _worth(self, own: int, free: int) -> int:
        top = self._grid.line - 1
        worth = 0
        for step in self._grid.steps:
            levels = self.levels(own, free, step)
            for lacking, gain in enumerate(self._gains):
                worth += gain * levels[top - lacking].bit_count()
        return worth

    def threat_makers(self, own: int, free: int) -> int:
        """Return the free places where a stone makes a threat to complete a line next."""
        wanted = self._grid.line - 2
        makers = 0
        for step in self._grid.steps:
            windows = self.levels(own, free, step)[wanted]
            if windows:
                once, _ = self._spread(windows, step)
                makers |= once
        return makers & free

    def candidates(self, own: int, others: Sequence[int], moves: int, count: int) -> list[int]:
        """Return up to `count` of `moves` that extend own lines or stop other players' lines, the most promising first.

        The score of a move is a sum over the windows that contain it. It is computed for all places at once in
        bit-sliced counters: plane `i` holds the bit for 2 ** `i` of every counter.
        """
        planes: list[int] = []
        free = self._grid.cells & ~own
        for other in others:
            free &= ~other
        for stones in (own, *others):
            for step in self._grid.steps:
                self._add_direction(planes, self.levels(stones, free, step), step, is_own=stones is own)
        ranked = list(_by_score(planes, moves, count))
        if len(ranked) < count:
            rest = moves & ~sum(ranked)
            ranked += [bit for bit in places_by_weight(self._grid) if bit & rest][: count - len(ranked)]
        return ranked

    def _add_direction(self, planes: list[int], levels: list[int], step: int, *, is_own: bool) -> None:
        top = self._grid.line - 2
        for lacking in range(min(3, top)):
            windows = levels[top - lacking]
            if not windows:
                continue
            once, twice = self._spread(windows, step)
            power = 5 - 2 * lacking - (not is_own)
            _add(planes, once, power)
            _add(planes, twice, power)

    def _spread(self, windows: int, step: int) -> tuple[int, int]:
        """Return the places in at least one of `windows`, and the places in at least two of them."""
        once = twice = 0
        for index in range(self._grid.line):
            shifted = windows << index * step
            twice |= once & shifted
            once |= shifted
        return once, twice


@lru_cache(maxsize=64)
def tiers_of(grid: Grid) -> tuple[int, ...]:
    """Return the cells in groups of equal value, best first: by the number of lines through a cell, then centrality."""
    patterns = Patterns(grid)
    planes: list[int] = []
    for step in grid.steps:
        windows = patterns.levels(0, grid.cells, step)[0]
        for index in range(grid.line):
            _add(planes, windows << index * step, 0)
    tiers = []
    for group in _split(planes, grid.cells):
        by_distance: dict[int, int] = {}
        for bit in bits_of(group):
            row, column = divmod(bit.bit_length() - 1, grid.stride)
            distance = (2 * row - grid.rows + 1) ** 2 + (2 * column - grid.columns + 1) ** 2
            by_distance[distance] = by_distance.get(distance, 0) | bit
        tiers += [by_distance[distance] for distance in sorted(by_distance)]
    return tuple(tiers)


@lru_cache(maxsize=64)
def places_by_weight(grid: Grid) -> tuple[int, ...]:
    """Return the bit of every cell, in the order of `tiers_of`."""
    return tuple(bit for tier in tiers_of(grid) for bit in bits_of(tier))


def most_central(grid: Grid, moves: int) -> int:
    """Return the moves in the best tier that contains any of `moves`, which must not be empty."""
    return next(tier & moves for tier in tiers_of(grid) if tier & moves)


def _add(planes: list[int], places: int, power: int) -> None:
    """Add 2 ** `power` to the counter of each place in `places`."""
    while places:
        while len(planes) <= power:
            planes.append(0)
        carried = planes[power] & places
        planes[power] ^= places
        places = carried
        power += 1


def _split(planes: list[int], places: int) -> list[int]:
    """Return `places` in groups with equal counters, the highest counters first."""
    groups = [places]
    for plane in reversed(planes):
        groups = [part for group in groups for part in (group & plane, group & ~plane) if part]
    return groups


def _by_score(planes: list[int], moves: int, count: int) -> Iterator[int]:
    """Yield up to `count` moves, the highest counters first, without moves whose counter is 0."""
    scored = 0
    for plane in planes:
        scored |= plane
    for group in _split(planes, moves):
        for bit in bits_of(group & scored):
            yield bit
            count -= 1
            if not count:
                return
