"""The lines of the journal as bytes: rooms and finished games, many in a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

_GAME: Final = "+"  # stands in the line of a finished game where that of a room has its code


class JournalLine(NamedTuple):
    """A line of the journal: a room's code, revision and newest document, empty for one that is forgotten.

    Of a game, see `is_game`, it is the id that stands in place of the revision.
    """

    name: str
    number: int
    document: bytes

    @property
    def is_game(self) -> bool:
        """Whether it is of a finished game."""
        return self.name == _GAME


def room_line(code: str, revision: int, document: bytes | None) -> bytes:
    """Return the line of a room, with None of one that is forgotten."""
    return b"%b %d %b" % (code.encode(), revision, document or b"")


def game_line(id: int, document: bytes) -> bytes:
    """Return the line of a finished game."""
    return b"%b %d %b" % (_GAME.encode(), id, document)


def lines_of(batch: bytes) -> Iterator[JournalLine | None]:
    """Yield the lines of a row of the journal, None for one that is damaged."""
    for line in filter(None, batch.split(b"\n")):
        try:
            name, number, document = line.split(b" ", 2)
            yield JournalLine(name.decode("ascii"), int(number), document)
        except ValueError:
            yield None
