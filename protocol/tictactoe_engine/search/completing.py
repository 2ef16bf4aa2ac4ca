"""Finds the places where one more stone completes a line, for all places on a padded bitboard at once.

A stone on a place completes a line if the runs of stones on both sides of the place add up to at least `line - 1`, or
for exact lines to exactly `line - 1`. Searches spend most of their time here, so the common lengths are unrolled.
"""

from __future__ import annotations

from collections.abc import Callable

Completing = Callable[[int], int]
"""Returns the places where one more stone completes a line; taken places and padding may be among them."""


def completing_of(line: int, steps: tuple[int, ...], *, exact: bool = False) -> Completing:
    """Return the function for lines of length `line`, which takes O(line).

    `steps` are the distances between neighbours in each direction, in bits.
    """
    if exact and line == 5:
        return lambda stones: _completing_five_exactly(stones, steps)
    if exact:
        return lambda stones: _completing_exactly(stones, steps, line)
    written_out = {3: _completing_three, 4: _completing_four, 5: _completing_five}.get(line)
    if written_out is not None:
        return lambda stones: written_out(stones, steps)
    return lambda stones: _completing_any(stones, steps, line)


def _completing_three(stones: int, steps: tuple[int, ...]) -> int:
    found = 0
    for step in steps:
        before, after = stones << step, stones >> step
        found |= (before & stones) << step | (after & stones) >> step | before & after
    return found


def _completing_four(stones: int, steps: tuple[int, ...]) -> int:
    found = 0
    for step in steps:
        before, after = stones << step, stones >> step
        before_two, after_two = (before & stones) << step, (after & stones) >> step
        found |= (before_two & stones) << step | (after_two & stones) >> step | before_two & after | before & after_two
    return found


def _completing_five(stones: int, steps: tuple[int, ...]) -> int:
    found = 0
    for step in steps:
        before, after = stones << step, stones >> step
        before_two, after_two = (before & stones) << step, (after & stones) >> step
        before_three, after_three = (before_two & stones) << step, (after_two & stones) >> step
        found |= (before_three & stones) << step | (after_three & stones) >> step
        found |= before_three & after | before_two & after_two | before & after_three
    return found


def _completing_any(stones: int, steps: tuple[int, ...], line: int) -> int:
    found = 0
    for step in steps:
        before, after = [run := stones << step], [back := stones >> step]
        for _ in range(line - 2):
            run, back = (run & stones) << step, (back & stones) >> step
            before.append(run)
            after.append(back)
        found |= run | back
        for length in range(line - 2):
            found |= before[length] & after[line - 3 - length]
    return found


def _completing_five_exactly(stones: int, steps: tuple[int, ...]) -> int:
    found = 0
    for step in steps:
        before, after = stones << step, stones >> step
        before_two, after_two = (before & stones) << step, (after & stones) >> step
        before_three, after_three = (before_two & stones) << step, (after_two & stones) >> step
        before_four, after_four = (before_three & stones) << step, (after_three & stones) >> step
        five = before_four | after_four | before_three & after | before_two & after_two | before & after_three
        if five:  # rarely true, so the test for longer lines costs little
            longer = (before_four & stones) << step | (after_four & stones) >> step
            longer |= before_four & after | before_three & after_two | before_two & after_three | before & after_four
            found |= five & ~longer
    return found


def _completing_exactly(stones: int, steps: tuple[int, ...], line: int) -> int:
    found = 0
    for step in steps:
        before, after = stones << step, stones >> step
        # Item i of each list: the places next to a run of exactly i stones on that side.
        left, right = [~before], [~after]
        for _ in range(line - 1):
            further, beyond = (before & stones) << step, (after & stones) >> step
            left.append(before & ~further)
            right.append(after & ~beyond)
            before, after = further, beyond
        for length in range(line):
            found |= left[length] & right[line - 1 - length]
    return found
