"""The version of the installed client, and advice about a server with another protocol version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from tictactoe_protocol import PROTOCOL_VERSION
from tictactoe_words.catalogue import say

DISTRIBUTION: Final = "tictactoe-rooms"


def client_version() -> str:
    """Return the version of the installed distribution, or "0" if it is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"


def describe_mismatch(server_version: int) -> str:
    id = "client too old" if server_version > PROTOCOL_VERSION else "server too old"
    return say(id, version=client_version(), own=PROTOCOL_VERSION, needs=server_version)
