"""The messages between clients and server, their codec, error codes and limits. Pure, no I/O.

`docs/reference/protocol.md` describes the messages. The names in `__all__` are imported on first use, so that importing
`tictactoe_protocol.text` does not load the messages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tictactoe_protocol import pushes, requests
    from tictactoe_protocol.codec import BadMessage, decode_push, encode, error_answer
    from tictactoe_protocol.codes import (
        MAX_CHAT_LENGTH,
        MAX_ERROR_BYTES,
        MAX_LISTED_GAMES,
        MAX_LISTED_ROOMS,
        MAX_MESSAGE_BYTES,
        PROTOCOL_VERSION,
        SERVICE_TYPE,
        SUBPROTOCOL,
        CloseCode,
        ErrorCode,
    )
    from tictactoe_protocol.room_codes import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, parse_room_code
    from tictactoe_protocol.text import BadName, clean_text, escape_text, parse_name

__all__ = [
    "MAX_CHAT_LENGTH",
    "MAX_ERROR_BYTES",
    "MAX_LISTED_GAMES",
    "MAX_LISTED_ROOMS",
    "MAX_MESSAGE_BYTES",
    "PROTOCOL_VERSION",
    "ROOM_CODE_ALPHABET",
    "ROOM_CODE_LENGTH",
    "SERVICE_TYPE",
    "SUBPROTOCOL",
    "BadMessage",
    "BadName",
    "BadRoomCode",
    "CloseCode",
    "ErrorCode",
    "clean_text",
    "decode_push",
    "encode",
    "error_answer",
    "escape_text",
    "parse_name",
    "parse_room_code",
    "pushes",
    "requests",
]


def _list_modules() -> Iterator[ModuleType]:
    """Yield the modules that define the names in `__all__`; the first ones do not import the messages."""
    yield import_module("tictactoe_protocol.codes")
    yield import_module("tictactoe_protocol.text")
    yield import_module("tictactoe_protocol.room_codes")
    yield import_module("tictactoe_protocol.codec")
    yield sys.modules[__name__]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return next(vars(module)[name] for module in _list_modules() if name in vars(module))
