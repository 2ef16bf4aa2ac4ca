"""A new database out of a damaged one: every row that can still be read, and the damaged file kept beside it.

What a row is shows in its values, whichever page it is on: those of each table are told by their keys and documents.
The journal is folded into the tables on the way.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tictactoe_server.storage import schema
from tictactoe_server.storage.damage.pages import DatabasePages, Row, Value
from tictactoe_server.storage.folder import files_of, flush, free_name
from tictactoe_server.storage.specs import Specs, TableSpec, as_bytes
from tictactoe_server.storage.store import Unreadable

_GAMES_AT_ONCE: Final = 250
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_ID_PLACE: Final = slice(68, 72)


def salvage(path: Path, specs: Specs) -> tuple[dict[str, int], list[str], Path]:
    """Put a new database in the place of a damaged one, which nobody else may use.

    Returns how many rows its tables have, lines about the rows that are left out, and where the old one is now.
    Raises `sqlite3.Error`, `CannotOpenStore` and OSError, and then nothing has changed.
    """
    found = _Found(specs)
    with closing(DatabasePages(path)) as pages:
        for row in pages.rows():
            found.take(row)
    found.fold()
    if not (any(found.counts.values()) or _may_be_ours(path)):
        raise schema.ForeignFile(f"Nothing in {path} is ours.")
    fresh, old = path.with_name(f"{path.name}.salvaged"), free_name(path, "damaged")
    for leftover in files_of(fresh):
        leftover.unlink(missing_ok=True)
    fresh.touch(mode=0o600, exist_ok=False)
    with closing(schema.open_database(fresh)) as target:
        target.execute("BEGIN")
        found.write(target)
        target.execute("COMMIT")
    os.link(path, old)
    for file, kept in zip(files_of(path)[1:], files_of(old)[1:], strict=True):
        if file.exists():
            file.rename(kept)
    os.replace(fresh, path)
    flush(path.parent)
    return found.counts, found.left_out, old


class _Found:
    """What was found in the damaged file; of a row that was found twice the newer."""

    def __init__(self, specs: Specs) -> None:
        self.left_out: list[str] = []
        self._specs = specs
        self._rows: dict[str, dict[str, dict[str, Any]]] = {spec.name: {} for spec in specs.tables}
        self._games: dict[int, tuple[Any, bytes]] = {}
        self._server: dict[str, bytes] = {}
        self._journal: dict[int, bytes] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each table has, with the games."""
        return {**{name: len(rows) for name, rows in self._rows.items()}, "games": len(self._games)}

    def take(self, row: Row | None) -> None:
        """Take in a row, whichever it is; None is one that cannot be read."""
        try:
            match row:
                case None:
                    raise Unreadable("a row of which nothing can be read")
                case Row(None, (str(), int())):  # who played which game: that is made anew
                    pass
                case Row(None, (schema.SCRUBBED, _)):
                    pass  # the new file says that of itself
                case Row(None, (str(key), value)) if key in (schema.TIME, schema.ORIGIN):
                    self._server[key] = as_bytes(value)
                case Row(None, (str(key), *values)):
                    self._take_value(key, values)
                case Row(int(id), (None, _, _, _, _, document)):
                    self._take_game(id, as_bytes(document))
                case Row(int(), (None, str(key), number, document)):  # schema 1
                    self._take_value(key.partition("/")[2], (number, document))
                case Row(int(id), (None, batch)):
                    self._journal[id] = as_bytes(batch)
        except Unreadable as damaged:
            self.left_out.append(str(damaged))

    def fold(self) -> None:
        """Bring what the journal says into the rest, in its order."""
        for row, batch in sorted(self._journal.items()):
            for line in schema.lines_of(batch):
                try:
                    match line:
                        case None:
                            raise Unreadable(f"A line of the journal, row {row}.")
                        case (schema.GAME, id, document):
                            self._take_game(id, document)
                        case (code, _, b""):
                            self._rows[schema.JOURNALED].pop(code, None)
                        case (code, revision, document):
                            self._take_value(code, (revision, document))
                except Unreadable as damaged:
                    self.left_out.append(str(damaged))

    def write(self, target: sqlite3.Connection) -> None:
        """Put everything into the tables of a new database."""
        schema.make_tables(target, self._specs.tables)
        for spec in self._specs.tables:
            target.executemany(schema.insert_into(spec), self._rows[spec.name].values())
        target.executemany("INSERT INTO server VALUES (?, ?)", self._server.items())
        games = [(id, game, document) for id, (game, document) in sorted(self._games.items())]
        for first in range(0, len(games), _GAMES_AT_ONCE):
            schema.insert_games(target.cursor(), self._specs.games, games[first : first + _GAMES_AT_ONCE])
        if self._journal:  # the numbers of its rows go on
            target.execute("INSERT INTO journal VALUES (?, x'')", (max(self._journal),))

    def _take_value(self, key: str, values: Sequence[Value]) -> None:
        """Take in a row of the table whose keys look so, or of one whose values say their keys themselves."""
        tables = self._specs.tables
        likely = [spec for spec in tables if re.fullmatch(spec.keys, key, re.ASCII)]
        damage = None
        for spec in likely + [spec for spec in tables if spec.key_of is not None and spec not in likely]:
            try:
                return self._take_row(spec, key, values)
            except Unreadable as damaged:
                damage = damage or f"{spec.describe(key)}: {damaged}"
        raise Unreadable(damage or f"something under {key!r}")

    def _take_row(self, spec: TableSpec[Any], key: str, values: Sequence[Value]) -> None:
        """Take in a row of a table; of one whose key is damaged the value says it. Raises `Unreadable`."""
        column, *names = schema.columns_of(spec)
        numbers = dict(zip(spec.rows.names, spec.rows.usual(), strict=True))  # as older schemas had none
        if len(values) not in (len(names), len(names) - len(numbers)):
            raise Unreadable("a row of another table")
        row = {"revision": 0, "document": None, **numbers, **dict(zip(names, values, strict=False))}
        row["document"] = document = as_bytes(row["document"])
        value = spec.read_row(None, document, *(row[name] for name in numbers))
        key = row[column] = key if spec.key_of is None else spec.key_of(value)
        if not re.fullmatch(spec.keys, key, re.ASCII):
            raise Unreadable(f"something under {key!r}")
        if not isinstance(row["revision"], int):
            row["revision"] = 1
        rows = self._rows[spec.name]
        if row["revision"] >= rows.get(key, row)["revision"]:
            rows[key] = row

    def _take_game(self, id: int, document: bytes) -> None:
        try:
            self._games[id] = self._specs.games.read(None, document), document
        except Unreadable as damaged:
            raise Unreadable(f"{self._specs.games.describe(id)}: {damaged}") from damaged


def _may_be_ours(path: Path) -> bool:
    """Tell whether a file in which nothing can be read was ours: it says so, or it was cut or emptied."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    is_cut = len(header) < _HEADER_BYTES and _MAGIC.startswith(header[: len(_MAGIC)])
    return is_cut or not header.strip(b"\0") or header[_ID_PLACE] == schema.APPLICATION_ID.to_bytes(4, "big")
