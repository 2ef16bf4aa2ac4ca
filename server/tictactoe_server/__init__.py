"""The authority: rooms, stores and sockets behind `tictactoe-server`.

Every command takes one path: socket, decode, hub, `Room.apply`, `Store.save`, encode once, every outbox.
"""

from importlib.metadata import version

__version__ = version("tictactoe-rooms")
SERVER_NAME = f"tictactoe-server/{__version__}"

__all__ = ["SERVER_NAME", "__version__"]
