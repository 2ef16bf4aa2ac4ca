"""The file of a cup: each finished game is synced to disk before it counts, so that the cup can be resumed."""

from __future__ import annotations

import os
import stat
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
"""The tag with the reason why the loser's engine failed."""
_GAP: Final = b"\n\n"  # ends the tags of a record, and the record


class Terms(NamedTuple):
    """The limit of each move, in seconds or search nodes, and the random seed."""

    seconds: float | None
    nodes: int | None
    seed: int


def make_record(game: Game, terms: Terms, position: Position, result: GameResult | None, why: str = "") -> GameRecord:
    """Return the record of a game that has just ended; `why` is the reason if the loser's engine failed."""
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
    """The file of a cup, locked against other cups until it is closed; every failure is raised as `Misuse`."""

    def __init__(self, name: str) -> None:
        self.name = clean_text(name)
        self._end = 0
        try:
            self._file = open(Path(name).expanduser(), "a+b")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise self._fail(error) from None
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):  # a device may have no end
            self._file.close()
            raise self._not_this_cup()
        with suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise Misuse(say("cup busy", file=self.name)) from None

    def resume(self, games: Iterator[Game], terms: Terms) -> tuple[list[GameRecord], Iterator[Game]]:
        """Return the records in the file and the games still to be played; raise `Misuse` if it is not of this cup."""
        records = self._read()
        unmatched = {record.round: record for record in records}
        missing: list[Game] = []
        while unmatched and (game := next(games, None)):
            if (record := unmatched.pop(game.id, None)) is None:
                missing.append(game)
            elif not _matches(record, game, terms):
                raise self._not_this_cup()
        if unmatched:
            raise self._not_this_cup()
        return records, chain(missing, games)

    def _read(self) -> list[GameRecord]:
        """Return the complete records; `append` will overwrite an incomplete last one."""
        self._file.seek(0)
        content = self._file.read()
        parts = content.split(_GAP)
        texts = [_GAP.join(parts[at : at + 2]) for at in range(0, len(parts) - 2, 2)]
        self._end = sum(len(text) + len(_GAP) for text in texts)
        with suppress(RecordError, UnicodeDecodeError):
            if texts or not content:
                return [parse_record(text.decode()) for text in texts]
        raise self._not_this_cup()

    def append(self, record: GameRecord) -> None:
        """Write a record and sync it to disk."""
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
        """Close and unlock the file."""
        self._file.close()

    def _not_this_cup(self) -> Misuse:
        return Misuse(say("cup other file", file=self.name))

    def _fail(self, error: OSError | ValueError) -> Misuse:
        return Misuse(say("file not written", file=self.name, why=clean_text(describe_cause(error)).rstrip(".")))


def _matches(record: GameRecord, game: Game, terms: Terms) -> bool:
    """Return True if the record could be of this game: same players, terms and opening."""
    same, opening = make_record(game, terms, record.position, record.result), game.opening
    is_same = (record.rules, record.players, record.clock) == (opening.rules, same.players, same.clock)
    return is_same and record.moves[: opening.ply] == opening.moves and {*same.tags} <= {*record.tags}
