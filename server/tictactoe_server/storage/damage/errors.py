"""What an error says: what is in the file is not what was written, the disk refuses now, or one job is impossible."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from tictactoe_server.storage.schema import ForeignFile
from tictactoe_server.storage.store import StoreUnavailable, Unreadable

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_NO_TEXT: Final = "Could not decode to UTF-8"
_PRIMARY_CODE: Final = 0xFF

Row = TypeVar("Row", bound=tuple[Any, ...])


class Damaged(sqlite3.DatabaseError):
    """What SQLite read without a complaint is not what was written."""


def checked(rows: Sequence[Row], *kinds: type) -> Sequence[Row]:
    """Return rows whose values are of these kinds; raises `Damaged` for others."""
    for row in rows:
        if not all(map(isinstance, row, kinds)):
            raise Damaged(f"a row holds something else than was written: {row!r:.100}")
    return rows


def is_damage(error: BaseException) -> bool:
    """Tell whether an error says that what is in the file is not what was written."""
    return (
        isinstance(error, (Damaged, ForeignFile, UnicodeDecodeError))
        or code_of(error) in _DAMAGE
        or (isinstance(error, sqlite3.Error) and str(error).startswith(_NO_TEXT))
    )


def concerns_one_job(error: Exception) -> bool:
    """Tell whether an error is about what was asked, rather than about the disk, which would refuse anything now."""
    return not isinstance(error, (sqlite3.OperationalError, StoreUnavailable))


def refusal_of(error: Exception) -> Exception:
    """Return what a caller gets to see of an error."""
    if not isinstance(error, sqlite3.Error):
        return error
    if is_damage(error):
        return Unreadable(f"The database is damaged where this is kept: {error}.")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"The database cannot do this now: {error}.")
    return error


def code_of(error: BaseException) -> int:
    """Return SQLite's own code of an error, 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY_CODE
