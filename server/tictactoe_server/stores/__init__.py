"""Where rooms, players and finished games live. Safety comes from compare-and-set alone, never from who wrote last."""

from tictactoe_server.stores.backup import CannotBackUp, back_up
from tictactoe_server.stores.folder import FolderInUse
from tictactoe_server.stores.memory import MemoryArchive, MemoryRooms, MemoryStore, MemoryTable
from tictactoe_server.stores.schema import NewerSchema
from tictactoe_server.stores.sqlite import SqliteStore
from tictactoe_server.stores.store import (
    MISSING,
    Archive,
    CannotOpenStore,
    Conflict,
    Rooms,
    Storage,
    StoreBusy,
    Stored,
    StoreUnavailable,
    Table,
    Unreadable,
    Waiter,
    save,
)

__all__ = [
    "MISSING",
    "Archive",
    "CannotBackUp",
    "CannotOpenStore",
    "Conflict",
    "FolderInUse",
    "MemoryArchive",
    "MemoryRooms",
    "MemoryStore",
    "MemoryTable",
    "NewerSchema",
    "Rooms",
    "SqliteStore",
    "Storage",
    "StoreBusy",
    "StoreUnavailable",
    "Stored",
    "Table",
    "Unreadable",
    "Waiter",
    "back_up",
    "save",
]
