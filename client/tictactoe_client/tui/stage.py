"""Where a page stands in a window that is larger than it can use: in the middle, a little higher up. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.tui.picture import Picture


@dataclass(frozen=True, slots=True)
class Stage:
    """A rectangle of the window: its upper left corner and its size, in characters."""

    x: int
    y: int
    width: int
    height: int

    def find(self, x: int, y: int) -> tuple[int, int] | None:
        """Return what a place of the window is on the stage, or None beside it."""
        x, y = x - self.x, y - self.y
        return (x, y) if 0 <= x < self.width and 0 <= y < self.height else None

    def show(self, picture: Picture, width: int, height: int) -> Picture:
        """Return the window's picture with this one, of the stage's size, in its place."""
        if (picture.width, picture.height) == (width, height):
            return picture
        whole = Picture(width, height)
        for y, row in enumerate(picture.rows, self.y):
            whole.rows[y][self.x : self.x + picture.width] = row
        return whole


def place_stage(size: tuple[int, int], window: tuple[int, int]) -> Stage:
    """Return where something of this size stands; of what the window has left over above and below, 2/5 are above.

    >>> place_stage((100, 30), (200, 50))
    Stage(x=50, y=8, width=100, height=30)
    """
    width, height = min(size[0], window[0]), min(size[1], window[1])
    return Stage((window[0] - width) // 2, (window[1] - height) * 2 // 5, width, height)
