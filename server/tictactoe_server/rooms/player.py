"""Who acts in a room, and what they are told when a command is not carried out."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tictactoe_protocol import ErrorCode


class Player(Struct, frozen=True):
    """Who acts: `id` is public and stays, `name` is what others read."""

    id: str
    name: str


NOBODY: Final = Player("", "")
"""Who acts when time does."""


class Refused(Exception):
    """A command that was not carried out; `code` and `message` go to whoever sent it, and so does what else there is.

    `url` is where another server has the room.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        path: str | None = None,
        retry_ms: int | None = None,
        url: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        self.retry_ms = retry_ms
        self.url = url
