"""Where documents live. Safety comes from compare-and-set alone, never from who wrote last."""

from tictactoe_server.stores.memory import MemoryStore
from tictactoe_server.stores.store import MISSING, Conflict, Store, StoreUnavailable

__all__ = ["MISSING", "Conflict", "MemoryStore", "Store", "StoreUnavailable"]
