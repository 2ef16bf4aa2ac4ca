"""What client and server say to each other: messages, codec, error codes, version. Pure, no I/O.

The contract for people is `docs/protocol.md`. Requests and pushes live in their modules: `requests`, `pushes`.
"""

from tictactoe_protocol import pushes, requests
from tictactoe_protocol.answers import error_answer
from tictactoe_protocol.choices import choice_of, rules_of
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
