"""What client and server say to each other: messages, codec, error codes, version. Pure, no I/O.

The contract for people is `docs/protocol.md`. Requests and pushes live in their modules: `requests`, `pushes`. The
names load on first use, so that who only wants the `catalogue` reads no messages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tictactoe_protocol import pushes, requests
    from tictactoe_protocol.answers import error_answer
    from tictactoe_protocol.codec import BadMessage, decode_push, decode_request, encode
    from tictactoe_protocol.codes import (
        DEFAULT_PORT,
        MAX_CHAT_LENGTH,
        MAX_ERROR_BYTES,
        MAX_LISTED_GAMES,
        MAX_LISTED_ROOMS,
        MAX_LIVE_BOARDS,
        MAX_MESSAGE_BYTES,
        PROTOCOL_VERSION,
        SERVICE_TYPE,
        SUBPROTOCOL,
        CloseCode,
        ErrorCode,
        may_reconnect,
    )
    from tictactoe_protocol.room_codes import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, parse_room_code
    from tictactoe_protocol.terms import choice_of, rules_of
    from tictactoe_protocol.text import BadName, clean_text, escape_text, parse_name

__all__ = [
    "DEFAULT_PORT",
    "MAX_CHAT_LENGTH",
    "MAX_ERROR_BYTES",
    "MAX_LISTED_GAMES",
    "MAX_LISTED_ROOMS",
    "MAX_LIVE_BOARDS",
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
    "choice_of",
    "clean_text",
    "decode_push",
    "decode_request",
    "encode",
    "error_answer",
    "escape_text",
    "may_reconnect",
    "parse_name",
    "parse_room_code",
    "pushes",
    "requests",
    "rules_of",
]


def _list_modules() -> Iterator[ModuleType]:
    """Yield the modules that the names are in, those first that need no messages."""
    yield import_module("tictactoe_protocol.codes")
    yield import_module("tictactoe_protocol.text")
    yield import_module("tictactoe_protocol.room_codes")
    yield import_module("tictactoe_protocol.codec")
    yield import_module("tictactoe_protocol.answers")
    yield import_module("tictactoe_protocol.terms")
    yield sys.modules[__name__]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return next(vars(module)[name] for module in _list_modules() if name in vars(module))
