"""What a person may want, as values, the same for every face of the client. How it is typed is `parsing`'s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

QueryKind = Literal["board", "last", "clock", "who", "free", "runs", "help"]
ReadKind = Literal["row", "column", "cell", "around", "diagonals"]
VerbKind = Literal["resign", "rematch", "new", "leave", "quit", "draw", "undo", "claim", "yes", "no"]


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty line: repeat whose move it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Play this cell, row-major from 0."""

    cell: int


@dataclass(frozen=True, slots=True)
class Query:
    """Tell me something; changes nothing."""

    kind: QueryKind


@dataclass(frozen=True, slots=True)
class Read:
    """Read a part of the board aloud: a row or a column, from 0, or what a cell has on it, around it or across it.

    `index` is None for the cell of the last move.
    """

    kind: ReadKind
    index: int | None


@dataclass(frozen=True, slots=True)
class Marks:
    """List the cells of a mark, of all marks where None."""

    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Moves:
    """List the last `count` moves, all of them where None."""

    count: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Show the board of another moment: after `number` moves, so many moves on or back, or the present one.

    A ``mistake`` is the next one, with `number` -1 the one before, as the board was when it was made. With `may_be_no`
    it was typed as ``n``, which where something was asked means no.
    """

    kind: Literal["at", "by", "live", "mistake"]
    number: int = 0
    may_be_no: bool = False


@dataclass(frozen=True, slots=True)
class Weigh:
    """Say what the position after `ply` moves is worth, the one that is looked at where None."""

    ply: int | None = None


@dataclass(frozen=True, slots=True)
class Mistakes:
    """List the moves of the finished game that gave something away."""


@dataclass(frozen=True, slots=True)
class Say:
    """Say something to everybody in the room."""

    text: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Hear no more of somebody, or again; of nobody by name: say who is muted."""

    name: str
    is_muted: bool = True


@dataclass(frozen=True, slots=True)
class Verb:
    """Do something about the game or the room; `argument` is what followed the word, perhaps empty."""

    kind: VerbKind
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Save:
    """Write the finished game to this file, to one with a name of the client's own where it is empty."""

    file: str = ""


Intent = Nothing | Place | Query | Read | Marks | Moves | Look | Weigh | Mistakes | Say | Mute | Verb | Save


class BadInput(ValueError):
    """A line that cannot be carried out as it stands.

    `code` is ``bad_input``, ``off_board`` or ``too_long``; `message` is the sentence for whoever typed it.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
