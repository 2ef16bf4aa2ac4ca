"""A new database out of a damaged one: every row that can still be read, and the damaged file kept beside it.

What a row is shows in its values, whichever page it is on: rooms, players and games are told by their keys and
documents. The journal is folded into the tables on the way.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import structlog

from tictactoe_server.rooms import FinishedGame
from tictactoe_server.storage.documents import decode_ban, decode_game, decode_player, decode_room
from tictactoe_server.storage.folder import sync_folder
from tictactoe_server.storage.idleness import today
from tictactoe_server.storage.lines import lines_of
from tictactoe_server.storage.pages import Pages, Row, Value
from tictactoe_server.storage.schema import APPLICATION_ID, ForeignFile, open_database
from tictactoe_server.storage.store import Unreadable

_MAX_NAMED: Final = 20
_ROOM_KEY: Final = re.compile(r"[0-9A-Z]{6}")
_PLAYER_KEY: Final = re.compile(r"[0-9a-f]{64}")
_SHARE_KEY: Final = re.compile(r"[\w-]{22}", re.ASCII)
_SERVER_KEYS: Final = ("served-ms", "copy-of")
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_ID_PLACE: Final = slice(68, 72)

Decoded = TypeVar("Decoded")

log: Final = structlog.get_logger(__name__)


def salvage(path: Path) -> tuple[dict[str, int], Path]:
    """Put a new database in the place of a damaged one; return how many rows its tables have, and where the old one is.

    Nobody else may use the file. Raises `sqlite3.Error`, `CannotOpenStore` and OSError, and then nothing has changed.
    """
    found = _Found()
    with closing(Pages(path)) as pages:
        for row in pages.rows():
            found.take(row)
    found.fold()
    if not (found.is_ours or _may_be_ours(path)):
        raise ForeignFile(f"Nothing in {path} is ours.")
    fresh, old = path.with_name(f"{path.name}.salvaged"), _free_name(path)
    for leftover in _files(fresh):
        leftover.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(open_database(fresh)) as target:
        target.execute("BEGIN")
        found.write(target)
        target.execute("COMMIT")
    os.link(path, old)
    for file, kept in zip(_files(path)[1:], _files(old)[1:], strict=True):
        if file.exists():
            file.rename(kept)
    os.replace(fresh, path)
    sync_folder(path.parent)
    for what in found.left_out[:_MAX_NAMED]:
        log.error("a damaged row is left out", row=what)
    return found.counts, old


def keep_log(path: Path) -> Path | None:
    """Copy a database's log beside it, before SQLite writes over what it cannot read there; return the copy, if any."""
    log_file = path.with_name(f"{path.name}-wal")
    if not log_file.is_file() or not log_file.stat().st_size:
        return None
    old = _free_name(path)
    return Path(shutil.copy2(log_file, old.with_name(f"{old.name}-wal")))


class _Found:
    """What was found in the damaged file; of a row that was found twice the newer."""

    def __init__(self) -> None:
        self.is_ours = False
        self.left_out: list[str] = []
        self._rooms: dict[str, tuple[int, bytes]] = {}
        self._players: dict[str, tuple[int, bytes, int, int]] = {}
        self._games: dict[int, tuple[FinishedGame, bytes]] = {}
        self._shares: dict[str, tuple[int, bytes]] = {}
        self._bans: dict[str, bytes] = {}
        self._server: dict[str, bytes] = {}
        self._journal: dict[int, bytes] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many of each there are, and how many rows are left out."""
        return {
            "rooms": len(self._rooms),
            "players": len(self._players),
            "games": len(self._games),
            "left_out": len(self.left_out),
        }

    def take(self, row: Row | None) -> None:
        """Take in a row, whichever it is; None is one that cannot be read."""
        try:
            match row:
                case None:
                    raise Unreadable("a row of which nothing can be read")
                case Row(None, (str(key), number, document, *more)):
                    self._take_keyed(key, number, _bytes(document), more)
                case Row(None, (str(key), value)) if not isinstance(value, int):
                    self._take_pair(key, _bytes(value))
                case Row(int(id), (None, _, _, _, _, document)):
                    self._take_game(id, _bytes(document))
                case Row(int(), (None, str(key), number, document)):  # schema 1
                    self._take_keyed(key.partition("/")[2], number, _bytes(document), ())
                case Row(int(id), (None, batch)):
                    self._journal[id] = _bytes(batch)
        except Unreadable as damaged:
            self.left_out.append(str(damaged))

    def fold(self) -> None:
        """Bring what the journal says into the rest, in its order."""
        for row, batch in sorted(self._journal.items()):
            for line in lines_of(batch):
                try:
                    if line is None:
                        raise Unreadable(f"a line in row {row} of the journal")
                    if line.is_game:
                        self._take_game(line.number, line.document)
                    elif line.document:
                        self._take_keyed(line.name, line.number, line.document, ())
                    else:
                        self._rooms.pop(line.name, None)
                except Unreadable as damaged:
                    self.left_out.append(str(damaged))

    def write(self, target: sqlite3.Connection) -> None:
        """Put everything into the tables of a new database."""
        write = target.executemany
        write("INSERT INTO rooms VALUES (?, ?, ?)", [(key, *row) for key, row in self._rooms.items()])
        write("INSERT INTO players VALUES (?, ?, ?, ?, ?)", [(key, *row) for key, row in self._players.items()])
        write("INSERT INTO shares VALUES (?, ?, ?)", [(key, *row) for key, row in self._shares.items()])
        write("INSERT INTO bans VALUES (?, ?)", self._bans.items())
        write("INSERT INTO server VALUES (?, ?)", self._server.items())
        for id, (game, document) in sorted(self._games.items()):
            players = msgspec.json.encode(game.people).decode()
            row = (id, game.room, game.game, game.at, players, document)
            target.execute("INSERT INTO archive VALUES (?, ?, ?, ?, ?, ?)", row)
            write("INSERT OR IGNORE INTO archive_players VALUES (?, ?)", [(player, id) for player in game.people])
        if self._journal:  # the numbers of its rows go on
            target.execute("INSERT INTO journal VALUES (?, x'')", (max(self._journal),))

    def _take_keyed(self, key: str, number: Value, document: bytes, more: Sequence[Value]) -> None:
        """Take in a player, a shared game or a room; of a room whose key is damaged the document says it."""
        if not isinstance(number, int):
            number = 1
        if _PLAYER_KEY.fullmatch(key):
            self._decoded(decode_player, document, f"the player under {key}")
            seen, seated = (*more, today(), 1)[:2]
            if isinstance(seen, int) and isinstance(seated, int) and number >= self._players.get(key, (0,))[0]:
                self._players[key] = (number, document, seen, seated)
        elif _SHARE_KEY.fullmatch(key):
            game = self._decoded(decode_game, document, f"the shared game {key}")
            self._shares[key] = (game.at, document)
        else:
            with contextlib.suppress(Unreadable):
                key = self._decoded(decode_room, document, key).code
            if not _ROOM_KEY.fullmatch(key):
                raise Unreadable(f"something under {key!r}")
            if number >= self._rooms.get(key, (0,))[0]:
                self._rooms[key] = (number, document)

    def _take_pair(self, key: str, value: bytes) -> None:
        """Take in a fact of the server's, or a ban."""
        if key in _SERVER_KEYS:
            self._server[key] = value
        else:
            self._bans[key] = self._decoded(lambda value: (decode_ban(value), value)[1], value, f"the ban of {key!r}")

    def _take_game(self, id: int, document: bytes) -> None:
        self._games[id] = (self._decoded(decode_game, document, f"game {id}"), document)

    def _decoded(self, decode: Callable[[bytes], Decoded], document: bytes, name: str) -> Decoded:
        """Return what a document holds, which shows that the file is ours; raises `Unreadable` with its name."""
        try:
            value = decode(document)
        except Unreadable as damaged:
            raise Unreadable(f"{name}: {damaged}") from damaged
        self.is_ours = True
        return value


def _bytes(value: Value) -> bytes:
    """Return a document, which edited rows hold as a text; raises `Unreadable` for what is none."""
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise Unreadable(f"a row that holds {value!r} in place of a document")
    return value


def _may_be_ours(path: Path) -> bool:
    """Tell whether a file in which nothing can be read was ours: it says so, or it was cut or emptied."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    is_cut = len(header) < _HEADER_BYTES and _MAGIC.startswith(header[: len(_MAGIC)])
    return is_cut or not header.strip(b"\0") or header[_ID_PLACE] == APPLICATION_ID.to_bytes(4, "big")


def _free_name(path: Path) -> Path:
    """Return a name for the damaged file that nothing has yet."""
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(1))
    return next(name for name in names if not any(file.exists() for file in _files(name)))


def _files(path: Path) -> list[Path]:
    """Return the names of a database and of the files that SQLite keeps beside it."""
    return [path, *(path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm"))]
