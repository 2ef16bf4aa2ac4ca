"""The server: it hosts rooms, decides every move, and stores and broadcasts the result."""

from importlib.metadata import version

__version__ = version("tictactoe-rooms")
SERVER_NAME = f"tictactoe-server/{__version__}"

__all__ = ["SERVER_NAME", "OperatorError", "__version__"]


class OperatorError(Exception):
    """Something that the operator asked for cannot be done. The message is a sentence for the operator."""
