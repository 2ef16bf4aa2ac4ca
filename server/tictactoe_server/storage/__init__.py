"""Where rooms, players and finished games live. Safety comes from compare-and-set alone, never from who wrote last."""

from tictactoe_server.storage.backup import CannotBackUp, back_up
from tictactoe_server.storage.contents import KINDS, CannotMove, Contents, Kind, Source, Target, copy
from tictactoe_server.storage.documents import RoomEncoder, decode_room_of, encode_game
from tictactoe_server.storage.figures import Histogram, WriteFigures
from tictactoe_server.storage.folder import FolderInUse
from tictactoe_server.storage.folder_contents import FolderSource, FolderTarget
from tictactoe_server.storage.idleness import today
from tictactoe_server.storage.memory import MemoryArchive, MemoryPlayers, MemoryRooms, MemoryStore, MemoryTable
from tictactoe_server.storage.restoring import Findings, check_folder, restore_backup
from tictactoe_server.storage.schema import NewerSchema
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import (
    MISSING,
    Archive,
    Ban,
    BanList,
    CannotOpenStore,
    Conflict,
    NotStored,
    Players,
    Rooms,
    Storage,
    StoreBusy,
    Stored,
    StoreUnavailable,
    Table,
    Unreadable,
    Unsettled,
    Waiter,
    save,
)

__all__ = [
    "KINDS",
    "MISSING",
    "Archive",
    "Ban",
    "BanList",
    "CannotBackUp",
    "CannotMove",
    "CannotOpenStore",
    "Conflict",
    "Contents",
    "Findings",
    "FolderInUse",
    "FolderSource",
    "FolderTarget",
    "Histogram",
    "Kind",
    "MemoryArchive",
    "MemoryPlayers",
    "MemoryRooms",
    "MemoryStore",
    "MemoryTable",
    "NewerSchema",
    "NotStored",
    "Players",
    "RoomEncoder",
    "Rooms",
    "Source",
    "SqliteStore",
    "Storage",
    "StoreBusy",
    "StoreUnavailable",
    "Stored",
    "Table",
    "Target",
    "Unreadable",
    "Unsettled",
    "Waiter",
    "WriteFigures",
    "back_up",
    "check_folder",
    "copy",
    "decode_room_of",
    "encode_game",
    "restore_backup",
    "save",
    "today",
]
