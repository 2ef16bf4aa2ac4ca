"""The log of ratings as it is written to a file, a line of JSON for each step, and what shows changes of it. Pure.

Whoever has such a file folds it again, with no help of the server that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from tictactoe_protocol.ratings.checkpoints import SALT_BYTES, START, Checkpoint, extend_chain, leaf_of, link_of
from tictactoe_protocol.ratings.ladder import State, fold
from tictactoe_protocol.ratings.log import Entry, RatedGame, Verdict

Salts = tuple[str | None, ...]


class GamesLine(Struct, frozen=True, tag="games"):
    """An entry of games, with the salt and the leaf of each in hex figures.

    There is no salt where a game names somebody who was forgotten: the leaf stands for what it was.
    """

    games: tuple[RatedGame, ...]
    salts: Salts
    leaves: tuple[str, ...]


class VerdictLine(Struct, frozen=True, tag="verdict"):
    """An entry of one verdict, in the same way."""

    verdict: Verdict
    salts: Salts
    leaves: tuple[str, ...]


class CheckpointLine(Struct, frozen=True, tag="checkpoint"):
    """A checkpoint after the entries above it, for whose digest so many `verdicts`, the first ones, were known."""

    checkpoint: Checkpoint
    verdicts: int


class EndLine(Struct, frozen=True, tag="end"):
    """The last line: the digest that all comes to."""

    digest: str


Line = GamesLine | VerdictLine | CheckpointLine | EndLine
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Line).decode
_MOST_SHOWN: Final = 60
_MOST_PLAYERS: Final = 6
_END_OF_TIME: Final = 2**53


def encode_line(line: Line) -> bytes:
    """Return a line with its end."""
    return _encode(line) + b"\n"


class BadExport(ValueError):
    """Something that is not such a file: `code` says why, with the line, from 1, and more in `data`.

    It is ``garbage``, ``cut`` (there is no last line), ``behind`` (there is something after it), ``twice`` (a game),
    ``order`` (games of an entry are not sorted), ``number`` (of a verdict) or ``leaves`` (as many as records).
    """

    def __init__(self, code: str, line: int, **data: object) -> None:
        super().__init__(f"{code} in line {line}")
        self.code, self.line, self.data = code, line, data


class Difference(NamedTuple):
    """What does not fit together, in a line where it is of one.

    ``leaf``: the game or verdict `id` is not what its leaf was made from. ``chain``, ``key``, ``signature``, ``signed
    digest``: what the checkpoint `number` has is not what the lines above come to, or by another key than the first.
    ``digest``: all comes to another one than the last line says. ``fork``: the checkpoint `number` that is remembered
    has another chain. ``missing``: it is not in the file.
    """

    code: Literal["leaf", "chain", "key", "signature", "signed digest", "digest", "fork", "missing"]
    line: int = 0
    id: str = ""
    number: int = 0


class Checked(NamedTuple):
    """What a file comes to.

    `signed_games` lie before the newest checkpoint, `unproved` records have no salt, and `remembered` is the number of
    the newest checkpoint that is remembered and stands in the file, 0 for none.
    """

    digest: str
    games: int
    entries: int
    verdicts: int
    unproved: int
    checkpoints: tuple[Checkpoint, ...]
    signed_games: int
    remembered: int
    differences: tuple[Difference, ...]


def read_lines(lines: Iterable[bytes]) -> list[Line]:
    """Return all lines of a file, the last of which is an `EndLine`; raises `BadExport`."""
    found: list[Line] = []
    ids, verdicts = set[str](), 0
    for number, text in enumerate(lines, 1):
        if found and isinstance(found[-1], EndLine):
            raise BadExport("behind", number)
        try:
            line = _read_line(text)
        except (ValueError, RecursionError) as error:
            if not text.endswith(b"\n"):
                raise BadExport("cut", number) from None
            raise BadExport("garbage", number, why=str(error)[:_MOST_SHOWN]) from None
        if isinstance(line, GamesLine):
            if twice := next((game.id for game in line.games if game.id in ids), None):
                raise BadExport("twice", number, game=twice[:_MOST_SHOWN])
            if any((one.at, one.id) >= (other.at, other.id) for one, other in pairwise(line.games)):
                raise BadExport("order", number)
            ids.update(game.id for game in line.games)
        elif isinstance(line, VerdictLine):
            verdicts += 1
            if line.verdict.seq != verdicts:
                raise BadExport("number", number, found=line.verdict.seq, n=verdicts)
        if isinstance(line, GamesLine | VerdictLine) and not len(_records_of(line)) == len(line.salts) == len(
            line.leaves
        ):
            raise BadExport("leaves", number)
        found.append(line)
    if not found or not isinstance(found[-1], EndLine):
        raise BadExport("cut", len(found))
    return found


def _read_line(text: bytes) -> Line:
    """Return a line; raises ValueError for what is none, and for games that nobody could have played."""
    line: Line = _decode(text)
    if isinstance(line, GamesLine):
        for game in line.games:
            is_whole = len(game.players) == len(game.places) == len(set(game.players)) and 0 <= game.at < _END_OF_TIME
            if not is_whole or not 2 <= len(game.players) <= _MOST_PLAYERS:
                raise ValueError(f"game {game.id}")
    if isinstance(line, GamesLine | VerdictLine):
        _entry_of(line)
    return line


def check_lines(lines: Sequence[Line], remembered: Iterable[Checkpoint] = ()) -> Checked:
    """Return what the lines of a file come to, and all that differs from what they say.

    Of the checkpoints that are `remembered` those count that are signed with the key of the file.
    """
    games = {game.id: game for line in lines if isinstance(line, GamesLine) for game in line.games}
    verdicts = [_entry_of(line) for line in lines if isinstance(line, VerdictLine)]
    differences: list[Difference] = []
    entries: list[Entry] = []
    leaves: list[bytes] = []
    checkpoints: list[Checkpoint] = []
    state, chain, judged, unproved, counted, signed = State(), START, 0, 0, 0, 0
    for number, line in enumerate(lines, 1):
        if isinstance(line, GamesLine | VerdictLine):
            entries.append(_entry_of(line))
            judged += isinstance(line, VerdictLine)
            counted += len(entries[-1].games)
            unproved += line.salts.count(None)
            leaves += [_bytes_of(leaf) for leaf in line.leaves]
            differences += [Difference("leaf", number, id) for id in _find_false(line)]
        elif isinstance(line, CheckpointLine):
            own = line.checkpoint
            chain = extend_chain(chain, link_of(leaves))
            known = [*entries, *verdicts[judged : line.verdicts]]
            state = fold(known, games, [state], until=len(entries))
            first, is_next = (checkpoints or [own])[0], own.number == len(checkpoints) + 1
            for code, holds in (
                ("chain", own.chain == chain.hex() and is_next),
                ("key", own.key == first.key),
                ("signature", own.is_signed),
                ("signed digest", own.digest == state.digest),
            ):
                if not holds:
                    differences.append(Difference(code, number, number=own.number))  # type: ignore[arg-type]
            checkpoints.append(own)
            leaves, chain, signed = [], _bytes_of(own.chain), counted  # what comes after it is looked at by itself
        elif line.digest != (state := fold(entries, games, [state])).digest:
            differences.append(Difference("digest", number))
    stand, forks = _compare(checkpoints, remembered)
    sums = counted, len(entries), len(verdicts), unproved
    return Checked(state.digest, *sums, tuple(checkpoints), signed, stand, (*differences, *forks))


def _entry_of(line: GamesLine | VerdictLine) -> Entry:
    return Entry(verdict=line.verdict) if isinstance(line, VerdictLine) else Entry(tuple(one.id for one in line.games))


def _records_of(line: GamesLine | VerdictLine) -> Sequence[RatedGame | Verdict]:
    return (line.verdict,) if isinstance(line, VerdictLine) else line.games


def _find_false(line: GamesLine | VerdictLine) -> list[str]:
    """Return the ids of what is not what its leaf was made from, a verdict's being its number."""
    found = []
    for record, salt, leaf in zip(_records_of(line), line.salts, line.leaves, strict=True):
        own = None if salt is None else _bytes_of(salt)
        if own is not None and (len(own) != SALT_BYTES or leaf_of(own, record).hex() != leaf):
            found.append(record.id if isinstance(record, RatedGame) else str(record.seq))
    return found


def _compare(checkpoints: Sequence[Checkpoint], remembered: Iterable[Checkpoint]) -> tuple[int, list[Difference]]:
    """Return the number of the newest one that is remembered and stands among these, and what differs."""
    by_number, stand, found = {one.number: one for one in checkpoints}, 0, []
    for one in remembered:
        if not checkpoints or one.key != checkpoints[0].key:
            continue
        own = by_number.get(one.number)
        if own is not None and own.chain == one.chain:
            stand = max(stand, one.number)
        else:
            found.append(Difference("missing" if own is None else "fork", number=one.number))
    return stand, found


def _bytes_of(text: str) -> bytes:
    """Return what hex figures stand for, nothing for others."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
