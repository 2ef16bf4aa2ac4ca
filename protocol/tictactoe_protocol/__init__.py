"""The messages of clients and server, their codec, error codes and limits. Pure, no I/O.

`docs/protocol.md` describes them. The names load on first use, so that the `catalogue` loads without the messages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

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


_MODULES: Final = ("codes", "text", "room_codes", "codec")
"""The modules that define the names, first those that load no messages."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("pushes", "requests"):
        return import_module(f"{__name__}.{name}")
    modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
    return next(vars(module)[name] for module in modules if name in vars(module))
