"""The file of a cup: the record of each game, on disk before it counts, so that the cup can go on from there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from tictactoe_client.online.errors import describe_cause
from tictactoe_client.settings import Misuse
from tictactoe_engine import Position
from tictactoe_engine.records import GameRecord, GameResult, MoveClock, RecordError, format_record, parse_record
from tictactoe_engine.records.game_record import MAX_VALUE_LENGTH
from tictactoe_lab.cup.plan import Game
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say

FAILED: Final = "Failed"
"""The tag that says why whoever lost could not play on."""
_GAP: Final = b"\n\n"  # ends the tags of a record, and the record


class Terms(NamedTuple):
    """What each has for a move, seconds or nodes of a search, and what chance begins with."""

    seconds: float | None
    nodes: int | None
    seed: int


def make_record(game: Game, terms: Terms, position: Position, result: GameResult | None, why: str = "") -> GameRecord:
    """Return the record of a game that has ended now."""
    names = [entrant.name for entrant in game.players][:: -1 if position.is_swapped else 1]
    tags = {"Nodes": str(terms.nodes or ""), FAILED: clean_text(why)[:MAX_VALUE_LENGTH]}
    return GameRecord(
        rules=position.rules,
        moves=position.moves,
        event="cup",
        round=game.id,
        result=result,
        players=tuple(zip(position.rules.marks, names, strict=True)),
        date=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        clock=MoveClock(round(terms.seconds * 1000)) if terms.seconds else None,
        chosen=position.chosen,
        tags=tuple((name, value) for name, value in tags.items() if value),
    )


class CupFile:
    """The file, kept from other cups as long as this one lasts; whatever fails is a `Misuse`."""

    def __init__(self, name: str) -> None:
        self.name = clean_text(name)
        self._end = 0
        try:
            self._file = open(Path(name).expanduser(), "a+b")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise self._fail(error) from None
        with suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise Misuse(say("cup busy", file=self.name)) from None

    def resume(self, games: Iterator[Game], terms: Terms) -> tuple[list[GameRecord], Iterator[Game]]:
        """Return the records in the file, and the games that it has not."""
        records = self._read()
        kept = {record.round: record for record in records}
        due: list[Game] = []
        while kept and (game := next(games, None)):
            if (record := kept.pop(game.id, None)) is None:
                due.append(game)
            elif not _is_of(record, game, terms):
                raise self._foreign()
        if kept:
            raise self._foreign()
        return records, chain(due, games)

    def _read(self) -> list[GameRecord]:
        """Return the records but for what was not written to its end, which the next one takes the place of."""
        self._file.seek(0)
        content = self._file.read()
        parts = content.split(_GAP)
        texts = [_GAP.join(parts[at : at + 2]) for at in range(0, len(parts) - 2, 2)]
        self._end = sum(len(text) + len(_GAP) for text in texts)
        with suppress(RecordError, UnicodeDecodeError):
            if texts or not content:
                return [parse_record(text.decode()) for text in texts]
        raise self._foreign()

    def append(self, record: GameRecord) -> None:
        """Write a record, and see that it is on disk."""
        text = format_record(record).encode()
        try:
            self._file.truncate(self._end)
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._fail(error) from None
        self._end += len(text)

    def close(self) -> None:
        """Leave the file to others."""
        self._file.close()

    def _foreign(self) -> Misuse:
        return Misuse(say("cup other file", file=self.name))

    def _fail(self, error: OSError | ValueError) -> Misuse:
        return Misuse(say("record unwritable file", file=self.name, why=clean_text(describe_cause(error)).rstrip(".")))


def _is_of(record: GameRecord, game: Game, terms: Terms) -> bool:
    """Tell whether a record is of this game."""
    same, opening = make_record(game, terms, record.position, record.result), game.opening
    is_same = (record.rules, record.players, record.clock) == (opening.rules, same.players, same.clock)
    return is_same and record.moves[: opening.ply] == opening.moves and {*same.tags} <= {*record.tags}
