"""The export of ratings: a file of rated games and verdicts that allows anyone to compute the ratings again. Pure.

Each line is a JSON object: first the games in the order of their rating, then the verdicts, then one `EndLine`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from tictactoe_protocol.ratings.ladder import fold
from tictactoe_protocol.ratings.log import Entry, RatedGame, Verdict


class GameLine(RatedGame, frozen=True, tag="game"):
    """A rated game."""


class VerdictLine(Verdict, frozen=True, tag="verdict", omit_defaults=True):
    """A verdict."""


class EndLine(Struct, frozen=True, tag="end"):
    """The last line, with the digest of the ratings that follow from all lines above it."""

    digest: str


Line = GameLine | VerdictLine | EndLine
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Line).decode
_END_OF_TIME: Final = 2**53


class BadExport(ValueError):
    """A file that is not an export of ratings.

    Attributes:
        code: ``garbage`` (a line cannot be read), ``cut`` (the `EndLine` is missing), ``behind`` (a line follows the
            `EndLine`) or ``twice`` (a game is repeated).
        line: The number of the line with the fault, from 1.
    """

    def __init__(self, code: str, line: int) -> None:
        super().__init__(f"{code} in line {line}")
        self.code, self.line = code, line


class Checked(NamedTuple):
    """The result of checking an export.

    Attributes:
        games: The number of games.
        verdicts: The number of verdicts.
        digest: The digest of the ratings that follow from the games and verdicts.
        expected: The digest in the last line.
    """

    games: int
    verdicts: int
    digest: str
    expected: str


def encode_export(games: Iterable[RatedGame], verdicts: Iterable[Verdict], digest: str) -> bytes:
    """Return the content of an export. `games` must be in the order of their rating."""
    lines = [*(GameLine(*astuple(game)) for game in games), *(VerdictLine(*astuple(verdict)) for verdict in verdicts)]
    return b"".join(_encode(line) + b"\n" for line in (*lines, EndLine(digest)))


def check_export(lines: Iterable[bytes]) -> Checked:
    """Compute the ratings from the lines of an export, and return their digest and the digest in the export.

    Raises `BadExport` if the lines are damaged or incomplete. The caller compares the digests.
    """
    games, verdicts, end = dict[str, GameLine](), list[VerdictLine](), None
    number = 0
    for number, text in enumerate(lines, 1):
        if end is not None:
            raise BadExport("behind", number)
        line = _read_line(text, number)
        if isinstance(line, EndLine):
            end = line
        elif isinstance(line, VerdictLine):
            verdicts.append(line)
        elif line.id in games:
            raise BadExport("twice", number)
        else:
            games[line.id] = line
    if end is None:
        raise BadExport("cut", number)
    entries = [*(Entry((id,)) for id in games), *(Entry(verdict=verdict) for verdict in verdicts)]
    return Checked(len(games), len(verdicts), fold(entries, games).digest, end.digest)


def _read_line(text: bytes, number: int) -> Line:
    try:
        line: Line = _decode(text)
        if isinstance(line, GameLine):
            first, second = line.players
            if first == second or line.score not in (0, 0.5, 1) or not 0 <= line.at < _END_OF_TIME:
                raise ValueError(f"game {line.id}")
    except (ValueError, RecursionError):
        if not text.endswith(b"\n"):
            raise BadExport("cut", number) from None
        raise BadExport("garbage", number) from None
    return line
