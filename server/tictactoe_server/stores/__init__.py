"""Where documents and finished games live. Safety comes from compare-and-set alone, never from who wrote last."""

from tictactoe_server.stores.archive import MAX_LISTED_GAMES, Archive, ArchivedGame, GameRecord
from tictactoe_server.stores.backup import CannotBackUp, back_up
from tictactoe_server.stores.folder import FolderInUse
from tictactoe_server.stores.memory import MemoryArchive, MemoryStore
from tictactoe_server.stores.schema import NewerSchema
from tictactoe_server.stores.sqlite import SqliteStore
from tictactoe_server.stores.store import (
    MISSING,
    CannotOpenStore,
    Conflict,
    Notes,
    Storage,
    Store,
    StoreBusy,
    StoreUnavailable,
    Unreadable,
)

__all__ = [
    "MAX_LISTED_GAMES",
    "MISSING",
    "Archive",
    "ArchivedGame",
    "CannotBackUp",
    "CannotOpenStore",
    "Conflict",
    "FolderInUse",
    "GameRecord",
    "MemoryArchive",
    "MemoryStore",
    "NewerSchema",
    "Notes",
    "SqliteStore",
    "Storage",
    "Store",
    "StoreBusy",
    "StoreUnavailable",
    "Unreadable",
    "back_up",
]
