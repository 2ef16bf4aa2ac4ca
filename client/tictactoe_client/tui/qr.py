"""A link as a code that a telephone can read; the library that makes it is imported with the first one."""

from __future__ import annotations

from functools import lru_cache

_QUIET_ZONE = 4


@lru_cache(maxsize=8)
def render_code(text: str) -> tuple[str, ...]:
    """Return a QR code as lines of half blocks, two modules high each, with its quiet zone; dark is foreground.

    To be drawn black on white, or it cannot be read.
    """
    import segno

    modules = [list(row) for row in segno.make(text, error="l", micro=False, boost_error=False).matrix]
    side = len(modules) + 2 * _QUIET_ZONE
    grid = [[0] * side for _ in range(side + side % 2)]
    for y, row in enumerate(modules):
        for x, module in enumerate(row):
            grid[y + _QUIET_ZONE][x + _QUIET_ZONE] = module
    blocks = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
    return tuple(
        "".join(blocks[bool(upper), bool(lower)] for upper, lower in zip(grid[y], grid[y + 1], strict=True))
        for y in range(0, len(grid), 2)
    )
