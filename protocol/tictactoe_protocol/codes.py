"""Constants of the protocol: version, error codes, close codes and limits."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, Literal, get_args

PROTOCOL_VERSION: Final = 2
SUBPROTOCOL: Final = "tictactoe.v2"
"""The WebSocket subprotocol. It is also used if a client offers no subprotocol."""

DEFAULT_PORT: Final = 8765
SERVICE_TYPE: Final = "_tictactoe._tcp.local."
"""The DNS-SD service type that announces servers on the local network (RFC 6763)."""

MAX_MESSAGE_BYTES: Final = 16 * 1024
MAX_ERROR_BYTES: Final = 1024
MAX_ID_LENGTH: Final = 64
ChatSentence = Literal["hello", "luck", "nice", "well_played", "thanks", "oops", "moment", "again"]
SENTENCES: Final = get_args(ChatSentence)
"""The ids of the sentences that may be sent if a server allows no other chat; ``sentence ID`` in the catalogue."""

MAX_CHAT_LENGTH: Final = 200
MAX_LISTED_ROOMS: Final = 200
MAX_LISTED_GAMES: Final = 100
MAX_LIVE_BOARDS: Final = 100
EVENT_DRAW_PLY: Final = 8
"""The number of moves that must be made in a tournament game or a rated game before a draw may be offered."""


class ErrorCode(StrEnum):
    """Why a request was refused. Codes are for programs; the message of an error is for people."""

    BAD_JSON = "bad_json"
    BAD_MESSAGE = "bad_message"
    UNKNOWN_TYPE = "unknown_type"
    TOO_LONG = "too_long"

    HELLO_REQUIRED = "hello_required"
    ALREADY_HELLO = "already_hello"
    BAD_NAME = "bad_name"
    BAD_TOKEN = "bad_token"

    BAD_RULES = "bad_rules"
    BAD_CLOCK = "bad_clock"
    NO_SUCH_ROOM = "no_such_room"
    ROOM_FULL = "room_full"
    MOVED = "moved"
    NOT_IN_ROOM = "not_in_room"
    NOT_SEATED = "not_seated"
    NOT_ALLOWED = "not_allowed"

    NOT_STARTED = "not_started"
    GAME_OVER = "game_over"
    NOT_YOUR_TURN = "not_your_turn"
    OFF_BOARD = "off_board"
    OCCUPIED = "occupied"
    BLOCKED = "blocked"
    FLOATING = "floating"
    STALE = "stale"
    CHOOSE_FIRST = "choose_first"

    NO_OFFER = "no_offer"

    NO_SUCH_EVENT = "no_such_event"
    EVENT_FULL = "event_full"
    EVENT_BEGUN = "event_begun"
    NOT_ENTERED = "not_entered"
    NOT_ORGANISER = "not_organiser"

    RATE_LIMITED = "rate_limited"
    BUSY = "busy"
    SERVER_FULL = "server_full"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"

    BANNED = "banned"
    KICKED = "kicked"


class CloseCode(IntEnum):
    """Why the server closed a connection."""

    GOING_AWAY = 1001
    UNSUPPORTED_DATA = 1003
    INVALID_DATA = 1007
    POLICY_VIOLATION = 1008
    MESSAGE_TOO_BIG = 1009
    SERVICE_RESTART = 1012
    BANNED = 4500
    KICKED = 4501


def may_reconnect(close_code: int | None) -> bool:
    """Return whether a client should reconnect after `close_code`, which is None if the connection broke."""
    if close_code is None:
        return True
    return close_code != CloseCode.POLICY_VIOLATION and not 4500 <= close_code <= 4999
