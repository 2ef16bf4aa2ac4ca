"""What was said in a room: all of it for the panel, and what nobody has seen yet for the foot."""

from __future__ import annotations

from typing import Final

MOST_LINES: Final = 200
"""How much of the talk is kept, and how many lines wait to be seen; of more the oldest are dropped."""


class News:
    """The talk, and of it what is `unread` since the last key: the first `in_sight` lines of that are on the screen.

    `back` says that the connection is back, which is news until `back_until`; `keys` counts the keys that were pressed.
    """

    def __init__(self) -> None:
        self.talk: list[str] = []
        self.unread: list[str] = []
        self.in_sight = 0
        self.back = ""
        self.back_until = 0.0
        self.keys = 0

    def tell(self, *lines: str) -> None:
        self.talk = [*self.talk, *lines][-MOST_LINES:]

    def say(self, line: str) -> None:
        """Show a line until the next key, and keep it with what was said."""
        self.tell(line)
        dropped = max(0, len(self.unread) + 1 - MOST_LINES)
        self.unread, self.in_sight = [*self.unread[dropped:], line], max(0, self.in_sight - dropped)

    def note_key(self) -> None:
        """Take note of a key: what was in sight before it has been seen, and what was not has its turn."""
        self.keys, self.unread, self.in_sight = self.keys + 1, self.unread[self.in_sight :], 0
