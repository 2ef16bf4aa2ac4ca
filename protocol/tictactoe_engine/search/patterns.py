"""Windows: how many stones one side has in each place where a line may still come about.

A window is a line's worth of neighbouring places. All windows of a direction are counted at once: bit `i` of a
level says that the window which starts at place `i` is open and holds at least so many stones. From the counts come
the estimate of a position, the moves that are worth a look on a large board, and those that make threats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tictactoe_engine.search.grid import Grid, bits_of

_TOP_WEIGHTS: Final = (96, 24, 6, 1)
"""What a window is worth that lacks 1, 2, 3 or 4 stones; windows that lack more count for nothing."""

_TEMPO: Final = 8
"""What it is worth to be the next to move."""


class Patterns:
    """Window counts on one grid; made once for each search."""

    __slots__ = ("_gains", "_grid", "_sign", "_span")

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._span = min(grid.line - 1, len(_TOP_WEIGHTS))
        weights = (*_TOP_WEIGHTS[: self._span], 0)
        # The level of `line - 1 - i` stones adds what it is worth more than the level below it.
        self._gains = tuple(weights[i] - weights[i + 1] for i in range(self._span))
        self._sign = -1 if grid.misere else 1

    def levels(self, own: int, free: int, step: int) -> list[int]:
        """Return the windows with at least 0, 1, … `line` stones of `own` and no place that is neither own nor free.

        Of exact lines those that would be too long, as own stones touch them, are left out.
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
        """Return the worth of the position to `own`, who moves next; 0 is even.

        Windows count by the stones they hold; with misère each of them is a burden.
        """
        free = self._grid.cells & ~(own | other)
        return self._sign * (self._worth(own, free) - self._worth(other, free) + _TEMPO)

    def estimate_of_many(self, stones: Sequence[int], player: int) -> int:
        """Return the worth of the position to the first of `stones` against the strongest other; `player` moves."""
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
        """Return the free places where one more stone threatens to complete a line."""
        wanted = self._grid.line - 2
        makers = 0
        for step in self._grid.steps:
            windows = self.levels(own, free, step)[wanted]
            if windows:
                once, _ = self._spread(windows, step)
                makers |= once
        return makers & free

    def candidates(self, own: int, others: Sequence[int], moves: int, count: int) -> list[int]:
        """Return up to `count` of `moves`, the most promising first: those that lengthen own or stop other lines.

        Every place adds up the windows through it in bit-sliced counters, one plane of bits for each power of two,
        so that all places are scored together.
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
        """Return the places that at least one, and at least two, of the windows contain."""
        once = twice = 0
        for index in range(self._grid.line):
            shifted = windows << index * step
            twice |= once & shifted
            once |= shifted
        return once, twice


@lru_cache(maxsize=64)
def tiers_of(grid: Grid) -> tuple[int, ...]:
    """Return the cells in groups that are equally good to have, the best first.

    Those with more lines through them come first, and of equals the more central.
    """
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
            distance = _from_centre(grid, bit)
            by_distance[distance] = by_distance.get(distance, 0) | bit
        tiers += [by_distance[distance] for distance in sorted(by_distance)]
    return tuple(tiers)


@lru_cache(maxsize=64)
def places_by_weight(grid: Grid) -> tuple[int, ...]:
    """Return the bit of every cell, those of better tiers first."""
    return tuple(bit for tier in tiers_of(grid) for bit in bits_of(tier))


def most_central(grid: Grid, moves: int) -> int:
    """Return those of the moves, of which there are some, whose cells are the best to have."""
    return next(tier & moves for tier in tiers_of(grid) if tier & moves)


def _from_centre(grid: Grid, bit: int) -> int:
    row, column = divmod(bit.bit_length() - 1, grid.stride)
    return (2 * row - grid.rows + 1) ** 2 + (2 * column - grid.columns + 1) ** 2


def _add(planes: list[int], places: int, power: int) -> None:
    """Add two to the `power` to the counter of each of `places`."""
    while places:
        while len(planes) <= power:
            planes.append(0)
        carried = planes[power] & places
        planes[power] ^= places
        places = carried
        power += 1


def _split(planes: list[int], places: int) -> list[int]:
    """Return the places in groups whose counters are equal, those of the highest first."""
    groups = [places]
    for plane in reversed(planes):
        groups = [part for group in groups for part in (group & plane, group & ~plane) if part]
    return groups


def _by_score(planes: list[int], moves: int, count: int) -> Iterator[int]:
    """Yield up to `count` moves in falling order of their counters, none whose counter is 0."""
    scored = 0
    for plane in planes:
        scored |= plane
    for group in _split(planes, moves):
        for bit in bits_of(group & scored):
            yield bit
            count -= 1
            if not count:
                return
